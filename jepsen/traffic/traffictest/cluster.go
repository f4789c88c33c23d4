package traffictest

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/jepsen/traffic/proxy"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Cluster is a cluster of omni server processes. Before each node's API stands a
// proxy, through which all clients come.
type Cluster struct {
	Env     *traffic.Env
	Seed    uint64
	Proxies []*proxy.Proxy

	t       testing.TB
	omni    string
	dir     string
	api     []string
	raft    []string
	flags   []string
	nodes   []*exec.Cmd // nil while a node is down
	history bytes.Buffer
}

// built is the binary: once for each test binary. It stays where it is, one for each
// place of the tree, since linking it takes longer than most tests.
var built = sync.OnceValues(func() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("omni-traffictest-%08x", crc32.ChecksumIEEE([]byte(here))))
	path := filepath.Join(dir, "omni")
	cmd := exec.Command("go", "build", "-o", path, "github.com/omnikernel/omnikernel/cmd/omni")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building omni: %w\n%s", err, output)
	}
	return path, nil
})

// Start starts a cluster with an environment for workloads, and waits until it
// serves. The flags are for every node. It ends with the test.
func Start(t testing.TB, nodes int, flags ...string) *Cluster {
	t.Helper()
	omni, err := built()
	require.NoError(t, err)
	c := &Cluster{t: t, omni: omni, dir: t.TempDir(), flags: flags, nodes: make([]*exec.Cmd, nodes)}
	addresses := free(t, 2*nodes)
	c.Env = &traffic.Env{Record: history.NewRecorder(&c.history), Seed: 1}
	for i := range nodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		p, err := proxy.New(l, "http://"+addresses[2*i], uint64(i))
		require.NoError(t, err)
		t.Cleanup(p.Close)
		c.Proxies = append(c.Proxies, p)
		c.Env.Nodes = append(c.Env.Nodes, traffic.Node{ID: fmt.Sprintf("n%d", i+1), URL: p.URL()})
		c.api = append(c.api, addresses[2*i])
		c.raft = append(c.raft, addresses[2*i+1])
	}
	c.Env.Client, err = traffic.NewClient(c.Env.Nodes)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.Env.Client.Close()
		for i := range c.nodes {
			c.end(i)
		}
		if t.Failed() {
			c.tell()
		}
	})
	for i := range nodes {
		c.Restart(i)
	}
	c.Well()
	return c
}

// free finds addresses that nobody listens at. They are all held at once, so that
// they differ.
func free(t testing.TB, count int) (addresses []string) {
	t.Helper()
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses
}

// Restart starts a node that is down, and records it.
func (c *Cluster) Restart(i int) {
	c.t.Helper()
	self := c.Env.Nodes[i]
	args := []string{
		"server", "--node", self.ID, "--data-dir", filepath.Join(c.dir, self.ID),
		"--api-addr", c.api[i], "--raft-addr", c.raft[i],
	}
	for n, peer := range c.Env.Nodes {
		args = append(args, "--peer", peer.ID+"="+c.raft[n]+"="+peer.URL)
	}
	output, err := os.OpenFile(c.output(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(c.t, err)
	defer output.Close()
	cmd := exec.Command(c.omni, append(args, c.flags...)...)
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(c.t, cmd.Start())
	c.nodes[i] = cmd
	c.Env.Record.Life(history.Life{Node: self.ID, What: "started", Wanted: true})
}

// Kill ends a node with SIGKILL, and records it.
func (c *Cluster) Kill(i int) {
	c.t.Helper()
	c.end(i)
	c.Env.Record.Life(history.Life{Node: c.Env.Nodes[i].ID, What: "killed", Wanted: true})
}

// Pause stops a node with SIGSTOP until Resume.
func (c *Cluster) Pause(i int) {
	c.t.Helper()
	require.NoError(c.t, c.nodes[i].Process.Signal(syscall.SIGSTOP))
}

// Resume lets a paused node go on.
func (c *Cluster) Resume(i int) {
	c.t.Helper()
	require.NoError(c.t, c.nodes[i].Process.Signal(syscall.SIGCONT))
}

func (c *Cluster) end(i int) {
	if cmd := c.nodes[i]; cmd != nil {
		c.nodes[i] = nil
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: that is what it says
	}
}

// Leader is the node that leads, by its place.
func (c *Cluster) Leader() int {
	c.t.Helper()
	var leader int
	require.Eventually(c.t, func() bool {
		status, err := c.Env.Client.Status(c.t.Context())
		if err != nil {
			return false
		}
		for i, n := range c.Env.Nodes {
			if n.ID == status.Leader && c.nodes[i] != nil {
				leader = i
				return true
			}
		}
		return false
	}, 30*time.Second, 10*time.Millisecond)
	return leader
}

// Well waits until every node is ready, and all have applied the same. It is the
// status in which they had.
func (c *Cluster) Well() (status api.Status) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		for _, n := range c.Env.Nodes {
			health, err := c.Env.Client.Health(ctx, client.Node(n.URL))
			if err != nil || health.Status != "ok" {
				return false
			}
		}
		var err error
		if status, err = c.Env.Client.Status(ctx); err != nil || len(status.Nodes) != len(c.Env.Nodes) {
			return false
		}
		for _, n := range status.Nodes {
			if n.AppliedIndex != status.Nodes[0].AppliedIndex || n.Digest == "" {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond)
	return status
}

// Lose lets the proxies do this to answers from now on.
func (c *Cluster) Lose(f proxy.Faults) {
	for _, p := range c.Proxies {
		p.Set(f)
	}
}

func (c *Cluster) output(i int) string { return filepath.Join(c.dir, c.Env.Nodes[i].ID+".log") }

// tell logs the last words of each node.
func (c *Cluster) tell() {
	for i := range c.nodes {
		content, _ := os.ReadFile(c.output(i))
		c.t.Logf("%s said last:\n%s", c.Env.Nodes[i].ID, content[max(0, len(content)-3000):])
	}
}
