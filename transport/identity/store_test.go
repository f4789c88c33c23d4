package identity_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/identity"
	"github.com/omnikernel/omnikernel/transport/identity/authority"
)

const day = 24 * time.Hour

func newAuthority(t *testing.T, cluster string) *authority.Authority {
	t.Helper()
	a, err := authority.New(cluster, authority.Life, time.Now().Add(-30*day))
	require.NoError(t, err)
	return a
}

func issue(t *testing.T, by *authority.Authority, kind identity.Kind, name string, from, life time.Duration) authority.Issued {
	t.Helper()
	issued, err := by.Issue(authority.Request{Kind: kind, Name: name, Now: time.Now().Add(from), Life: life})
	require.NoError(t, err)
	return issued
}

// place is where a node's files are.
type place struct{ files identity.Files }

func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	return place{identity.Files{Cert: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key"), CA: filepath.Join(dir, "ca")}}
}

func (p place) put(t *testing.T, issued authority.Issued, trusted ...*authority.Authority) {
	t.Helper()
	var bundle []byte
	for _, a := range trusted {
		bundle = append(bundle, a.CertPEM()...)
	}
	for path, raw := range map[string][]byte{p.files.Cert: issued.CertPEM, p.files.Key: issued.KeyPEM, p.files.CA: bundle} {
		require.NoError(t, os.WriteFile(path, raw, 0o600))
	}
}

type lines struct {
	mu  sync.Mutex // guards out
	out bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.out.String(), text)
}

func open(p place, log *lines) (*identity.Store, error) {
	o := identity.Options{Files: p.files, Cluster: "shop", Node: "n1"}
	if log != nil {
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: log})
	}
	return identity.Open(o)
}

