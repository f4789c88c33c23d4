package client_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
	"github.com/omnikernel/omnikernel/transport/identity"
	"github.com/omnikernel/omnikernel/transport/identity/authority"
)

const shop = "shop" // a cluster

func newAuthority(t *testing.T, cluster string, ago time.Duration) *authority.Authority {
	t.Helper()
	a, err := authority.New(cluster, authority.Life, time.Now().Add(-ago))
	require.NoError(t, err)
	return a
}

// storeOf are the files of a node that an authority signed.
func storeOf(t *testing.T, a *authority.Authority) *identity.Store {
	t.Helper()
	dir := t.TempDir()
	files := identity.Files{Cert: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key"), CA: filepath.Join(dir, "ca")}
	issued, err := a.Issue(authority.Request{Kind: identity.Node, Name: "n1", Now: time.Now()})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files.Cert, issued.CertPEM, 0o600))
	require.NoError(t, os.WriteFile(files.Key, issued.KeyPEM, 0o600))
	require.NoError(t, os.WriteFile(files.CA, a.CertPEM(), 0o600))
	s, err := identity.Open(identity.Options{Files: files, Cluster: shop, Node: "n1"})
	require.NoError(t, err)
	return s
}

// trusting is a client's side of TLS.
func trusting(t *testing.T, a *authority.Authority, shows *authority.Issued) *tls.Config {
	t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AddCert(a.Cert)
	if shows != nil {
		pair, err := shows.Pair()
		require.NoError(t, err)
		config.GetClientCertificate = identity.Shown(pair)
	}
	return config
}

// serveSecured is a node's API over TLS, at host:port.
func serveSecured(t *testing.T, config *tls.Config) string {
	t.Helper()
	g := solo.New(t, 1, solo.Setup{})
	url := g.Serve(t, httpapi.Options{TLS: config, HeaderTimeout: 5 * time.Second})[0]
	address := strings.TrimPrefix(url, "http://")
	g.Nodes[0].Listens("https://" + address)
	return address
}

// Commands, reads and streams go over TLS; an address without a scheme is https where
// the client has a configuration for it.
func TestSecured(t *testing.T) {
	ours := newAuthority(t, shop, 0)
	address := serveSecured(t, storeOf(t, ours).API(identity.Optional))
	for name, config := range map[string]*tls.Config{
		"without a certificate": trusting(t, ours, nil),
		"with one":              trusting(t, ours, issue(t, ours, authority.Request{Kind: identity.Principal, Name: "ann", Now: time.Now()})),
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, client.Options{TLS: config}, address)
			_, err := c.Define(within(t, time.Minute), echo(t))
			require.NoError(t, err)
			require.NotEmpty(t, agents(t, c))
			require.Equal(t, []string{"https://" + address}, c.Servers())
		})
	}
}

func issue(t *testing.T, by *authority.Authority, r authority.Request) *authority.Issued {
	t.Helper()
	issued, err := by.Issue(r)
	require.NoError(t, err)
	return &issued
}

