package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// runbook is docs/operations.md at work.
type runbook struct {
	*bookShell
	load  *steady
	next  chan error // the program to upgrade to is built
	saved int64      // commands that were acknowledged before the backup
	begun int64      // … and when it was there
	least int64      // agents that must be there: those of the backup, and of the load so far
}

// bookStep is what happens around a section of the page: why somebody turns to it, and
// what must be so after its commands.
type bookStep struct{ before, after func(*runbook) }

var bookSteps = map[string]bookStep{
	"Before anything else": {},
	"Three nodes":          {nil, (*runbook).three},
	"Two more nodes":       {nil, (*runbook).five},
	"A lost node":          {(*runbook).losesOne, (*runbook).replaced},
	"Maintenance":          {nil, (*runbook).replaced},
	"Fewer nodes":          {nil, (*runbook).fewer},
	"Upgrade":              {(*runbook).hasNext, (*runbook).upgraded},
	"Backup":               {(*runbook).beforeBackup, (*runbook).afterBackup},
	"Everything is lost":   {(*runbook).losesAll, (*runbook).restored},
	"A lost majority":      {(*runbook).losesMost, (*runbook).recovered},
	"Certificates":         {(*runbook).pauses, (*runbook).renewed},
	"A lost credential":    {nil, nil},
}

// Every block of commands of docs/operations.md runs, in order, in one shell, and prints what the
// page says. Meanwhile commands come in; none fails, and each that was acknowledged is
// there once.
func TestRunbook(t *testing.T) {
	r := &runbook{bookShell: newBookShell(t, 6), next: make(chan error, 1)}
	r.buildNext()
	steps := 0
	for _, part := range partsOf(t, "operations.md") {
		step, known := bookSteps[part.heading]
		require.Equal(t, known, len(part.blocks) > 0, "%s: every section with commands is one that this test knows", part.heading)
		if !known {
			continue
		}
		steps++
		began := time.Now()
		if step.before != nil {
			step.before(r)
		}
		output := ""
		for _, block := range part.blocks {
			switch block.kind {
			case "sh":
				output = r.types(block)
			case "text":
				missing := printed(strings.ReplaceAll(block.text, "10.0.0.", r.net), output)
				require.Empty(t, missing, "docs/operations.md, line %d: it printed\n%s", block.line, output)
			default:
				require.FailNow(t, "a block is sh or text", "line %d: %q", block.line, block.kind)
			}
		}
		if step.after != nil {
			step.after(r)
		}
		t.Logf("%s: %v", part.heading, time.Since(began).Round(time.Millisecond))
	}
	require.Len(t, bookSteps, steps)
}

// loadPause keeps the load light: the nodes of all sections are on one machine.
const loadPause = 10 * time.Millisecond

// three nodes are there, and begin to be used.
func (r *runbook) three() {
	r.uses("tls", 0, 1, 2)
	r.load = beginSteady(r.t, r.client, "load", loadPause)
	r.holds("n1", "n2", "n3")
}

func (r *runbook) five() { r.holds("n1", "n2", "n3", "n4", "n5") }

func (r *runbook) losesOne() {
	r.loses(1)
	r.load.goesOn(r.t)
	r.fails("n2: the node does not answer; 5 of 7 vote", "tls", "cluster", "status", "--wait", "--voters", "7", "--timeout", "2s")
}

// fails: a command that waits says what is missing, and its exit code is that of a check
// that does not hold.
func (r *runbook) fails(why, authority string, args ...string) {
	r.t.Helper()
	at := func(name string) string { return filepath.Join(r.dir, name) }
	args = append(args, "--server", r.url(0), "--ca-cert", at(authority+"/ca.pem"), "--token-file", at("admin.token"))
	said := ""
	require.Eventually(r.t, func() bool { // on a busy machine nobody may answer in time
		_, stderr, exit := omni(r.t, args...)
		said = stderr
		return exit == api.ExitRefused && strings.Contains(stderr, why)
	}, time.Minute, time.Millisecond)
	require.Contains(r.t, said, "error: ")
}

func (r *runbook) replaced() { r.holds("n1", "n3", "n4", "n5", "n6") }

func (r *runbook) fewer() { r.holds("n1", "n3", "n4") }

// nextVersion is what the program says that the cluster is upgraded to: today's source,
// which knows one kernel version more.
const nextVersion = "v0.0.0-next"

// buildNext builds it while the first sections run.
func (r *runbook) buildNext() {
	root, err := filepath.Abs("../..")
	require.NoError(r.t, err)
	file := filepath.Join(root, "kernel/config/config.go")
	source, err := os.ReadFile(file)
	require.NoError(r.t, err)
	const line = "\nconst Version = %d\n"
	now, then := fmt.Sprintf(line, config.Version), fmt.Sprintf(line, config.Version+1)
	require.Equal(r.t, 1, strings.Count(string(source), now))
	dir := r.t.TempDir()
	other := filepath.Join(dir, "config.go")
	require.NoError(r.t, os.WriteFile(other, []byte(strings.Replace(string(source), now, then, 1)), 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: other}})
	require.NoError(r.t, err)
	require.NoError(r.t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	build := exec.CommandContext(r.t.Context(), "nice", "-n", "19", "go", "build", "-buildvcs=false", "-ldflags", "-s -w -X main.versionText="+nextVersion,
		"-overlay", filepath.Join(dir, "overlay.json"), "-o", filepath.Join(r.dir, "omni-new"), "./cmd/omni")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0", "PWD="+root) // the overlay names files as seen from here, also through a link
	done := make(chan struct{})
	go func() {
		defer close(done)
		if output, err := build.CombinedOutput(); err != nil {
			r.next <- fmt.Errorf("%w: %s", err, output)
		}
		close(r.next)
	}()
	r.t.Cleanup(func() { <-done }) // it writes to the test's directories
}

