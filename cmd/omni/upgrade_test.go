//go:build upgrade

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// version1Commit is the last one whose binary knows kernel version 1 only.
const version1Commit = "ec8be96288ba231f6102de1117fac781523cf2dc"

// oldBinary builds omni as it was at that commit, from the repository's own history. A
// checkout without it has no such test: make upgrade-test says so.
func oldBinary(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	archive := exec.Command("git", "-C", root, "archive", version1Commit)
	unpack := exec.Command("tar", "-x", "-C", dir)
	unpack.Stdin, err = archive.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, unpack.Start())
	require.NoError(t, archive.Run())
	require.NoError(t, unpack.Wait())
	build := exec.Command("go", "build", "-o", "omni-version1", "./cmd/omni")
	build.Dir = dir
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return filepath.Join(dir, "omni-version1")
}

// EV-9: a cluster of a binary that knows kernel version 1 only is upgraded node by node
// while commands come in. As long as one node is old the version stays; when the last one
// is new it rises, and what came with it works. What was acknowledged is there once, every
// node has the same log, and the old binary does not start on a new directory.
func TestLiveUpgrade(t *testing.T) {
	old := oldBinary(t)
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, serverFlagsOf(testStore())...)
	current := p.omni
	p.omni = old
	p.startAll()
	p.alike()
	early := p.startEarly()

	f := &traffic{client: p.client, name: "upgrade"}
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() { f.run(ctx, 1) })
	defer load.Wait()
	defer cancel()
	for i := range p.nodes {
		p.grows(f)
		p.stop(i)
		p.omni = current
		p.start(i)
		require.Eventually(t, func() bool { return p.up(i) }, time.Minute, 20*time.Millisecond)
		p.grows(f)
		if i < len(p.nodes)-1 { // a majority is new by now, or is not
			status, err := p.client.Status(t.Context())
			require.NoError(t, err)
			for _, n := range status.Nodes {
				require.LessOrEqual(t, n.KernelVersion, uint32(1), "%s: some node is old", n.ID)
			}
			p.omni = old
		}
	}
	p.risesTo(2)
	p.grows(f)
	cancel()
	load.Wait()
	status := p.alike()
	for _, n := range status.Nodes {
		assert.EqualValues(t, 2, n.KernelVersion, n.ID)
	}
	require.Contains(t, p.run("cluster", "status"), "\nkernel version 2\n")

	for i := range p.nodes { // new to new
		p.stop(i)
		p.start(i)
		require.Eventually(t, func() bool { return p.up(i) }, time.Minute, 20*time.Millisecond)
		p.alike()
	}
	p.omni = current
	p.requireReplays(0, &early) // stops all of them
	p.requireSameLogs(f)

	node := exec.Command(old, "server", "--node", "n1", "--data-dir", p.dirs[0], "--api-addr", p.api[0], "--raft-addr", p.raft[0],
		"--peer", "n1="+p.raft[0]+"="+p.url(0), "--start-attempts", "1")
	var says bytes.Buffer
	node.Stdout, node.Stderr = &says, &says
	require.Error(t, node.Run())
	require.Contains(t, says.String(), "the data directory was written by a newer version")
	_, err := os.Stat(filepath.Join(p.dirs[0], "DIVERGED"))
	require.ErrorIs(t, err, os.ErrNotExist, "and nothing became of it")
}

// grows waits until more commands were acknowledged.
func (p *processes) grows(f *traffic) {
	p.t.Helper()
	before := f.count()
	require.Eventually(p.t, func() bool { return f.count() > before+20 }, time.Minute, 10*time.Millisecond)
}

// risesTo waits until every node has the kernel version.
func (p *processes) risesTo(version uint32) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		status, err := p.client.Status(p.t.Context())
		if err != nil {
			return false
		}
		for _, n := range status.Nodes {
			if n.KernelVersion != version {
				return false
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond)
}

// count is how many commands were acknowledged.
func (f *traffic) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.acked)
}
