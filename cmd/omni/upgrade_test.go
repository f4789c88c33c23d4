//go:build upgrade

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/logging"
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
	rest := f.begin(t, 1)
	for i := range p.nodes {
		p.grows(f)
		p.stop(i)
		p.omni = current
		p.start(i)
		require.Eventually(t, func() bool { return p.up(i) }, time.Minute, 20*time.Millisecond)
		p.grows(f)
		if i < len(p.nodes)-1 { // a majority is new by now, or is not
			rest()
			p.mixed(i)
			rest = f.begin(t, uint64(i+2))
			p.omni = old
		}
	}
	p.risesTo(2)
	p.grows(f)
	rest()
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
	p.requireNothingOfLaterVersions()

	node := exec.Command(old, "server", "--node", "n1", "--data-dir", p.dirs[0], "--api-addr", p.api[0], "--raft-addr", p.raft[0],
		"--peer", "n1="+p.raft[0]+"="+p.url(0), "--start-attempts", "1")
	var says bytes.Buffer
	node.Stdout, node.Stderr = &says, &says
	require.Error(t, node.Run())
	require.Contains(t, says.String(), "the data directory was written by a newer version")
	_, err := os.Stat(filepath.Join(p.dirs[0], "DIVERGED"))
	require.ErrorIs(t, err, os.ErrNotExist, "and nothing became of it")
}

// begin lets commands come in until rest is called.
func (f *traffic) begin(t *testing.T, seed uint64) (rest func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() { f.run(ctx, seed) })
	rest = func() {
		cancel()
		load.Wait()
	}
	t.Cleanup(rest)
	return rest
}

// mixed looks at a cluster of which some nodes are old, while no commands come in: all have
// the same chain, at version 1, and a command of version 2 is refused as that by a new
// node that leads.
func (p *processes) mixed(leader int) {
	p.t.Helper()
	status := p.alike()
	for _, n := range status.Nodes {
		require.LessOrEqual(p.t, n.KernelVersion, uint32(1), "%s: some node is old", n.ID)
		require.Equal(p.t, status.Nodes[0].Digest, n.Digest, n.ID)
		require.NotEmpty(p.t, n.Digest, n.ID)
	}
	told, taken := "", false
	require.Eventually(p.t, func() bool {
		if status, err := p.client.Status(p.t.Context()); err != nil || status.Leader != p.id(leader) {
			_, _ = p.client.Transfer(p.t.Context(), p.id(leader)) // it may take a moment
			return false
		}
		told, taken = p.bootstrapAt(leader)
		return taken || strings.Contains(told, cluster.CodeVersionTooLow)
	}, time.Minute, 100*time.Millisecond)
	require.False(p.t, taken, "%s", told)
	require.Contains(p.t, told, "AUTH_BOOTSTRAP came with kernel version 2, and the cluster is at 1")
	for _, n := range p.alike().Nodes {
		require.LessOrEqual(p.t, n.KernelVersion, uint32(1), n.ID)
	}
}

// bootstrapAt asks one node, and no other, to turn authorization on, and gives what it says.
func (p *processes) bootstrapAt(i int) (says string, taken bool) {
	body := `{"credential":"firsttoken","hash":"` + strings.Repeat("ab", 32) + `"}`
	response, err := http.Post(p.url(i)+"/v1/kernels/default/auth/bootstrap", "application/json", strings.NewReader(body))
	if err != nil {
		return err.Error(), false
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	return string(answer), response.StatusCode == http.StatusOK
}

// requireNothingOfLaterVersions looks through the logs of stopped nodes: what was refused
// before the cluster rose left nothing in them.
func (p *processes) requireNothingOfLaterVersions() {
	p.t.Helper()
	for i := range p.dirs {
		blocks, _ := blocksOf(p.t, p.logDir(i))
		rises := 0
		for _, raw := range blocks {
			block, err := logging.Decode(raw)
			require.NoError(p.t, err)
			records := block.Records()
			require.True(p.t, records.Next())
			recorded, ok := event.DecodeRecorded(records.Record.Body)
			require.True(p.t, ok)
			require.EqualValues(p.t, 1, recorded.Event.Kind.Since(), "%s: %s", p.id(i), recorded.Event.Kind)
			if recorded.Event.Kind == event.KernelUpgraded {
				rises++
			}
		}
		require.Equal(p.t, 1, rises, p.id(i))
	}
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
