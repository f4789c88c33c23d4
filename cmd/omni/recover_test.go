package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/survivor"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Two of three nodes are lost for ever. The one that is left is made the only member,
// by somebody who has seen what that means; everything acknowledged that it had is there,
// the log says what happened, and two new nodes make three again (ME-8).
func TestLostMajority(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.startAll()
	f := &traffic{client: p.client, name: "lost"}
	p.fill(f, 40)
	p.alike() // the survivor has it all
	for i := range p.nodes {
		p.kill(i)
	}
	for _, lost := range []int{1, 2} {
		require.NoError(t, os.RemoveAll(p.dirs[lost]))
	}
	p.unaudited = true // here it is audited below

	tool := func(more ...string) (found survivor.Finding, err error) {
		args := append([]string{"cluster", "recover", "--data-dir", p.dirs[0], "--store", string(testStore()), "-o", "json"}, more...)
		output, err := exec.CommandContext(t.Context(), p.omni, args...).Output()
		if err == nil {
			require.NoError(t, json.Unmarshal(output, &found), "%s", output)
		}
		return found, err
	}
	found, err := tool()
	require.NoError(t, err)
	require.Len(t, found.Members, 3)
	require.Zero(t, found.Index, "it only looks")
	require.GreaterOrEqual(t, found.Last, found.Applied)
	require.GreaterOrEqual(t, found.Last, f.acked[len(f.acked)-1].index)
	var exit *exec.ExitError
	_, err = tool("--confirm", "000000000000")
	require.True(t, errors.As(err, &exit), "it wants the token that it printed")
	require.Equal(t, int(api.ExitRefused), exit.ExitCode())
	done, err := tool("--confirm", found.Token)
	require.NoError(t, err)
	require.Equal(t, found.Last+1, done.Index)
	require.DirExists(t, done.Copy)
	_, err = tool("--confirm", found.Token)
	require.Error(t, err, "it is alone already")

	p.start(0)
	p.fill(f, 10)
	fourth, fifth := p.joins(), p.joins()
	p.members("three vote again", func(m map[string]api.Member) bool {
		return len(m) == 3 && m["n1"].Voter && m["n4"].Voter && m["n5"].Voter
	})
	p.fill(f, 10)
	p.alike()
	p.whole()
	require.Contains(t, p.omniWith("log", "--from", "1", "--limit", "1000", "-o", "json", "--server", p.url(fourth)), `"recovery:n1"`)
	require.Contains(t, p.omniWith("log", "audit", "--server", p.url(fifth)), "the log keeps to the rules")
	dirs := []string{p.dirs[0], p.dirs[fourth], p.dirs[fifth]}
	for _, i := range []int{fifth, fourth, 0} {
		p.stop(i)
	}
	p.dirs = dirs
	p.requireSameLogs(f)
}
