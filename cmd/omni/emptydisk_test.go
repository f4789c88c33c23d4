package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// A node whose disk is empty comes into a cluster whose Raft logs reach back to a
// snapshot only. Over its API it says what it does not have, until it has it; its
// log verifies then and is the others', byte for byte (LO-1, LO-2, CL-5), and what it
// fetched replays, with nobody else at hand (LO-4).
func TestEmptyDisk(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.startAll()
	p.alike()
	old := p.startEarly()
	f := &traffic{client: p.client, name: "disk"}
	p.fill(f, 600)
	require.Eventually(t, func() bool {
		return p.said(0, "snapshot complete up to") > 0 && p.said(1, "snapshot complete up to") > 0
	}, 30*time.Second, 20*time.Millisecond)
	const empty = 2
	p.kill(empty)
	require.NoError(t, os.RemoveAll(p.dirs[empty]))
	p.start(empty, "--history-max-rate", "1") // MiB a second, so that there is time to look

	said := p.awaitBehind(empty)
	require.Contains(t, p.run("cluster", "status"), "n3: has history from busSeq ")
	status, err := p.client.Status(t.Context())
	require.NoError(t, err)
	require.NotNil(t, status.Nodes[empty].Backfill)
	require.GreaterOrEqual(t, said.First, status.Nodes[empty].HistoryFrom, "it reaches back further and further")
	require.Positive(t, p.said(empty, "Installed remote snapshot"))
	p.fill(f, 100)

	p.whole()
	require.NotContains(t, p.run("cluster", "status"), "has history from")
	code, first := p.read(empty, "/log?limit=1&from=1")
	require.Equal(t, http.StatusOK, code, first)
	require.Contains(t, first, `"bus_seq":1,`)
	p.alike()
	var exports [][]byte
	for i := range p.nodes {
		var export bytes.Buffer
		_, err := p.client.Export(t.Context(), 0, &export, client.Node(p.url(i)))
		require.NoError(t, err)
		exports = append(exports, export.Bytes())
	}
	least := min(len(exports[0]), len(exports[empty])) - 200 // the trailer, and a Checkpoint between the two
	require.True(t, bytes.Equal(exports[0][:least], exports[empty][:least]))
	p.requireReplays(empty, &old)
	p.requireSameLogs(f)
}

// requireReplays replays all history, and one agent's, as a node has it that has
// fetched it (LO-4): while the others are there, and then by itself. All nodes are
// stopped afterwards.
func (p *processes) requireReplays(i int, old *early) {
	p.t.Helper()
	only := func(args ...string) string {
		return p.omniWith(append(args, "--server", p.url(i))...)
	}
	require.Regexp(p.t, `^the log holds: \d+ events applied again, `, only("replay", "--all", "--node", p.id(i)))
	require.Regexp(p.t, `^the log holds: 1 ticks in 3 runs `, only("replay", old.id, "--node", p.id(i)))
	file := filepath.Join(p.t.TempDir(), "log.bin")
	require.NoError(p.t, os.WriteFile(file, []byte(only("log", "export", "--node", p.id(i))), 0o600))
	require.Regexp(p.t, `^the log holds: \d+ events applied again, `, p.omniWith("replay", "--all", file))

	for other := range p.nodes {
		if other != i {
			p.stop(other) // in good order: what a kill takes of a log is derived again, not kept (LO-2)
		}
	}
	for what, path := range map[string]string{"--all": "/log/export", old.id: "/agents/" + old.id + "/export"} {
		code, export := p.read(i, path+"?consistency=stale")
		require.Equal(p.t, http.StatusOK, code, export)
		require.NoError(p.t, os.WriteFile(file, []byte(export), 0o600))
		require.Contains(p.t, p.omniWith("replay", what, file), "the log holds: ")
	}
	p.stop(i)
}

// fill writes so many values of shared memory, all acknowledged.
func (p *processes) fill(f *traffic, count int) {
	p.t.Helper()
	for n := range count {
		mark := fmt.Sprintf("%s-fill-%d-%d.", f.name, len(f.acked), n)
		done, err := p.client.PutShared(p.t.Context(), event.PutShared{
			Namespace: "fill", Key: fmt.Sprint(n % 20), Value: value.Raw(value.AppendString(nil, mark+strings.Repeat("v", 4000))),
		})
		require.NoError(p.t, err)
		f.acked = append(f.acked, acknowledged{done.Index, mark})
	}
}

// awaitBehind waits until a node is up and says what it does not have.
func (p *processes) awaitBehind(i int) (said api.Error) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		code, body := p.read(i, "/log?from=1")
		return code == http.StatusServiceUnavailable && json.Unmarshal([]byte(body), &said) == nil && said.Code == api.CodeHistoryBehind
	}, 30*time.Second, 5*time.Millisecond)
	return said
}

// read asks one node, and no other, over HTTP. The code is 0 without an answer.
func (p *processes) read(i int, path string) (code int, body string) {
	response, err := http.Get(p.url(i) + "/v1/kernels/default" + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	return response.StatusCode, string(content)
}

// run runs omni against the nodes and gives what it printed.
func (p *processes) run(args ...string) string {
	p.t.Helper()
	for i := range p.api {
		args = append(args, "--server", p.url(i))
	}
	return p.omniWith(args...)
}

// omniWith runs omni and gives what it printed to stdout.
func (p *processes) omniWith(args ...string) string {
	p.t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(p.t.Context(), p.omni, args...)
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	require.NoError(p.t, err, "%s: %s", args, &stderr)
	return string(output)
}