func (r *runbook) hasNext() {
	require.NoError(r.t, <-r.next)
	r.load.goesOn(r.t)
}

// upgraded: every node is new, and so is the kernel's version.
func (r *runbook) upgraded() {
	r.holds("n1", "n3", "n4")
	status, err := r.client.Status(r.t.Context())
	require.NoError(r.t, err)
	require.EqualValues(r.t, config.Version+1, status.KernelVersion)
	for _, n := range status.Nodes {
		require.Equal(r.t, nextVersion, n.Version, n.ID)
	}
}

func (r *runbook) beforeBackup() { r.saved = r.load.done.Load() }

func (r *runbook) afterBackup() {
	r.begun = r.load.done.Load() + 1 // one may be under way
	r.load.goesOn(r.t)
	r.holds("n1", "n3", "n4")
}

func (r *runbook) losesAll() {
	require.Zero(r.t, r.load.end(r.t))
	require.Greater(r.t, r.load.done.Load(), r.begun, "what the backup cannot have")
	for i := range r.nodes {
		r.loses(i)
	}
}

// restored: what was acknowledged before the backup is there, and nothing from after it.
func (r *runbook) restored() {
	r.uses("tls-2", 0, 1, 2)
	r.alike()
	there := r.defined()
	require.GreaterOrEqual(r.t, there, r.saved)
	require.LessOrEqual(r.t, there, r.begun)
	r.goesOnFrom(there)
	r.holds("n1", "n2", "n3")
}

// goesOnFrom begins to count anew: so many agents are there.
func (r *runbook) goesOnFrom(there int64) {
	r.least = there
	r.load = beginSteady(r.t, r.client, fmt.Sprintf("after-%d", there), loadPause)
}

func (r *runbook) losesMost() {
	require.Zero(r.t, r.load.end(r.t))
	r.alike() // the one that is left has it all
	r.loses(1)
	r.loses(2)
}

func (r *runbook) recovered() {
	r.uses("tls-2", 0, 3, 4)
	r.goesOnFrom(r.defined())
	r.holds("n1", "n4", "n5")
}

// pauses: the test's own client trusts one authority. TestTLS goes over to another one
// under load.
func (r *runbook) pauses() {
	require.Zero(r.t, r.load.end(r.t))
	r.fails("n1 does not use ", "tls-2", "node", "status", "n1", "--uses", filepath.Join(r.dir, "tls-2/node-n4.pem"), "--timeout", "2s")
}

func (r *runbook) renewed() {
	r.uses("tls-2", 0, 3, 4)
	r.goesOnFrom(r.least + r.load.done.Load())
	r.holds("n1", "n4", "n5")
}

// uses has the test ask these nodes from now on, as the administrator.
func (r *runbook) uses(authority string, nodes ...int) {
	r.t.Helper()
	trust, err := credentials{ca: filepath.Join(r.dir, authority, "ca.pem")}.config()
	require.NoError(r.t, err)
	token, err := os.ReadFile(filepath.Join(r.dir, "admin.token"))
	require.NoError(r.t, err)
	var servers []string
	for _, i := range nodes {
		servers = append(servers, r.url(i))
	}
	r.client, err = client.New(servers, client.Options{Timeout: 2 * time.Minute, TLS: trust, Token: strings.TrimSpace(string(token))})
	require.NoError(r.t, err)
	r.t.Cleanup(r.client.Close)
}

// loses takes a node's process and its disk away. The machine that comes in its place is
// made ready with the program that the cluster has by then.
func (r *runbook) loses(i int) {
	r.t.Helper()
	r.kill(i)
	require.NoError(r.t, os.RemoveAll(filepath.Join(r.machines, r.id(i))))
	r.prepare(r.id(i), filepath.Join(r.machines, "safe/usr/local/bin/omni"))
}

// holds: these are the members, they vote, they are alike, and whatever was acknowledged
// is there once.
func (r *runbook) holds(members ...string) {
	r.t.Helper()
	r.load.goesOn(r.t)
	r.members(strings.Join(members, ", "), func(found map[string]api.Member) bool {
		for _, id := range members {
			if !found[id].Voter || !found[id].Healthy {
				return false
			}
		}
		return len(found) == len(members)
	})
	r.load.quiet.Lock()
	defer r.load.quiet.Unlock()
	if failure := r.load.last.Load(); failure != nil {
		require.NoError(r.t, *failure, "of the load")
	}
	r.alike()
	require.Equal(r.t, r.least+r.load.done.Load(), r.defined())
}

// defined counts the agents that the loads have defined, each of which must be there once.
func (r *runbook) defined() (count int64) {
	r.t.Helper()
	names := make(map[string]bool)
	for q := (api.AgentQuery{Limit: api.MaxPageItems}); ; {
		page, err := r.client.Agents(r.t.Context(), q)
		require.NoError(r.t, err)
		for _, a := range page.Agents {
			require.False(r.t, names[a.Name], "%s is there twice", a.Name)
			names[a.Name] = true
			count++
		}
		if q.After = page.Next; page.Next == "" {
			return count
		}
	}
}
