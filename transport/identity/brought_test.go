package identity_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/identity"
)

// broughtAuthority is an authority that was not made here, and another that it lets
// sign for it.
type broughtAuthority struct {
	t             *testing.T
	root, between *x509.Certificate
	key           crypto.Signer // of the one in between
}

func bringAuthority(t *testing.T) *broughtAuthority {
	rootKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	a := &broughtAuthority{t: t, key: key}
	template := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(day),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		}
	}
	a.root = a.sign(template("root"), nil, rootKey.Public(), rootKey)
	a.between = a.sign(template("between"), a.root, key.Public(), rootKey)
	return a
}

func (a *broughtAuthority) sign(template, by *x509.Certificate, public any, key crypto.Signer) *x509.Certificate {
	a.t.Helper()
	if by == nil {
		by = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by, public, key)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return cert
}

// put writes somebody's files: the certificate, with the one in between, and the key.
func (a *broughtAuthority) put(p place, uri string, key crypto.Signer) {
	a.t.Helper()
	who, err := url.Parse(uri)
	require.NoError(a.t, err)
	cert := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "somebody"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(day),
		URIs: []*url.URL{who}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.between, key.Public(), a.key)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	for file, content := range map[string][]byte{
		p.files.Cert: append(pemOf("CERTIFICATE", cert.Raw), pemOf("CERTIFICATE", a.between.Raw)...),
		p.files.Key:  pemOf("PRIVATE KEY", raw), p.files.CA: pemOf("CERTIFICATE", a.root.Raw),
	} {
		require.NoError(a.t, os.WriteFile(file, content, 0o600))
	}
}

// Certificates of an authority that was not made here serve, with whatever keys and
// authorities in between: nodes know each other by them, and clients are known (TL-1).
func TestCertificatesThatWereBroughtAlong(t *testing.T) {
	a := bringAuthority(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	first, second := newPlace(t), newPlace(t)
	a.put(first, "spiffe://shop/node/n1", rsaKey)
	a.put(second, "spiffe://shop/node/n2", edKey)
	n1, err := open(first, nil)
	require.NoError(t, err)
	n2, err := identity.Open(identity.Options{Files: second.files, Cluster: "shop", Node: "n2"})
	require.NoError(t, err)

	called, caller := handshake(t, n1.PeerServer(), n2.PeerClient())
	who, err := n1.Peer(called, "n2")
	require.NoError(t, err)
	require.Equal(t, "n2", who)
	who, err = n2.Peer(caller, "")
	require.NoError(t, err)
	require.Equal(t, "n1", who)
	_, err = n2.Peer(caller, "n3")
	var d *identity.Distrust
	require.ErrorAs(t, err, &d)
	require.Equal(t, identity.WrongNode, d.Reason)

	ann := newPlace(t)
	a.put(ann, "spiffe://shop/principal/ann", edKey)
	pair, err := tls.LoadX509KeyPair(ann.files.Cert, ann.files.Key)
	require.NoError(t, err)
	trusted := x509.NewCertPool()
	trusted.AddCert(a.root)
	called, _ = handshake(t, n1.API(identity.Require), &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1", Certificates: []tls.Certificate{pair}})
	shown, is, err := identity.Caller(&called, "shop", time.Now())
	require.NoError(t, err)
	require.True(t, is)
	require.Equal(t, "spiffe://shop/principal/ann", shown.String())

	nameless := newPlace(t)
	a.put(nameless, "https://shop/n1", rsaKey)
	_, err = open(nameless, nil)
	require.ErrorAs(t, err, &d)
	require.Equal(t, identity.NoIdentity, d.Reason)
}

// handshake makes a connection, and gives what each side knows of the other.
func handshake(t *testing.T, server, client *tls.Config) (called, caller tls.ConnectionState) {
	t.Helper()
	near, far := net.Pipe()
	serving, calling := tls.Server(near, server), tls.Client(far, client)
	done := make(chan error, 1)
	go func() { done <- serving.HandshakeContext(t.Context()) }()
	require.NoError(t, calling.HandshakeContext(t.Context()))
	go func() { _, _ = calling.Read(make([]byte, 1)) }() // it takes what the server sends last
	require.NoError(t, <-done)
	called, caller = serving.ConnectionState(), calling.ConnectionState()
	_, _ = near.Close(), far.Close()
	return called, caller
}
