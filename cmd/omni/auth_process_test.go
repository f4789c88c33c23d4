package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// guarded are three nodes with TLS whose authorization is on.
type guarded struct {
	*secured
	admin, bob  string // files of tokens
	ann, repair []string
}

// asks runs omni as somebody, at one node, and tells how that ended.
func (g *guarded) asks(i int, who []string, args ...string) (stdout, stderr string, exit api.Exit) {
	g.t.Helper()
	return omni(g.t, slices.Concat(args, who, []string{"--server", g.url(i), "--timeout", "1m"})...)
}

// may runs omni as somebody at every node; it must succeed.
func (g *guarded) may(who []string, args ...string) string {
	g.t.Helper()
	last := ""
	for i := range g.nodes {
		stdout, stderr, exit := g.asks(i, who, args...)
		require.Equal(g.t, api.ExitDone, exit, "%s at %s: %s%s", args, g.id(i), stdout, stderr)
		last = stdout
	}
	return last
}

// mayNot runs omni as somebody at every node; it must be refused, for a reason.
func (g *guarded) mayNot(why string, who []string, args ...string) {
	g.t.Helper()
	for i := range g.nodes {
		stdout, stderr, exit := g.asks(i, who, args...)
		require.Equal(g.t, api.ExitRefused, exit, "%s at %s: %s%s", args, g.id(i), stdout, stderr)
		require.Contains(g.t, stderr, why)
	}
}

func token(file string) []string { return []string{"--token-file", file} }

// Three nodes judge who asks, whichever is asked: by tokens, by client certificates, and
// by the certificate of a node, which repairs who may do what and does nothing else. What
// was revoked is over at once, everywhere, a stream that is open included; a killed
// leader and a new start change nothing; and no file has a token's secret (AU-1 … AU-9).
func TestAuthorization(t *testing.T) {
	s := newSecured(t)
	g := &guarded{secured: s, admin: filepath.Join(t.TempDir(), "admin.token"), bob: filepath.Join(t.TempDir(), "bob.token")}
	g.unaudited = true // below, by somebody who may
	g.ann = []string{"--cert", s.at("principal-ann.pem"), "--key", s.at("principal-ann-key.pem")}
	g.repair = []string{"--cert", s.at("node-n2.pem"), "--key", s.at("node-n2-key.pem")}
	for i := range s.nodes {
		s.put(i, s.made, s.three(i)...)
	}
	s.startAll()
	s.client = s.connect(credentials{ca: s.at("ca.pem")})
	s.alike()
	g.may(g.ann, "agent", "list") // nobody is judged yet

	g.first()
	g.people()
	g.ordered()
	g.revoked()
	g.failover()
	g.secrets()
}

// first turns authorization on.
func (g *guarded) first() {
	_, stderr, exit := g.asks(0, nil, "auth", "bootstrap", "--out", g.admin)
	require.Equal(g.t, api.ExitDone, exit, stderr)
	secret, err := os.ReadFile(g.admin)
	require.NoError(g.t, err)
	config, err := credentials{ca: g.at("ca.pem")}.config()
	require.NoError(g.t, err)
	g.client, err = client.New([]string{g.url(0), g.url(1), g.url(2)}, client.Options{
		Timeout: 2 * time.Minute, TLS: config, Token: strings.TrimSpace(string(secret)),
	})
	require.NoError(g.t, err)
	g.t.Cleanup(g.client.Close)
	g.mayNot("no credential", nil, "agent", "list")
	g.mayNot("there is no principal ann", g.ann, "agent", "list")
	g.may(token(g.admin), "agent", "list")
	_, stderr, exit = g.asks(1, token(g.admin), "auth", "bootstrap", "--out", g.admin+"2")
	require.Equal(g.t, api.ExitRefused, exit, stderr)
}

// people are let do a little.
func (g *guarded) people() {
	admin := func(args ...string) {
		g.t.Helper()
		_, stderr, exit := g.asks(1, token(g.admin), args...)
		require.Equal(g.t, api.ExitDone, exit, "%v: %s", args, stderr)
	}
	admin("auth", "principal", "create", "ann", "--role", "reader")
	admin("auth", "role", "put", "billing", "--grant", "ALLOW shared.* billing/**", "--grant", "DENY shared.write billing/frozen", "--grant", "ALLOW log.read **",
		"--grant", "ALLOW cluster.read **", "--grant", "ALLOW node.read **")
	admin("auth", "principal", "create", "bob", "--role", "billing")
	admin("auth", "token", "create", "bob", "--out", g.bob)

	g.may(g.ann, "agent", "list")
	g.mayNot("may not do shared.write on billing/k", g.ann, "shared", "put", "billing", "k", "1")
	g.may(token(g.bob), "shared", "put", "billing", "k", "1")
	g.mayNot("may not do shared.write on other/k", token(g.bob), "shared", "put", "other", "k", "1")
	g.mayNot("the role billing denies it", token(g.bob), "shared", "put", "billing", "frozen", "1")
	g.mayNot("may not do agent.list", token(g.bob), "agent", "list")

	g.mayNot("a node's certificate is for repairing who may do what", g.repair, "agent", "list")
	again := filepath.Join(g.t.TempDir(), "again.token")
	_, stderr, exit := g.asks(2, g.repair, "auth", "token", "create", "admin", "--out", again)
	require.Equal(g.t, api.ExitDone, exit, "AU-8: %s", stderr)
	g.may(token(again), "agent", "list")
	log := g.may(token(g.admin), "log", "--from", "1", "--limit", "1000", "-o", "json")
	require.Contains(g.t, log, `"principal":"node:n2#cert:`)
	require.Contains(g.t, log, `"principal":"bob#`)
}

