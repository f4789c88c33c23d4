package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/kernel/config"
	evaluators "github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/stretchr/testify/require"
)

// crew is three nodes over real files whose streams are pipes: inside a synctest
// bubble they run in virtual time. What they call outside is the service.
type crew struct {
	t       *testing.T
	store   raftstore.Kind
	fast    bool // followers see the end of the leader's process
	service *service
	pipes   *pipes
	peers   []cluster.Peer
	dirs    []string
	ports   []*port
	change  func(i int, c *cluster.Config) // nil: none

	mu    sync.Mutex // guards nodes
	nodes []*cluster.Node
}

func newCrew(t *testing.T, store raftstore.Kind, fast bool) *crew {
	return newCrewWith(t, store, fast, nil)
}

// newCrewWith changes the nodes' configuration, each time that one starts.
func newCrewWith(t *testing.T, store raftstore.Kind, fast bool, change func(i int, c *cluster.Config)) *crew {
	c := &crew{
		t: t, store: store, fast: fast, change: change, service: newService(), pipes: &pipes{ports: make(map[string]*port)},
		ports: make([]*port, 3), nodes: make([]*cluster.Node, 3),
	}
	for i := range 3 {
		id := fmt.Sprintf("n%d", i+1)
		c.peers = append(c.peers, cluster.Peer{ID: id, Raft: "host-" + id})
		c.dirs = append(c.dirs, t.TempDir())
		c.ports[i] = c.pipes.join(id, "host-"+id)
	}
	t.Cleanup(c.close)
	for i := range 3 {
		c.start(i)
	}
	return c
}

// start opens a node with what is in its directory.
func (c *crew) start(i int) {
	c.t.Helper()
	settings, p := c.config(i)
	node, err := cluster.Open(settings)
	require.NoError(c.t, err)
	c.ports[i] = p
	p.serve(node.HandlePeer)
	c.set(i, node)
}

// config is what a node is opened with.
func (c *crew) config(i int) (cluster.Config, *port) {
	c.t.Helper()
	p := c.pipes.join(c.peers[i].ID, c.peers[i].Raft)
	registry, err := tools.New(tools.Options{}, echo.Adapter{}, c.service)
	require.NoError(c.t, err)
	settings := cluster.Config{
		NodeID: c.peers[i].ID, ClusterID: "test", KernelID: "default", DataDir: c.dirs[i], Peers: c.peers, Store: c.store,
		Stream: p, Calls: p, Tools: registry, Evaluators: evaluators.Lookup, Limits: config.Default(),
		Fatal:  func(err error) { c.t.Errorf("%s: %v", c.peers[i].ID, err) },
		Logger: nullLogger(),
	}
	if c.fast {
		settings.Crash = p
	}
	if c.change != nil {
		c.change(i, &settings)
	}
	return settings, p
}

func (c *crew) set(i int, node *cluster.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i] = node
}

// node is nil while it is down.
func (c *crew) node(i int) *cluster.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[i]
}

// crash ends a node's process: from one moment on nothing leaves it. Its files
// stay as they are then, where closing them properly would have written more. It
// returns what the node had applied.
func (c *crew) crash(i int) (applied uint64) {
	c.t.Helper()
	node := c.node(i)
	c.set(i, nil) // whoever waits for its answer waits in vain
	_ = c.ports[i].Close()
	applied = node.Applied()
	log := filepath.Join(c.dirs[i], "kernels", "default", "log")
	left := c.t.TempDir()
	require.NoError(c.t, os.CopyFS(left, os.DirFS(log)))
	require.NoError(c.t, node.Crash())
	require.NoError(c.t, os.RemoveAll(log))
	require.NoError(c.t, os.CopyFS(log, os.DirFS(left)))
	return applied
}

// stop ends a node in order.
func (c *crew) stop(i int) {
	c.t.Helper()
	node := c.node(i)
	c.set(i, nil)
	require.NoError(c.t, node.Stop(c.t.Context()))
	require.NoError(c.t, c.ports[i].Close())
}

// close ends what still runs, with everybody gone at once.
func (c *crew) close() {
	for _, p := range c.ports {
		_ = p.Close()
	}
	for i := range c.nodes {
		if node := c.node(i); node != nil {
			c.set(i, nil)
			require.NoError(c.t, node.Crash())
		}
	}
	time.Sleep(time.Minute) // of virtual time: results that nobody takes any more are given up
}

// until polls, in virtual time.
func (c *crew) until(what string, done func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		require.True(c.t, time.Now().Before(deadline), "not in two minutes: %s", what)
	}
}

// leader waits for a node that leads and is ready.
func (c *crew) leader() (found int) {
	c.t.Helper()
	c.until("a leader", func() bool {
		for i := range 3 {
			if node := c.node(i); node != nil {
				leader, known := node.Leader()
				_, err := node.Read(c.t.Context(), cluster.Consistency{Level: cluster.Linearizable})
				if err == nil && known && leader.ID == c.peers[i].ID {
					found = i
					return true
				}
			}
		}
		return false
	})
	return found
}

// follow hands over the blocks of a node's log as they are published, from a
// busSeq on, until one is enough or the context ends.
func follow(ctx context.Context, node *cluster.Node, seq uint64, enough func(*logging.Block) bool) {
	for ctx.Err() == nil {
		stop := false
		next, err := node.Log().ReadFrom(seq, func(_ uint64, b *logging.Block) bool {
			stop = enough(b)
			return !stop
		})
		if stop || err != nil {
			return
		}
		seq = next
		end, more := node.Log().Grown()
		if end != seq {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
		}
	}
}

// blocks is a node's whole log.
func (c *crew) blocks(i int) (raw [][]byte) {
	c.t.Helper()
	_, err := c.node(i).Log().ReadFrom(1, func(_ uint64, b *logging.Block) bool {
		raw = append(raw, append([]byte(nil), b.Raw...))
		return true
	})
	require.NoError(c.t, err)
	return raw
}
