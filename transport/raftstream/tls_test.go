package raftstream

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/identity"
	"github.com/omnikernel/omnikernel/transport/identity/authority"
)

const cluster1 = "cluster-1" // of listen's nodes

func newAuthority(t *testing.T, cluster string) *authority.Authority {
	t.Helper()
	a, err := authority.New(cluster, authority.Life, time.Now())
	require.NoError(t, err)
	return a
}

// credentials are a node's files, as one authority signed them and several are
// trusted.
type credentials struct {
	files identity.Files
	node  string
}

func newCredentials(t *testing.T, by *authority.Authority, node string, trusted ...*authority.Authority) credentials {
	t.Helper()
	dir := t.TempDir()
	c := credentials{identity.Files{
		Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), CA: filepath.Join(dir, "ca.pem"),
	}, node}
	c.write(t, by, trusted...)
	return c
}

func (c credentials) write(t *testing.T, by *authority.Authority, trusted ...*authority.Authority) {
	t.Helper()
	issued, err := by.Issue(authority.Request{Kind: identity.Node, Name: c.node, Now: time.Now()})
	require.NoError(t, err)
	if len(trusted) == 0 {
		trusted = []*authority.Authority{by}
	}
	var bundle []byte
	for _, a := range trusted {
		bundle = append(bundle, a.CertPEM()...)
	}
	require.NoError(t, os.WriteFile(c.files.Cert, issued.CertPEM, 0o600))
	require.NoError(t, os.WriteFile(c.files.Key, issued.KeyPEM, 0o600))
	require.NoError(t, os.WriteFile(c.files.CA, bundle, 0o600))
}

func (c credentials) open(t *testing.T, cluster string) *identity.Store {
	t.Helper()
	s, err := identity.Open(identity.Options{Files: c.files, Cluster: cluster, Node: c.node})
	require.NoError(t, err)
	return s
}

// proven lets an endpoint prove that it is a node of cluster-1.
func proven(t *testing.T, by *authority.Authority, node string, trusted ...*authority.Authority) func(*Options) {
	return func(o *Options) { o.TLS = newCredentials(t, by, node, trusted...).open(t, cluster1) }
}

func quick(o *Options) { o.Limits.Handshake = 5 * time.Second }

func TestMutualTLS(t *testing.T) {
	ours := newAuthority(t, cluster1)
	server := listen(t, "server", proven(t, ours, "server"), quick)
	kernel(t, server, "k").Peers().Handle(echo)
	caller := kernel(t, listen(t, "caller", proven(t, ours, "caller"), quick), "k")
	out, err := caller.Peers().Call(within(t, 30*time.Second), server.Address(), 1, []byte("x"))
	require.NoError(t, err)
	require.Equal(t, "caller1:x", string(out))

	// The library's streams go the same way.
	there, err := caller.Layer().Dial(raft.ServerAddress(server.Address()), 30*time.Second)
	require.NoError(t, err)
	here := accepted(t, server.kernels["k"])
	_, err = there.Write([]byte("sealed"))
	require.NoError(t, err)
	got := make([]byte, 6)
	_, err = io.ReadFull(here, got)
	require.NoError(t, err)
	require.Equal(t, "sealed", string(got))
}

