package main

import (
	"errors"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

// joins starts one more node with one command, and gives which it is. The same command
// starts it again.
func (p *processes) joins(more ...string) int {
	p.t.Helper()
	addresses := freeAddresses(p.t, 2)
	p.api, p.raft = append(p.api, addresses[0]), append(p.raft, addresses[1])
	p.dirs, p.nodes = append(p.dirs, p.t.TempDir()), append(p.nodes, nil)
	i := len(p.nodes) - 1
	p.rejoins(i, more...)
	return i
}

func (p *processes) rejoins(i int, more ...string) {
	p.t.Helper()
	args := []string{
		"cluster", "join", "--server", p.url(0), "--node", p.id(i), "--data-dir", p.dirs[i], "--api-addr", p.api[i], "--raft-addr", p.raft[i],
	}
	p.launch(i, p.omni, slices.Concat(args, p.flags, more))
}

// members waits until the cluster lists what is wanted of it.
func (p *processes) members(what string, wanted func(map[string]api.Member) bool) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		list, err := p.client.Members(p.t.Context())
		if err != nil {
			return false
		}
		found := make(map[string]api.Member)
		for _, m := range list.Members {
			found[m.ID] = m
		}
		return wanted(found)
	}, time.Minute, 20*time.Millisecond, what)
}

// One command starts a node and makes it a voter; one command replaces a node. Who was
// removed stops by itself and does not start again; the others find whoever leads, also
// where nobody was told of it (ME-1, ME-4, ME-7).
func TestJoinAndReplace(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.unaudited = true // one node is gone in the end
	p.startAll()
	p.alike()
	f := &traffic{client: p.client, name: "join"}
	p.fill(f, 50)

	joined := p.joins()
	p.members("n4 votes", func(m map[string]api.Member) bool { return m["n4"].Voter && m["n4"].API == p.url(joined) })
	p.kill(joined)
	p.rejoins(joined)
	p.fill(f, 50)

	leaver := 1
	replacing := p.joins("--replace", p.id(leaver))
	p.members("n5 votes, and n2 is no member", func(m map[string]api.Member) bool {
		_, there := m["n2"]
		return m["n5"].Voter && !there
	})
	var exit *exec.ExitError
	require.True(t, errors.As(p.nodes[leaver].Wait(), &exit))
	require.Equal(t, int(api.ExitRefused), exit.ExitCode())
	p.nodes[leaver] = nil
	require.Positive(t, p.said(leaver, "was removed from its cluster"))
	p.start(leaver)
	require.True(t, errors.As(p.nodes[leaver].Wait(), &exit), "it does not start again")
	require.Equal(t, int(api.ExitRefused), exit.ExitCode())
	p.nodes[leaver] = nil

	require.Eventually(t, func() bool { // n1, which was started with a list of three, leads the way to it
		done, err := p.client.Transfer(t.Context(), p.id(replacing))
		return err == nil && done.Leader != "n1"
	}, time.Minute, 50*time.Millisecond)
	require.Contains(t, p.omniWith("shared", "put", "join", "key", "1", "--server", p.url(0)), "key")
	p.fill(f, 20)
	p.alike()
	require.Contains(t, p.omniWith("cluster", "list", "--server", p.url(0)), "4 voters, 4 answer")
	require.Positive(t, p.said(replacing, "the node that this one replaces was removed"))
}
