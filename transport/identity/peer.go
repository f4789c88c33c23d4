package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// PeerServer is how a node takes connections of other nodes: they must show a
// certificate of an authority that is trusted.
func (s *Store) PeerServer() *tls.Config {
	c := s.current.Load()
	config := s.base(c)
	config.ClientCAs, config.ClientAuth = c.pool, tls.RequireAndVerifyClientCert
	return config
}

// PeerClient is how a node connects to other nodes. What it must find there is
// a node of its cluster, by what an authority has signed; at which address makes
// no difference, so that nodes can move without new certificates. The library
// can leave a host's name out only with all of its checks: they are made here.
func (s *Store) PeerClient() *tls.Config {
	c := s.current.Load()
	config := s.base(c)
	config.GetClientCertificate = Shown(c.pair)
	config.InsecureSkipVerify = true
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return &Distrust{Reason: NoCertificate}
		}
		between := x509.NewCertPool()
		for _, cert := range state.PeerCertificates[1:] {
			between.AddCert(cert)
		}
		return c.verify(state.PeerCertificates[0], between, x509.ExtKeyUsageServerAuth, s.now())
	}
	return config
}

// Shown shows a certificate to whomever asks for one, also who names other
// authorities: it is for them to say that they do not trust this one, where the
// library would show none and leave people to guess.
func Shown(pair tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
}

// Peer is the node at the other end of a connection that was made with PeerServer or
// PeerClient; want, when it is known which one it must be. The error is a
// *Distrust.
func (s *Store) Peer(state tls.ConnectionState, want string) (node string, err error) {
	if !state.HandshakeComplete || len(state.PeerCertificates) == 0 {
		return "", &Distrust{Reason: NoCertificate}
	}
	return s.nodeOf(state.PeerCertificates[0], want)
}

// ClientAuth says whether clients of the API show certificates.
type ClientAuth string

// What may be asked of clients.
const (
	Off      ClientAuth = "off"      // nobody is asked for one
	Optional ClientAuth = "optional" // who shows one is held to it
	Require  ClientAuth = "require"  // nobody comes in without
)

// ErrClientAuth is a word that is none of these.
var ErrClientAuth = errors.New("must be require, optional or off")

// Check tells whether it is one of them.
func (a ClientAuth) Check() error {
	switch a {
	case Off, Optional, Require:
		return nil
	}
	return ErrClientAuth
}

// API is how a node serves its API: the same certificate, HTTP/1.1 only. Every
// connection has what is in use when it begins.
func (s *Store) API(auth ClientAuth) *tls.Config {
	config := s.base(s.current.Load())
	config.NextProtos = []string{"http/1.1"}
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		c := s.current.Load()
		fresh := s.base(c)
		fresh.NextProtos, fresh.ClientCAs = config.NextProtos, c.pool
		switch auth {
		case Require:
			fresh.ClientAuth = tls.RequireAndVerifyClientCert
		case Optional:
			fresh.ClientAuth = tls.VerifyClientCertIfGiven
		}
		return fresh, nil
	}
	return config
}