// Each way in which a client and a node do not trust each other is told apart, with what
// to do; nothing took effect, and nothing is waited for.
func TestDistrusted(t *testing.T) {
	const day = 24 * time.Hour
	ours, theirs := newAuthority(t, shop, 10*day), newAuthority(t, shop, 0)
	optional := serveSecured(t, storeOf(t, ours).API(identity.Optional))
	required := serveSecured(t, storeOf(t, ours).API(identity.Require))
	l, err := net.Listen("tcp", "127.0.0.2:0") // an address that the certificate does not have
	require.NoError(t, err)
	elsewhere := &httptest.Server{Listener: l, Config: &http.Server{ErrorLog: log.New(io.Discard, "", 0)}, TLS: storeOf(t, ours).API(identity.Optional)}
	elsewhere.StartTLS()
	t.Cleanup(elsewhere.Close)
	g := solo.New(t, 1, solo.Setup{})
	plain := strings.TrimPrefix(g.Serve(t, httpapi.Options{})[0], "http://")
	stale := issue(t, ours, authority.Request{Kind: identity.Principal, Name: "ann", Life: day, Now: time.Now().Add(-3 * day)})
	early := issue(t, ours, authority.Request{Kind: identity.Principal, Name: "ann", Life: day, Now: time.Now().Add(3 * day)})
	stranger := issue(t, theirs, authority.Request{Kind: identity.Principal, Name: "ann", Now: time.Now()})
	for name, row := range map[string]struct {
		server  string
		config  *tls.Config
		problem string
		hint    string
	}{
		"unknown authority": {optional, trusting(t, theirs, nil), "signed by an authority that is not trusted here", "--ca-cert"},
		"wrong host":        {l.Addr().String(), trusting(t, ours, nil), "its certificate is not for 127.0.0.2, but for localhost, 127.0.0.1", "--host 127.0.0.2"},
		"no TLS there":      {plain, trusting(t, ours, nil), "it does not speak TLS", "http://"},
		"none":              {required, trusting(t, ours, nil), "it wants a certificate", "--cert FILE"},
		"expired":           {optional, trusting(t, ours, stale), "it refuses this client's certificate: tls: expired certificate", "omni tls inspect"},
		"not yet valid":     {optional, trusting(t, ours, early), "it refuses this client's certificate: tls: expired certificate", "omni tls inspect"},
		"another authority": {optional, trusting(t, ours, stranger), "it refuses this client's certificate: tls: unknown certificate authority", "omni tls inspect"},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, client.Options{TLS: row.config, Timeout: 10 * time.Minute}, "https://"+row.server)
			for _, call := range []func() error{
				func() error { _, err := c.Define(within(t, time.Minute), echo(t)); return err },
				func() error { _, err := c.Status(within(t, time.Minute)); return err },
				func() error {
					for _, err := range c.Watch(within(t, time.Minute), api.WatchQuery{}) {
						return err
					}
					return nil
				},
			} {
				err := call()
				var d *client.Distrusted
				require.ErrorAs(t, err, &d)
				assert.Contains(t, d.Error(), row.problem)
				assert.Contains(t, d.Hint, row.hint)
			}
			_, err := c.Define(within(t, time.Minute), echo(t))
			assert.True(t, client.Definite(err), "%v", err)
		})
	}
	t.Run("TLS there", func(t *testing.T) {
		c := connect(t, client.Options{}, "http://"+optional)
		_, err := c.Define(within(t, time.Minute), echo(t))
		var said *api.Error
		require.ErrorAs(t, err, &said)
		assert.Equal(t, api.CodeTLSRequired, said.Code)
		assert.Contains(t, said.Hint, "https://")
		assert.True(t, client.Definite(err))
	})
}

// Whoever began with TLS is not led away from it.
func TestNobodyIsLedAwayFromTLS(t *testing.T) {
	ours := newAuthority(t, shop, 0)
	g := solo.New(t, 1, solo.Setup{})
	url := g.Serve(t, httpapi.Options{TLS: storeOf(t, ours).API(identity.Optional)})[0] // the node tells of itself as http://
	c := connect(t, client.Options{TLS: trusting(t, ours, nil)}, strings.TrimPrefix(url, "http://"))
	_, err := c.Status(within(t, time.Minute))
	require.NoError(t, err)
	require.Equal(t, []string{strings.Replace(url, "http", "https", 1)}, c.Servers())
}

// Clients that begin TLS, and say no more, delay nobody and are gone when their time
// is up; nobody gets HTTP/2.
func TestSilentTLSClients(t *testing.T) {
	ours := newAuthority(t, shop, 0)
	g := solo.New(t, 1, solo.Setup{})
	url := g.Serve(t, httpapi.Options{TLS: storeOf(t, ours).API(identity.Optional), HeaderTimeout: time.Second})[0]
	address := strings.TrimPrefix(url, "http://")
	var silent []net.Conn
	for i := range 20 {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		if i%2 == 0 {
			_, err = conn.Write([]byte{22, 3, 1, 2, 0}) // a record that never comes
			require.NoError(t, err)
		}
		silent = append(silent, conn)
	}
	config := trusting(t, ours, nil)
	config.NextProtos = []string{"h2", "http/1.1"}
	h := &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
	defer h.CloseIdleConnections()
	response, err := h.Get("https://" + address + "/healthz")
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, 1, response.ProtoMajor)
	for _, conn := range silent {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
		_, err := io.Copy(io.Discard, conn)
		require.NoError(t, err)
	}
}