// ordered: what operators have nodes do is on record with who it was, whichever node
// does it (AU-10).
func (g *guarded) ordered() {
	admin := func(args ...string) string {
		g.t.Helper()
		stdout, stderr, exit := g.asks(0, token(g.admin), args...)
		require.Equal(g.t, api.ExitDone, exit, "%v: %s", args, stderr)
		return stdout
	}
	var who api.Whoami
	require.NoError(g.t, json.Unmarshal([]byte(admin("auth", "whoami", "-o", "json")), &who))
	by := who.Principal + "#" + who.Credential
	g.mayNot("may not do node.pause on n2", token(g.bob), "node", "pause", "n2")
	for i := range g.nodes {
		var paused api.NodeOrdered
		require.NoError(g.t, json.Unmarshal([]byte(admin("node", "pause", g.id(i), "--reason", "new disks", "-o", "json")), &paused))
		require.Empty(g.t, paused.NotOnRecord)
		admin("node", "resume", g.id(i))
		require.Contains(g.t, admin("node", "journal", g.id(i)), by)
		said := admin("log", "--from", strconv.FormatUint(paused.BusSeq, 10), "--limit", "3", "-o", "json")
		require.Contains(g.t, said, fmt.Sprintf(`{"action":"node.pause","by":%q,"detail":"new disks","resource":%q}`, by, g.id(i)))
	}
	admin("cluster", "transfer")
	require.Contains(g.t, admin("log", "-o", "json"), fmt.Sprintf(`{"action":"cluster.transfer","by":%q,"resource":"_"}`, by))
}

// revoked is a token that somebody watches by, and a certificate.
func (g *guarded) revoked() {
	var who api.Whoami
	require.NoError(g.t, json.Unmarshal([]byte(g.may(token(g.bob), "auth", "whoami", "-o", "json")), &who))
	watch := exec.CommandContext(g.t.Context(), g.omni, "log", "--follow", "--server", g.url(2), "--token-file", g.bob)
	out, err := os.Create(filepath.Join(g.t.TempDir(), "watch"))
	require.NoError(g.t, err)
	defer out.Close()
	watch.Stdout, watch.Stderr = out, out
	require.NoError(g.t, watch.Start())
	said := func(text string) func() bool {
		return func() bool {
			content, err := os.ReadFile(out.Name())
			return err == nil && strings.Contains(string(content), text)
		}
	}
	require.Eventually(g.t, said("AUTH_BOOTSTRAP"), time.Minute, 20*time.Millisecond, "it watches")
	_, stderr, exit := g.asks(0, token(g.admin), "auth", "token", "revoke", who.Credential, "--reason", "lost")
	require.Equal(g.t, api.ExitDone, exit, stderr)
	g.mayNot("the credential was revoked", token(g.bob), "shared", "get", "billing", "k")
	g.mayNot("the credential was revoked", token(g.bob), "shared", "put", "billing", "k", "2")
	require.Error(g.t, watch.Wait(), "the watch is over")
	assert.True(g.t, said("the credential was revoked")())

	require.NoError(g.t, json.Unmarshal([]byte(g.may(g.ann, "auth", "whoami", "-o", "json")), &who))
	require.Contains(g.t, who.Credential, "cert:")
	_, stderr, exit = g.asks(0, token(g.admin), "auth", "token", "revoke", who.Credential, "--reason", "lost")
	require.Equal(g.t, api.ExitDone, exit, stderr)
	g.mayNot("the credential was revoked", g.ann, "agent", "list")
}

// failover: it is the cluster's, whoever leads, and whenever it started.
func (g *guarded) failover() {
	leader := g.alike().Leader
	for i := range g.nodes {
		if g.id(i) == leader {
			g.kill(i)
			_, stderr, exit := g.asks((i+1)%3, token(g.bob), "shared", "get", "billing", "k")
			require.Equal(g.t, api.ExitRefused, exit, stderr)
			_, stderr, exit = g.asks((i+1)%3, token(g.admin), "shared", "put", "billing", "k", "3")
			require.Equal(g.t, api.ExitDone, exit, stderr)
			g.start(i)
		}
	}
	g.alike()
	g.stopAll()
	g.startAll()
	g.alike()
	g.mayNot("the credential was revoked", token(g.bob), "shared", "get", "billing", "k")
	require.Equal(g.t, "3", strings.TrimSpace(g.may(token(g.admin), "shared", "get", "billing", "k")))
	require.Contains(g.t, g.may(token(g.admin), "log", "audit"), "the log keeps to the rules")
}

// secrets are the tokens' owners' alone.
func (g *guarded) secrets() {
	g.stopAll()
	for _, file := range []string{g.admin, g.bob} {
		content, err := os.ReadFile(file)
		require.NoError(g.t, err)
		bearer, ok := api.ParseBearer(strings.TrimSpace(string(content)))
		require.True(g.t, ok)
		looked := 0
		for _, dir := range append([]string{g.output}, g.dirs...) {
			require.NoError(g.t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				content, err := os.ReadFile(path)
				looked++
				assert.NotContains(g.t, string(content), bearer.Secret, path)
				return err
			}))
		}
		require.Greater(g.t, looked, 9)
	}
}
