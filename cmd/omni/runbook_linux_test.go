package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// runbook is docs/operations.md at work.
type runbook struct {
	*bookShell
	load *steady
}

// bookStep is what happens around a section of the page: why somebody turns to it, and
// what must be so after its commands.
type bookStep struct{ before, after func(*runbook) }

var bookSteps = map[string]bookStep{
	"Before anything else": {},
	"Three nodes":          {nil, (*runbook).three},
	"Two more nodes":       {nil, (*runbook).five},
	"A lost node":          {(*runbook).losesOne, (*runbook).replaced},
}

// Every command of docs/operations.md runs, in order, in one shell, and prints what the
// page says. Meanwhile commands come in; none fails, and each that was acknowledged is
// there once.
func TestRunbook(t *testing.T) {
	r := &runbook{bookShell: newBookShell(t, 6)}
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

// three nodes are there, and begin to be used.
func (r *runbook) three() {
	r.uses("tls", 0, 1, 2)
	r.load = beginSteady(r.t, r.client, 10*time.Millisecond)
	r.holds("n1", "n2", "n3")
}

func (r *runbook) five() { r.holds("n1", "n2", "n3", "n4", "n5") }

func (r *runbook) losesOne() {
	r.loses(1)
	r.load.goesOn(r.t)
}

func (r *runbook) replaced() { r.holds("n1", "n3", "n4", "n5", "n6") }

// uses has the test ask these nodes from now on, as the administrator.
func (r *runbook) uses(authority string, nodes ...int) {
	r.t.Helper()
	config, err := credentials{ca: filepath.Join(r.dir, authority, "ca.pem")}.config()
	require.NoError(r.t, err)
	token, err := os.ReadFile(filepath.Join(r.dir, "admin.token"))
	require.NoError(r.t, err)
	var servers []string
	for _, i := range nodes {
		servers = append(servers, r.url(i))
	}
	r.client, err = client.New(servers, client.Options{Timeout: 2 * time.Minute, TLS: config, Token: strings.TrimSpace(string(token))})
	require.NoError(r.t, err)
	r.t.Cleanup(r.client.Close)
}

// loses takes a node's process and its disk away.
func (r *runbook) loses(i int) {
	r.t.Helper()
	r.kill(i)
	require.NoError(r.t, os.RemoveAll(r.dirs[i]))
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
	require.Zero(r.t, r.load.failed.Load(), "commands that failed: %v", r.load.last.Load())
	r.alike()
	require.EqualValues(r.t, r.load.done.Load(), r.defined())
}

// defined counts the agents that the load has defined, each of which must be there once.
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
