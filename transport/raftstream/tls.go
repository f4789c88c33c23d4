package raftstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
)

// MutualTLS returns a configuration in which both sides present a certificate
// signed by the one authority in ca. The machine's own authorities count for
// nothing. The certificate must name the host part of the advertised address.
func MutualTLS(cert tls.Certificate, ca *x509.CertPool) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{cert},
		RootCAs:      ca,
		ClientCAs:    ca,
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}
}

// checkTLS refuses a configuration that would let a stranger in.
func checkTLS(c *tls.Config) error {
	switch {
	case c == nil:
		return nil
	case c.RootCAs == nil || c.ClientCAs == nil:
		return errors.New("peer TLS needs a pinned authority for both directions")
	case c.ClientAuth != tls.RequireAndVerifyClientCert:
		return errors.New("peer TLS must require and verify client certificates")
	case c.InsecureSkipVerify:
		return errors.New("peer TLS must verify servers")
	}
	return nil
}

// secureClient wraps a dialled connection; plain TCP passes through.
func (e *Endpoint) secureClient(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	if e.options.TLS == nil {
		return conn, nil
	}
	config := e.options.TLS
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("peer address %s: %w", address, err)
		}
		config = config.Clone()
		config.ServerName = host
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS with %s: %w", address, err)
	}
	return secure, nil
}

// secureServer wraps an accepted connection.
func (e *Endpoint) secureServer(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if e.options.TLS == nil {
		return conn, nil
	}
	secure := tls.Server(conn, e.options.TLS)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return secure, nil
}
