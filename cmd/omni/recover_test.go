package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/survivor"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Two of three nodes are lost. The one that is left is made the only member, by
// somebody who has seen what that means; everything acknowledged that it had is there,
// who may do what as well; the log says what happened, and two new nodes make three again
// (ME-8). The lost ones come back with what they had, and disturb nobody (ME-9).
func TestLostMajority(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.startAll()
	admin := p.guards()
	f := &traffic{client: p.client, name: "lost"}
	p.fill(f, 40)
	p.alike() // the survivor has it all
	for i := range p.nodes {
		p.kill(i)
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
	p.lostComeBack()
	p.fill(f, 10)
	fourth, fifth := p.joins(admin...), p.joins(admin...)
	p.members("three vote again", func(m map[string]api.Member) bool {
		return len(m) == 3 && m["n1"].Voter && m["n4"].Voter && m["n5"].Voter
	})
	p.fill(f, 10)
	p.alike()
	p.whole()
	require.Contains(t, p.omniWith("log", "--from", "1", "--limit", "1000", "-o", "json", "--server", p.url(fourth), admin[0], admin[1]), `"recovery:n1"`)
	require.Contains(t, p.omniWith("log", "audit", "--server", p.url(fifth), admin[0], admin[1]), "the log keeps to the rules")
	own, err := datadir.Lineage(p.dirs[0])
	require.NoError(t, err)
	require.Len(t, own, 8)
	for _, i := range []int{fourth, fifth} {
		through, err := datadir.Lineage(p.dirs[i])
		require.NoError(t, err)
		require.Equal(t, own, through, "they refuse the lost ones, too")
	}
	dirs := []string{p.dirs[0], p.dirs[fourth], p.dirs[fifth]}
	for _, i := range []int{fifth, fourth, 0} {
		p.stop(i)
	}
	p.dirs = dirs
	p.requireSameLogs(f)
}

// guards turns authorization on, and gives the flags by which somebody may do all.
func (p *processes) guards() (admin []string) {
	p.t.Helper()
	p.alike()
	file := filepath.Join(p.t.TempDir(), "admin.token")
	p.omniWith("auth", "bootstrap", "--out", file, "--server", p.url(0))
	secret, err := os.ReadFile(file)
	require.NoError(p.t, err)
	var urls []string
	for i := range p.nodes {
		urls = append(urls, p.url(i))
	}
	p.client.Close()
	p.client, err = client.New(urls, client.Options{Timeout: time.Minute, Token: strings.TrimSpace(string(secret))})
	require.NoError(p.t, err)
	return []string{"--token-file", file}
}

// lostComeBack starts the lost members of a recovered cluster with what they had. Both
// find out, stop, say why, and do not start again.
func (p *processes) lostComeBack() {
	p.t.Helper()
	for range 2 {
		p.start(1)
		p.start(2)
		for _, lost := range []int{1, 2} {
			cmd := p.nodes[lost]
			late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			var exit *exec.ExitError
			require.True(p.t, errors.As(cmd.Wait(), &exit))
			late.Stop()
			require.Equal(p.t, int(api.ExitRefused), exit.ExitCode())
			p.nodes[lost] = nil
			require.Positive(p.t, p.said(lost, "was recovered without this node"))
			require.FileExists(p.t, filepath.Join(p.dirs[lost], "OUTLIVED"))
		}
	}
	require.Positive(p.t, p.said(0, "a node was turned away"))
}