// A node starts with its own certificate only, and says what is wrong with another.
func TestOpenRefuses(t *testing.T) {
	ours, theirs, elsewhere := newAuthority(t, "shop"), newAuthority(t, "shop"), newAuthority(t, "cellar")
	for reason, row := range map[identity.Reason]struct {
		issued  authority.Issued
		trusted *authority.Authority
	}{
		identity.UnknownAuthority: {issue(t, theirs, identity.Node, "n1", 0, day), ours},
		identity.Expired:          {issue(t, ours, identity.Node, "n1", -3*day, day), ours},
		identity.NotYetValid:      {issue(t, ours, identity.Node, "n1", 3*day, day), ours},
		identity.WrongCluster:     {issue(t, elsewhere, identity.Node, "n1", 0, day), elsewhere},
		identity.WrongNode:        {issue(t, ours, identity.Node, "n2", 0, day), ours},
		identity.WrongUsage:       {issue(t, ours, identity.Principal, "n1", 0, day), ours},
		identity.NoIdentity:       {nameless(t, ours), ours},
	} {
		p := newPlace(t)
		p.put(t, row.issued, row.trusted)
		_, err := open(p, nil)
		var d *identity.Distrust
		require.ErrorAs(t, err, &d, "%s", reason)
		assert.Equal(t, reason, d.Reason)
		assert.NotEmpty(t, d.Hint())
		assert.ErrorContains(t, err, p.files.Cert)
	}
	p := newPlace(t)
	good := issue(t, ours, identity.Node, "n1", 0, day)
	p.put(t, good, ours)
	require.NoError(t, os.WriteFile(p.files.Key, issue(t, ours, identity.Node, "n1", 0, day).KeyPEM, 0o600))
	_, err := open(p, nil)
	require.ErrorContains(t, err, "private key does not match public key")
	p.put(t, good, ours)
	require.NoError(t, os.WriteFile(p.files.CA, good.CertPEM, 0o600))
	_, err = open(p, nil)
	require.ErrorContains(t, err, "is no authority's")
	require.NoError(t, os.Remove(p.files.CA))
	_, err = open(p, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// nameless is a certificate that says of nobody who that is: as one of another kind of
// authority may be.
func nameless(t *testing.T, by *authority.Authority) authority.Issued {
	t.Helper()
	return signed(t, by)
}

// signed is a node's certificate with these URIs in it, and no others.
func signed(t *testing.T, by *authority.Authority, uris ...string) authority.Issued {
	t.Helper()
	raw, err := by.KeyPEM()
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(by.CertPEM(), raw)
	require.NoError(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "n1"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(day),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, text := range uris {
		u, err := url.Parse(text)
		require.NoError(t, err)
		template.URIs = append(template.URIs, u)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.Cert, &key.PublicKey, pair.PrivateKey)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority.Issued{Cert: cert, CertPEM: pemOf("CERTIFICATE", der), KeyPEM: keyOf(t, key)}
}

// A certificate has exactly one identity, or none.
func TestOf(t *testing.T) {
	ours := newAuthority(t, "shop")
	found, err := identity.Of(signed(t, ours, "https://example.com/x", "spiffe://shop/node/n1").Cert)
	require.NoError(t, err)
	require.Equal(t, "spiffe://shop/node/n1", found.String())
	for _, uris := range [][]string{
		nil, {"https://shop/node/n1"}, {"spiffe://shop/node/n1", "spiffe://shop/node/n2"}, {"spiffe://shop/server/n1"},
		{"spiffe://shop/node"}, {"spiffe://shop/node/"}, {"spiffe://shop/node/n1/x"}, {"spiffe://shop/node/n1?x=1"}, {"spiffe://shop/node/n1#x"},
		{"spiffe://user@shop/node/n1"}, {"spiffe://shop/node/a%20b"}, {"spiffe://shop/node/" + strings.Repeat("n", 65)},
	} {
		_, err := identity.Of(signed(t, ours, uris...).Cert)
		var d *identity.Distrust
		require.ErrorAs(t, err, &d, "%v", uris)
		require.Equal(t, identity.NoIdentity, d.Reason)
	}
}

// New files are taken up whole; what is wrong leaves the old ones in use, is told once,
// and is forgotten when it is mended.
func TestReload(t *testing.T) {
	ours := newAuthority(t, "shop")
	p := newPlace(t)
	first := issue(t, ours, identity.Node, "n1", 0, day)
	p.put(t, first, ours)
	var log lines
	s, err := open(p, &log)
	require.NoError(t, err)
	inUse := func() string { return s.State().Certificates[0].Serial }
	require.Equal(t, identity.Serial(first.Cert), inUse())

	fresh, err := s.Reload()
	require.NoError(t, err)
	require.False(t, fresh, "nothing is new")

	for _, bad := range []authority.Issued{
		issue(t, ours, identity.Node, "n2", 0, day), issue(t, ours, identity.Node, "n1", -3*day, day), {CertPEM: []byte("half"), KeyPEM: first.KeyPEM},
	} {
		p.put(t, bad, ours)
		before := log.count("new certificate refused")
		for range 3 {
			_, err = s.Reload()
			require.Error(t, err)
		}
		require.Equal(t, before+1, log.count("new certificate refused"), "told once")
		require.Equal(t, identity.Serial(first.Cert), inUse())
		require.NotEmpty(t, s.State().Refused)
		shown := s.PeerServer().Certificates[0].Leaf
		require.Equal(t, first.Cert.SerialNumber, shown.SerialNumber)
	}

	second := issue(t, ours, identity.Node, "n1", 0, 2*day)
	p.put(t, second, ours, newAuthority(t, "shop"))
	fresh, err = s.Reload()
	require.NoError(t, err)
	require.True(t, fresh)
	state := s.State()
	require.Empty(t, state.Refused)
	require.Len(t, state.Certificates, 3, "its own, and two authorities")
	require.Equal(t, second.Cert.NotAfter, state.Certificates[0].NotAfter)
	require.Equal(t, 1, log.count("new certificate in use"))
}

// Whose a client's certificate is; a wrong cluster's is refused, and one that ended
// while the connection was open.
func TestCaller(t *testing.T) {
	ours, elsewhere := newAuthority(t, "shop"), newAuthority(t, "cellar")
	verified := func(issued authority.Issued) *tls.ConnectionState {
		return &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{issued.Cert}}}
	}
	ann := issue(t, ours, identity.Principal, "ann", 0, day)
	who, shown, err := identity.Caller(verified(ann), "shop", time.Now())
	require.NoError(t, err)
	require.True(t, shown)
	require.Equal(t, identity.Identity{
		Kind: identity.Principal, Cluster: "shop", Name: "ann", Serial: identity.Serial(ann.Cert), NotAfter: ann.Cert.NotAfter,
	}, who)
	for _, none := range []*tls.ConnectionState{nil, {}, {PeerCertificates: []*x509.Certificate{ann.Cert}}} {
		_, shown, err := identity.Caller(none, "shop", time.Now())
		require.NoError(t, err)
		require.False(t, shown, "only what was verified counts")
	}
	for reason, state := range map[identity.Reason]*tls.ConnectionState{
		identity.WrongCluster: verified(issue(t, elsewhere, identity.Principal, "ann", 0, day)),
		identity.NoIdentity:   verified(nameless(t, ours)),
		identity.Expired:      verified(issue(t, ours, identity.Principal, "ann", -3*day, day)),
	} {
		who, shown, err := identity.Caller(state, "shop", time.Now())
		var d *identity.Distrust
		require.ErrorAs(t, err, &d)
		require.Equal(t, reason, d.Reason)
		require.True(t, shown)
		require.Zero(t, who)
	}
}
