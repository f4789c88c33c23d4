package cluster_test

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/kernel/config"
	evaluators "github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/raftstream"
	"github.com/stretchr/testify/require"
)

// overStores runs a test over both kinds of Raft store: one whose nodes come
// back with what they had written.
func overStores(t *testing.T, test func(t *testing.T, store raftstore.Kind)) {
	for _, store := range []raftstore.Kind{raftstore.Bolt, raftstore.WAL} {
		t.Run(string(store), func(t *testing.T) { test(t, store) })
	}
}

// testStore is the store of every test that does not choose one itself: what
// OMNI_TEST_STORE says, or the default.
func testStore() raftstore.Kind {
	return cmp.Or(raftstore.Kind(os.Getenv("OMNI_TEST_STORE")), raftstore.Bolt)
}

// trio is three nodes in one process, over real TCP and real files.
type trio struct {
	t         testing.TB
	wall      map[int]func() time.Time
	adapters  []tools.Adapter
	store     raftstore.Kind
	id        string                // of the cluster
	adjust    func(*cluster.Config) // of every node
	peers     []cluster.Peer
	dirs      []string
	nodes     []*cluster.Node
	endpoints []*raftstream.Endpoint
	written   int // commands, by write
}

func newTrio(t testing.TB, changes ...func(*trio)) *trio {
	c := &trio{
		t: t, store: testStore(), id: "test", adapters: []tools.Adapter{echo.Adapter{}},
		nodes: make([]*cluster.Node, 3), endpoints: make([]*raftstream.Endpoint, 3),
	}
	for i := range 3 {
		c.peers, c.dirs = append(c.peers, newPeer(t, fmt.Sprintf("n%d", i+1))), append(c.dirs, t.TempDir())
	}
	for _, change := range changes {
		change(c)
	}
	for i := range 3 {
		c.start(i)
	}
	t.Cleanup(func() {
		for i := range c.nodes {
			c.stop(i)
		}
	})
	return c
}

// newPeer finds a free port for a node.
func newPeer(t testing.TB, id string) cluster.Peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return cluster.Peer{ID: id, Raft: l.Addr().String(), API: "http://" + l.Addr().String()}
}

// join starts one more node, which waits to be taken in.
func (c *trio) join(id string) int {
	c.t.Helper()
	i := len(c.peers)
	c.peers, c.dirs = append(c.peers, newPeer(c.t, id)), append(c.dirs, c.t.TempDir())
	c.nodes, c.endpoints = append(c.nodes, nil), append(c.endpoints, nil)
	adjust := c.adjust
	c.adjust = func(config *cluster.Config) {
		config.Join = true
		if adjust != nil {
			adjust(config)
		}
	}
	c.start(i)
	c.adjust = adjust
	return i
}

func (c *trio) start(i int) {
	c.t.Helper()
	config, streams := c.config(i)
	node, err := cluster.Open(config)
	require.NoError(c.t, err)
	streams.Peers().Handle(node.HandlePeer)
	streams.History().Answer(node.HandleHistory)
	c.nodes[i] = node
}

// config gives a node its endpoint, and everything else that it is opened with.
func (c *trio) config(i int) (cluster.Config, *raftstream.Kernel) {
	c.t.Helper()
	endpoint, err := raftstream.Listen(raftstream.Options{Listen: c.peers[i].Raft, ClusterID: c.id, NodeID: c.peers[i].ID, Logger: hclog.NewNullLogger()})
	require.NoError(c.t, err)
	streams, err := endpoint.Kernel("default")
	require.NoError(c.t, err)
	registry, err := tools.New(tools.Options{}, c.adapters...)
	require.NoError(c.t, err)
	c.endpoints[i] = endpoint
	settings := cluster.Config{
		NodeID: c.peers[i].ID, ClusterID: c.id, KernelID: "default", DataDir: c.dirs[i], Peers: c.peers,
		Stream: streams.Layer(), Calls: streams.Peers(), History: streams.History(), Tools: registry, Evaluators: evaluators.Lookup, Limits: config.Default(),
		Fatal:  func(err error) { c.t.Errorf("node %d: %v", i+1, err) },
		Wall:   c.wall[i],
		Store:  c.store,
		Logger: hclog.NewNullLogger(),
	}
	if c.adjust != nil {
		c.adjust(&settings)
	}
	return settings, streams
}

func (c *trio) stop(i int) {
	if c.nodes[i] == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	require.NoError(c.t, c.nodes[i].Stop(ctx))
	require.NoError(c.t, c.endpoints[i].Close())
	c.nodes[i] = nil
}

// leader waits for a node that leads and is ready.
func (c *trio) leader() int {
	c.t.Helper()
	found := -1
	require.Eventually(c.t, func() bool {
		for i, n := range c.nodes {
			if n == nil {
				continue
			}
			if _, err := n.Read(c.t.Context(), cluster.Consistency{Level: cluster.Linearizable}); err != nil {
				continue
			}
			if leader, ok := n.Leader(); ok && leader.ID == c.peers[i].ID {
				found = i
				return true
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond)
	return found
}

const program = `{"kind":"MAP","payload":{"over":[1,2,3],"as":"n","do":{"kind":"CALL","payload":{"tool":"echo","args":"${n * 10}"}}}}`

func start(t *testing.T, id string) event.Event {
	return event.Event{Kind: event.AgentStart, Principal: "client", Body: event.Encode(event.Start{Define: event.Define{
		ID: id, Program: kerneltest.JSON(t, program),
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "echo"}},
	}})}
}

// Three replicas carry an agent through its life, the leader runs its calls,
// and every node ends with the same digest; after a restart too (CL-4, LO-3).
func TestThreeNodesRunAnAgent(t *testing.T) {
	overStores(t, threeNodesRunAnAgent)
}

func threeNodesRunAnAgent(t *testing.T, store raftstore.Kind) {
	c := newTrio(t, func(c *trio) { c.store = store })
	id := "018f4e5c-0000-7000-8000-000000000001"
	answer := c.nodes[c.leader()].Propose(t.Context(), start(t, id))
	require.Equal(t, cluster.Applied, answer.Verdict, "%+v", answer)
	require.Empty(t, answer.Outcome.Refusal)
	uuid, _ := flows.ParseID(id)
	finished := func(n *cluster.Node) bool {
		view, err := n.Read(t.Context(), cluster.Consistency{Level: cluster.Session, MinIndex: answer.Outcome.Index})
		if err != nil {
			return false
		}
		_, row := view.Find(uuid)
		return row != nil && row.Lifecycle.State == lifecycle.Terminated && string(row.Execution.Result.Value.AppendJSON(nil)) == "[10,20,30]"
	}
	for _, n := range c.nodes {
		require.Eventually(t, func() bool { return finished(n) }, 20*time.Second, 10*time.Millisecond)
	}
	c.sameDigests()
	victim := c.leader()
	c.stop(victim)
	c.leader()
	c.start(victim)
	require.Eventually(t, func() bool { return finished(c.nodes[victim]) }, 20*time.Second, 10*time.Millisecond)
	c.sameDigests()
}

func (c *trio) sameDigests() {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		status := c.nodes[0].Status(c.t.Context(), false)
		for _, n := range status.Nodes {
			if n.AppliedIndex != status.Nodes[0].AppliedIndex || n.Digest != status.Nodes[0].Digest || n.Digest == "" {
				return false
			}
		}
		return true
	}, 20*time.Second, 20*time.Millisecond)
}

func nullLogger() hclog.Logger { return hclog.NewNullLogger() }
