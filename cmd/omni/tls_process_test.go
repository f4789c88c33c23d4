package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// secured are three nodes with TLS, by what omni tls made in a directory.
type secured struct {
	*processes
	made  string // by omni tls
	files string // one directory a node: what was put in place there
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	s := &secured{made: filepath.Join(t.TempDir(), "tls"), files: t.TempDir()}
	t.Setenv(caVariable, filepath.Join(s.made, "ca.pem")) // for every omni, the audit at the end too
	s.processes = newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, serverFlagsOf(testStore())...)
	s.scheme = "https://"
	s.own = func(i int) []string {
		at := func(name string) string { return filepath.Join(s.files, s.id(i), name) }
		return []string{"--tls-ca", at("ca.pem"), "--tls-cert", at("cert.pem"), "--tls-key", at("key.pem")}
	}
	s.does("tls", "init", "--cluster", "omni", "--dir", s.made)
	for i := range s.nodes {
		s.does("tls", "issue", "node", s.id(i), "--dir", s.made)
	}
	s.does("tls", "issue", "principal", "ann", "--dir", s.made)
	return s
}

// does runs omni, and must succeed.
func (s *secured) does(args ...string) string {
	s.t.Helper()
	stdout, stderr, exit := omni(s.t, args...)
	require.Equal(s.t, api.ExitDone, exit, "%v: %s%s", args, stdout, stderr)
	return stdout
}

// put puts files of a directory of omni tls in place on a node.
func (s *secured) put(i int, from string, names ...string) {
	s.t.Helper()
	as := map[string]string{"ca.pem": "ca.pem", "node-" + s.id(i) + ".pem": "cert.pem", "node-" + s.id(i) + "-key.pem": "key.pem"}
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(s.t, err)
		to := filepath.Join(s.files, s.id(i), as[name])
		require.NoError(s.t, os.MkdirAll(filepath.Dir(to), 0o700))
		require.NoError(s.t, os.WriteFile(to+".new", raw, 0o600))
		require.NoError(s.t, os.Rename(to+".new", to))
	}
}

func (s *secured) three(i int) []string {
	return []string{"ca.pem", "node-" + s.id(i) + "-key.pem", "node-" + s.id(i) + ".pem"}
}

// taken waits until a node has taken new files up, by itself or because it is told
// to look.
func (s *secured) taken(i, before int, ask bool) {
	s.t.Helper()
	if ask {
		s.signal(i, syscall.SIGHUP)
	}
	require.Eventually(s.t, func() bool { return s.said(i, "new certificate in use") > before }, time.Minute, 20*time.Millisecond)
}

