package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// processes are nodes that a test starts and ends one by one: omni server, each
// with a data directory and an output file of its own.
type processes struct {
	t      *testing.T
	omni   string
	flags  []string // of every node
	dirs   []string // data directories
	output string   // directory of the output files
	api    []string
	raft   []string
	nodes  []*exec.Cmd // nil while a node is down
	client *client.Client
	scheme string               // of the APIs
	own    func(i int) []string // flags of one node; may be nil

	unaudited bool // no node has the whole log, or none leads, when the test is over
}

// newProcesses plans three nodes. They are not started.
func newProcesses(t *testing.T, dirs []string, flags ...string) *processes {
	t.Helper()
	omni, err := exec.LookPath("omni")
	require.NoError(t, err)
	p := &processes{t: t, omni: omni, flags: flags, dirs: dirs, output: t.TempDir(), nodes: make([]*exec.Cmd, len(dirs)), scheme: "http://"}
	var apis []string
	for _, address := range freeAddresses(t, 2*len(dirs)) {
		if len(p.api) < len(dirs) {
			p.api = append(p.api, address)
			apis = append(apis, "http://"+address)
			continue
		}
		p.raft = append(p.raft, address)
	}
	p.client, err = client.New(apis, client.Options{Timeout: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() {
		p.audit()
		p.client.Close()
		for i := range p.nodes {
			p.kill(i)
		}
		if t.Failed() {
			p.tell()
		}
	})
	return p
}

// freeAddresses are all held at once, so that they differ.
func freeAddresses(t *testing.T, count int) []string {
	t.Helper()
	var addresses []string
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses
}

func (p *processes) id(i int) string { return fmt.Sprintf("n%d", i+1) }

func (p *processes) url(i int) string { return p.scheme + p.api[i] }

// start starts a node, with more flags when this time is a special one.
func (p *processes) start(i int, more ...string) {
	p.t.Helper()
	args := []string{"server", "--node", p.id(i), "--data-dir", p.dirs[i], "--api-addr", p.api[i], "--raft-addr", p.raft[i]}
	for peer := range p.dirs {
		args = append(args, "--peer", p.id(peer)+"="+p.raft[peer]+"="+p.url(peer))
	}
	if p.own != nil {
		args = append(args, p.own(i)...)
	}
	p.launch(i, p.omni, slices.Concat(args, p.flags, more))
}

// launch starts a node's process, whose output goes on in the node's file.
func (p *processes) launch(i int, program string, args []string) {
	p.t.Helper()
	output, err := os.OpenFile(p.outputOf(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(p.t, err)
	defer output.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(p.t, cmd.Start())
	p.nodes[i] = cmd
}

func (p *processes) startAll() {
	p.t.Helper()
	for i := range p.nodes {
		if p.nodes[i] == nil {
			p.start(i)
		}
	}
}

func (p *processes) signal(i int, signal syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.nodes[i].Process.Signal(signal))
}

// kill ends a node's process with SIGKILL.
func (p *processes) kill(i int) {
	if cmd := p.nodes[i]; cmd != nil {
		p.nodes[i] = nil
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: that is what it says
	}
}

// stop asks a node to stop and waits until it has.
func (p *processes) stop(i int) {
	p.t.Helper()
	p.signal(i, syscall.SIGTERM)
	p.ends(i)
}

// ends waits until a node that was asked to stop has. It is asked once: the second
// signal ends a node at once.
func (p *processes) ends(i int) {
	p.t.Helper()
	require.NoError(p.t, p.nodes[i].Wait(), "%s ends in order", p.id(i))
	p.nodes[i] = nil
}

// up is whether a node answers, so that it knows what to do when it is told to
// stop.
func (p *processes) up(i int) bool {
	response, err := http.Get(p.url(i) + "/healthz")
	if err != nil {
		return false
	}
	return response.Body.Close() == nil
}

// audit holds the log to its own rules (LO-12), as the nodes have it that are there
// when a test is over: whatever it was about.
func (p *processes) audit() {
	p.t.Helper()
	if p.unaudited || p.t.Failed() || slices.Contains(p.nodes, nil) {
		return
	}
	cmd := exec.Command(p.omni, "log", "audit") // not the test's context, which is over when cleanups run
	for i := range p.api {
		cmd.Args = append(cmd.Args, "--server", p.url(i))
	}
	output, err := cmd.CombinedOutput()
	assert.NoError(p.t, err, "omni log audit: %s", output)
	assert.Contains(p.t, string(output), "the log keeps to the rules")
}

func (p *processes) stopAll() {
	p.t.Helper()
	p.audit()
	for i := range p.nodes {
		p.signal(i, syscall.SIGTERM)
	}
	for i := range p.nodes {
		p.ends(i)
	}
}

func (p *processes) outputOf(i int) string { return filepath.Join(p.output, p.id(i)+".log") }

// said counts how often a node has said something, since the test began.
func (p *processes) said(i int, text string) int {
	p.t.Helper()
	content, err := os.ReadFile(p.outputOf(i))
	require.NoError(p.t, err)
	return strings.Count(string(content), text)
}

// tell logs the last words of each node.
func (p *processes) tell() {
	for i := range p.nodes {
		content, _ := os.ReadFile(p.outputOf(i))
		p.t.Logf("%s said last:\n%s", p.id(i), content[max(0, len(content)-4000):])
	}
}

// alike waits until every node has applied the same, and is the same.
func (p *processes) alike() api.Status {
	p.t.Helper()
	status, alike, err := drill.AwaitAlike(p.t.Context(), p.client, time.Minute)
	require.NoError(p.t, err)
	require.True(p.t, alike, "digests differ: %+v", status.Nodes)
	return status
}

// whole waits until every node has all history.
func (p *processes) whole() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		status, err := p.client.Status(p.t.Context())
		if err != nil {
			return false
		}
		for _, n := range status.Nodes {
			if n.HistoryFrom != 1 || n.Backfill != nil {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond)
}

// logDir is where a node keeps its execution log.
func (p *processes) logDir(i int) string {
	return filepath.Join(p.dirs[i], "kernels", "default", "log")
}
