package raftstream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// authority is a certificate authority made for one test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert, key, pool}
}

// issue makes a node's certificate for an address.
func (a *authority) issue(t *testing.T, ip string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "node"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(ip)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func secured(c *tls.Config) func(*Options) { return func(o *Options) { o.TLS = c } }

func TestMutualTLS(t *testing.T) {
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	quick := func(o *Options) { o.Limits.Handshake = time.Second }
	var log lines
	server := listen(t, "server", secured(MutualTLS(ours.issue(t, "127.0.0.1"), ours.pool)), log.option, quick)
	kernel(t, server, "k").Peers().Handle(echo)
	call := func(options ...func(*Options)) (string, error) {
		caller := kernel(t, listen(t, "caller", append(options, quick)...), "k").Peers()
		out, err := caller.Call(within(t, 5*time.Second), server.Address(), 1, []byte("x"))
		return string(out), err
	}

	out, err := call(secured(MutualTLS(ours.issue(t, "127.0.0.1"), ours.pool)))
	require.NoError(t, err)
	require.Equal(t, "caller1:x", out)

	// The library's streams go the same way.
	member := kernel(t, listen(t, "member", secured(MutualTLS(ours.issue(t, "127.0.0.1"), ours.pool))), "k")
	there, err := member.Layer().Dial(raft.ServerAddress(server.Address()), 5*time.Second)
	require.NoError(t, err)
	here := accepted(t, server.kernels["k"])
	_, err = there.Write([]byte("sealed"))
	require.NoError(t, err)
	got := make([]byte, 6)
	_, err = io.ReadFull(here, got)
	require.NoError(t, err)
	require.Equal(t, "sealed", string(got))

	_, err = call(secured(MutualTLS(theirs.issue(t, "127.0.0.1"), ours.pool)))
	require.Error(t, err, "a certificate of another authority")
	_, err = call(secured(MutualTLS(ours.issue(t, "127.0.0.1"), theirs.pool)))
	require.ErrorContains(t, err, "TLS", "a caller that trusts another authority")
	_, err = call()
	require.ErrorContains(t, err, "does only one side use TLS", "a caller without TLS")
	// A caller hears of its failure before the server has written its line.
	require.Eventually(t, func() bool { return server.shaking.Load() == 0 }, 5*time.Second, time.Millisecond)
	require.Equal(t, 1, log.containing("peer handshake failed"), "once a minute per host")

	// The other way round: we speak TLS, the server does not.
	plain := listen(t, "plain", quick)
	kernel(t, plain, "k")
	caller := kernel(t, listen(t, "caller", secured(MutualTLS(ours.issue(t, "127.0.0.1"), ours.pool)), quick), "k").Peers()
	_, err = caller.Call(within(t, 5*time.Second), plain.Address(), 1, nil)
	require.ErrorContains(t, err, "TLS")

	// A server whose certificate names another address.
	elsewhere := listen(t, "elsewhere", secured(MutualTLS(ours.issue(t, "10.9.8.7"), ours.pool)), quick)
	kernel(t, elsewhere, "k")
	_, err = caller.Call(within(t, 5*time.Second), elsewhere.Address(), 1, nil)
	require.ErrorContains(t, err, "TLS")
}

// A configuration that would let strangers in is refused at the start.
func TestTLSMustPin(t *testing.T) {
	ours := newAuthority(t, "ours")
	good := MutualTLS(ours.issue(t, "127.0.0.1"), ours.pool)
	for name, spoil := range map[string]func(*tls.Config){
		"clients unchecked":  func(c *tls.Config) { c.ClientAuth = tls.VerifyClientCertIfGiven },
		"system authorities": func(c *tls.Config) { c.RootCAs = nil },
		"any client's":       func(c *tls.Config) { c.ClientCAs = nil },
		"servers unchecked":  func(c *tls.Config) { c.InsecureSkipVerify = true },
	} {
		config := good.Clone()
		spoil(config)
		_, err := Listen(Options{Listen: "127.0.0.1:0", ClusterID: "c", NodeID: "n", TLS: config})
		require.Error(t, err, name)
	}
}