// Every bad credential that a caller can come with is refused, told apart in the
// node's log, and named to the caller.
func TestCallersThatProveNothing(t *testing.T) {
	ours, theirs := newAuthority(t, cluster1), newAuthority(t, cluster1)
	elsewhere, stale := newAuthority(t, "cluster-2"), newAuthority(t, cluster1)
	var log lines
	server := listen(t, "server", proven(t, ours, "server", ours, elsewhere), log.option, quick)
	kernel(t, server, "k").Peers().Handle(echo)
	day := 24 * time.Hour
	for name, row := range map[string]struct {
		by     *authority.Authority
		kind   identity.Kind
		name   string
		from   time.Duration // when it was issued, from now
		life   time.Duration
		reason identity.Reason
		code   RefusalCode // that the caller is told; 0: by an alert of TLS
	}{
		"wrong authority": {theirs, identity.Node, "caller", 0, day, identity.UnknownAuthority, 0},
		"expired":         {ours, identity.Node, "caller", -3 * day, day, identity.Expired, 0},
		"not yet valid":   {stale, identity.Node, "caller", 3 * day, day, identity.NotYetValid, 0},
		"wrong cluster":   {elsewhere, identity.Node, "caller", 0, day, identity.WrongCluster, CertificateCluster},
		"wrong node":      {ours, identity.Node, "other", 0, day, identity.WrongNode, CertificateNode},
		"principal":       {ours, identity.Principal, "caller", 0, day, identity.NotANode, CertificateKind},
	} {
		t.Run(name, func(t *testing.T) {
			by := row.by
			if row.from < 0 { // an authority that was there then, and is trusted
				by = newPast(t, by, row.from)
				trust(t, server, by)
			}
			if by == stale {
				trust(t, server, by)
			}
			issued, err := by.Issue(authority.Request{Kind: row.kind, Name: row.name, Life: row.life, Now: time.Now().Add(row.from)})
			require.NoError(t, err)
			before := log.containing("reason=" + string(row.reason))
			reply, err := greetAs(t, server, &issued, "caller")
			if row.code == 0 {
				require.Error(t, err)
				require.True(t, identity.RefusedByAlert(err), "%v", err)
			} else {
				require.NoError(t, err)
				require.Equal(t, row.code, reply.code)
			}
			require.Eventually(t, func() bool { return log.containing("reason="+string(row.reason)) > before }, 30*time.Second, time.Millisecond)
		})
	}

	t.Run("none", func(t *testing.T) {
		_, err := greetAs(t, server, nil, "caller")
		require.True(t, identity.RefusedByAlert(err), "%v", err)
		require.Eventually(t, func() bool { return log.containing("reason=NO_CERTIFICATE") == 1 }, 30*time.Second, time.Millisecond)
	})
	t.Run("plain TCP", func(t *testing.T) {
		caller := kernel(t, listen(t, "caller", quick), "k").Peers()
		_, err := caller.Call(within(t, 30*time.Second), server.Address(), 1, nil)
		require.ErrorContains(t, err, "greet")
		require.Eventually(t, func() bool { return log.containing("reason=NOT_TLS") == 1 }, 30*time.Second, time.Millisecond)
		_, err = caller.Call(within(t, 30*time.Second), server.Address(), 1, nil)
		require.Error(t, err)
		require.Eventually(t, func() bool { return server.shaking.Load() == 0 }, 30*time.Second, time.Millisecond)
		require.Equal(t, 1, log.containing("reason=NOT_TLS"), "once a minute for each host and reason")
	})
	require.Equal(t, log.containing("peer not trusted"), log.containing("hint="), "every refusal says what to do")
}

// newPast is an authority like another one, that was made some time ago.
func newPast(t *testing.T, like *authority.Authority, ago time.Duration) *authority.Authority {
	t.Helper()
	a, err := authority.New(like.Cluster, authority.Life, time.Now().Add(ago))
	require.NoError(t, err)
	return a
}

// trust lets an endpoint trust one more authority, by new files.
func trust(t *testing.T, e *Endpoint, a *authority.Authority) {
	t.Helper()
	path := e.options.TLS.Files().CA
	bundle, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(bundle, a.CertPEM()...), 0o600))
	fresh, err := e.options.TLS.Reload()
	require.NoError(t, err)
	require.True(t, fresh)
}

// greetAs says hello to an endpoint with a certificate, or none, and believes
// whatever it is shown.
func greetAs(t *testing.T, e *Endpoint, issued *authority.Issued, node string) (answer, error) {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}
	if issued != nil {
		pair, err := issued.Pair()
		require.NoError(t, err)
		config.GetClientCertificate = identity.Shown(pair)
	}
	raw := rawDial(t, e)
	require.NoError(t, raw.SetDeadline(time.Now().Add(30*time.Second)))
	conn := tls.Client(raw, config)
	h := hello{kind: StreamPeer, cluster: cluster1, kernel: "k", node: node}
	if _, err := conn.Write(h.encode()); err != nil {
		return answer{}, err
	}
	return readAnswer(conn)
}

// A node looks just as closely at whom it has reached.
func TestNodesThatAreNotWhoWasMeant(t *testing.T) {
	ours, theirs, elsewhere := newAuthority(t, cluster1), newAuthority(t, cluster1), newAuthority(t, "cluster-2")
	for name, row := range map[string]struct {
		there  func(o *Options)
		want   string
		reason identity.Reason
	}{
		"wrong authority": {proven(t, theirs, "server", theirs, ours), "", identity.UnknownAuthority},
		"wrong node":      {proven(t, ours, "server"), "another", identity.WrongNode},
		"plain TCP":       {func(*Options) {}, "", identity.NotTLS},
		"wrong cluster": {func(o *Options) {
			o.TLS = newCredentials(t, elsewhere, "server", elsewhere, ours).open(t, "cluster-2")
			o.ClusterID = "cluster-2"
		}, "", identity.WrongCluster},
		"trusts another authority": {proven(t, ours, "server", ours, theirs), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log lines
			server := listen(t, "server", row.there, quick)
			kernel(t, server, "k").Peers().Handle(echo)
			caller := kernel(t, listen(t, "caller", log.option, quick, proven(t, ours, "caller", ours, elsewhere), func(o *Options) {
				o.NodeAt = func(address string) string { return map[string]string{server.Address(): row.want}[address] }
			}), "k").Peers()
			_, err := caller.Call(within(t, 30*time.Second), server.Address(), 1, []byte("x"))
			if row.reason == "" {
				require.NoError(t, err)
				return
			}
			var d *identity.Distrust
			require.ErrorAs(t, err, &d)
			assert.Equal(t, row.reason, d.Reason)
			assert.NotEmpty(t, d.Hint())
			assert.Equal(t, 1, log.containing("reason="+string(row.reason)))
		})
	}
}