// connect is a client that trusts what the directory's ca.pem has now.
func (s *secured) connect(who credentials) *client.Client {
	s.t.Helper()
	config, err := who.config()
	require.NoError(s.t, err)
	var servers []string
	for i := range s.nodes {
		servers = append(servers, s.url(i))
	}
	c, err := client.New(servers, client.Options{Timeout: 2 * time.Minute, TLS: config})
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

func (s *secured) at(name string) string { return filepath.Join(s.made, name) }

// Three nodes with TLS made by omni tls: clients with and without a certificate are
// served, wrong ones are not; a node with another authority's certificate stays
// outside until it has its own; and the cluster goes over to a new authority under
// load, its leader killed meanwhile, without a failed command.
func TestTLS(t *testing.T) {
	s := newSecured(t)
	foreign := filepath.Join(t.TempDir(), "foreign") // an authority that calls itself one of this cluster
	s.does("tls", "init", "--cluster", "omni", "--dir", foreign)
	s.does("tls", "issue", "node", "n3", "--dir", foreign)
	s.does("tls", "issue", "principal", "eve", "--dir", foreign)
	ann := credentials{s.at("ca.pem"), s.at("principal-ann.pem"), s.at("principal-ann-key.pem")}

	// n3 comes with a certificate of the wrong authority.
	for i := range 2 {
		s.put(i, s.made, s.three(i)...)
	}
	s.put(2, foreign, s.three(2)...)
	s.startAll()
	s.client = s.connect(ann)
	require.Eventually(t, func() bool {
		return s.said(0, "UNKNOWN_AUTHORITY")+s.said(1, "UNKNOWN_AUTHORITY") > 0 && s.said(2, "UNKNOWN_AUTHORITY") > 0
	}, time.Minute, 20*time.Millisecond)
	_, err := s.client.Define(t.Context(), event.Define{Name: "early"})
	require.NoError(t, err, "two of three are a majority")
	before := s.said(2, "new certificate in use")
	s.put(2, s.made, s.three(2)...)
	s.taken(2, before, false) // by itself
	s.alike()

	s.clients(t, ann, foreign)
	s.rotate(t, ann)
}

func (s *secured) clients(t *testing.T, ann credentials, foreign string) {
	at := []string{"--server", s.url(0), "--timeout", "1m"}
	with := func(more ...string) []string { return append(append([]string(nil), at...), more...) }
	for name, row := range map[string]struct {
		args []string
		exit api.Exit
		says string
	}{
		"a certificate":       {with("--cert", ann.cert, "--key", ann.key, "agent", "list"), api.ExitDone, ""},
		"none":                {with("agent", "list"), api.ExitDone, ""},
		"another authority's": {with("--cert", filepath.Join(foreign, "principal-eve.pem"), "--key", filepath.Join(foreign, "principal-eve-key.pem"), "agent", "list"), api.ExitUnreachable, "it refuses this client's certificate: tls: unknown certificate authority"},
		"trusts another":      {with("--ca-cert", filepath.Join(foreign, "ca.pem"), "agent", "list"), api.ExitUnreachable, "signed by an authority that is not trusted here"},
		"plain HTTP":          {[]string{"--server", "http://" + s.api[0], "agent", "list"}, api.ExitRefused, "this address speaks TLS"},
		"looks at the API":    {[]string{"tls", "inspect", "--ca-cert", ann.ca, "--server", s.api[1]}, api.ExitDone, "spiffe://omni/node/n2"},
		"looks at the peers'": {[]string{"tls", "inspect", "--ca-cert", ann.ca, "--server", s.raft[2]}, api.ExitDone, "spiffe://omni/node/n3"},
	} {
		stdout, stderr, exit := omni(t, row.args...)
		assert.Equal(t, row.exit, exit, "%s: %s%s", name, stdout, stderr)
		assert.Contains(t, stdout+stderr, row.says, name)
	}
}

// rotate goes over to another authority while commands are under way.
func (s *secured) rotate(t *testing.T, ann credentials) {
	old := filepath.Join(t.TempDir(), "old")
	require.NoError(t, os.CopyFS(old, os.DirFS(s.made)))
	s.does("tls", "rotate", "--dir", s.made)
	load := beginSteady(t, s.connect(ann), "load", 0) // it trusts both from here on
	everywhere := func(names func(i int) []string) {
		t.Helper()
		for i := range s.nodes {
			before := s.said(i, "new certificate in use")
			s.put(i, s.made, names(i)...)
			s.taken(i, before, true)
			load.goesOn(t)
		}
	}
	everywhere(func(int) []string { return []string{"ca.pem"} })
	for i := range s.nodes {
		s.does("tls", "issue", "node", s.id(i), "--force", "--dir", s.made)
	}
	s.does("tls", "issue", "principal", "ann", "--force", "--dir", s.made)
	load.client.Store(s.connect(ann)) // both trust both: in which order makes no difference
	everywhere(func(i int) []string { return []string{"node-" + s.id(i) + "-key.pem", "node-" + s.id(i) + ".pem"} })

	// Whoever leads goes, and comes back: every stream to it is made anew.
	status, err := s.client.Status(t.Context())
	require.NoError(t, err)
	leader := -1
	for i := range s.nodes {
		if s.id(i) == status.Leader {
			leader = i
		}
	}
	require.GreaterOrEqual(t, leader, 0)
	up := s.said(leader, "serving: ")
	s.kill(leader)
	load.goesOn(t)
	s.start(leader)
	require.Eventually(t, func() bool { return s.said(leader, "serving: ") > up }, time.Minute, 20*time.Millisecond)

	s.does("tls", "rotate", "--finish", "--dir", s.made)
	everywhere(func(int) []string { return []string{"ca.pem"} })
	require.Zero(t, load.end(t), "no command failed")
	s.client = s.connect(ann)
	s.alike()
	_, stderr, exit := omni(t, "--server", s.url(0), "--cert", filepath.Join(old, "principal-ann.pem"), "--key", filepath.Join(old, "principal-ann-key.pem"), "agent", "list")
	require.Equal(t, api.ExitUnreachable, exit)
	require.Contains(t, stderr, "unknown certificate authority", "what the old one signed is worth nothing")
	require.Contains(t, s.does("tls", "inspect", "--ca-cert", ann.ca, "--server", s.raft[0]), "trusted    yes")
}

// steady are commands, one after the other.
type steady struct {
	client       atomic.Pointer[client.Client]
	quiet        sync.Mutex // held by a command, and by whoever wants none
	done, failed atomic.Int64
	stop         context.CancelFunc
	ended        chan struct{}
	last         atomic.Pointer[error]
}

// beginSteady defines agents NAME-0, NAME-1 and so on, pausing for a moment in between.
func beginSteady(t *testing.T, c *client.Client, name string, pause time.Duration) *steady {
	ctx, cancel := context.WithCancel(context.Background())
	l := &steady{stop: cancel, ended: make(chan struct{})}
	l.client.Store(c)
	t.Cleanup(cancel)
	go func() {
		defer close(l.ended)
		for n := 0; ctx.Err() == nil; n++ {
			l.one(ctx, fmt.Sprintf("%s-%d", name, n))
			time.Sleep(pause)
		}
	}()
	l.goesOn(t)
	return l
}

func (l *steady) one(ctx context.Context, name string) {
	l.quiet.Lock()
	defer l.quiet.Unlock()
	c := l.client.Load()
	c.Close() // what is idle: each has a handshake of its own
	if _, err := c.Define(context.WithoutCancel(ctx), event.Define{Name: name}); err != nil {
		l.failed.Add(1)
		l.last.Store(&err)
		return
	}
	l.done.Add(1)
}

// goesOn waits until more was done.
func (l *steady) goesOn(t *testing.T) {
	t.Helper()
	from := l.done.Load()
	require.Eventually(t, func() bool { return l.done.Load() > from+2 || l.failed.Load() > 0 }, 2*time.Minute, 5*time.Millisecond)
}

// end tells how many failed.
func (l *steady) end(t *testing.T) int64 {
	t.Helper()
	l.stop()
	<-l.ended
	if err := l.last.Load(); err != nil {
		t.Log(strings.TrimSpace((*err).Error()))
	}
	return l.failed.Load()
}