// A caller whose certificate is refused learns why, though it had said its hello by
// then.
func TestACallerLearnsThatItsCertificateIsRefused(t *testing.T) {
	ours, theirs := newAuthority(t, cluster1), newAuthority(t, cluster1)
	server := listen(t, "server", proven(t, ours, "server"), quick)
	kernel(t, server, "k").Peers().Handle(echo)
	var log lines
	caller := kernel(t, listen(t, "caller", log.option, quick, proven(t, theirs, "caller", theirs, ours)), "k").Peers()
	for range 20 { // the reason must not get lost with the connection
		_, err := caller.Call(within(t, 30*time.Second), server.Address(), 1, []byte("x"))
		var d *identity.Distrust
		require.ErrorAs(t, err, &d)
		require.Equal(t, identity.RefusedOurs, d.Reason)
		require.ErrorContains(t, err, "unknown certificate authority")
	}
	require.Equal(t, 1, log.containing("reason=REFUSED_OURS"))
}

// A group goes from one authority to another without a stop: first both are trusted,
// then certificates of the new one are shown, then the old one is forgotten.
func TestANewAuthorityWithoutAStop(t *testing.T) {
	old, fresh := newAuthority(t, cluster1), newAuthority(t, cluster1)
	names := []string{"a", "b"}
	var files []credentials
	var ends []*Endpoint
	for _, name := range names {
		c := newCredentials(t, old, name)
		e := listen(t, name, quick, func(o *Options) { o.TLS = c.open(t, cluster1) })
		kernel(t, e, "k").Peers().Handle(echo)
		files, ends = append(files, c), append(ends, e)
	}
	talk := func() {
		t.Helper()
		for i, from := range ends {
			to := ends[1-i]
			conn, _, err := from.kernels["k"].dial(within(t, 30*time.Second), to.Address(), StreamPeer) // a connection of its own
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		}
	}
	talk()
	for _, step := range []struct {
		by      *authority.Authority
		trusted []*authority.Authority
	}{
		{old, []*authority.Authority{old, fresh}},
		{fresh, []*authority.Authority{old, fresh}},
		{fresh, []*authority.Authority{fresh}},
	} {
		for i, c := range files { // one node after the other
			c.write(t, step.by, step.trusted...)
			changed, err := ends[i].options.TLS.Reload()
			require.NoError(t, err)
			require.True(t, changed)
			talk()
		}
	}
	left := listen(t, "left", quick, proven(t, old, "left", old, fresh))
	_, _, err := kernel(t, left, "k").dial(within(t, 30*time.Second), ends[0].Address(), StreamPeer)
	require.ErrorContains(t, err, "unknown certificate authority", "the old one is forgotten")
}

// Clients that begin TLS and say no more delay nobody.
func TestSilentTLSClients(t *testing.T) {
	ours := newAuthority(t, cluster1)
	server := listen(t, "server", proven(t, ours, "server"), func(o *Options) { o.Limits.Handshake = 2 * time.Second })
	kernel(t, server, "k").Peers().Handle(echo)
	var silent []net.Conn
	for range 20 {
		conn := rawDial(t, server)
		_, err := conn.Write([]byte{22, 3, 1, 2, 0}) // a record that never comes
		require.NoError(t, err)
		silent = append(silent, conn)
	}
	require.Eventually(t, func() bool { return server.shaking.Load() > 0 }, 30*time.Second, time.Millisecond)
	caller := kernel(t, listen(t, "caller", proven(t, ours, "caller"), quick), "k").Peers()
	_, err := caller.Call(within(t, 30*time.Second), server.Address(), 1, []byte("x"))
	require.NoError(t, err)
	for _, conn := range silent {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
		_, err := io.Copy(io.Discard, conn)
		require.NoError(t, err, "it is ended when its time is up")
	}
}
