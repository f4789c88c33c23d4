package solo

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// ClusterID of every group.
const ClusterID = "solo-cluster"

// Group is a set of replicas. Its lock stands for consensus.
type Group struct {
	Nodes []*Node

	mu     sync.Mutex // guards what follows, and the order of all events
	log    []entry
	leader int // -1: an election is going on
	term   uint64
	wall   func() int64
}

type entry struct {
	index, term uint64
	event       event.Event
}

// Setup of a group. Its zero value is the default configuration and the real
// clock.
type Setup struct {
	Config func(*config.Config) // changes the configuration
	Wall   func() int64         // stamps events, Unix milliseconds
}

// New starts a group whose first node leads.
func New(t testing.TB, nodes int, setup Setup) *Group {
	t.Helper()
	g := &Group{term: 1, wall: setup.Wall}
	if g.wall == nil {
		g.wall = func() int64 { return time.Now().UnixMilli() }
	}
	dir := t.TempDir()
	for i := range nodes {
		g.Nodes = append(g.Nodes, g.newNode(t, filepath.Join(dir, fmt.Sprint(i)), i))
	}
	c := config.Default()
	c.ClusterID = ClusterID
	if setup.Config != nil {
		setup.Config(&c)
	}
	booted := g.Nodes[0].Propose(t.Context(), event.Event{Kind: event.KernelBooted, Principal: "node:n1", Body: event.Encode(&c)})
	require.Equal(t, cluster.Applied, booted.Verdict)
	require.True(t, booted.Outcome.Done(), "%+v", booted.Outcome)
	return g
}

func (g *Group) newNode(t testing.TB, dir string, at int) *Node {
	store, err := segment.Open(dir, segment.Options{Owner: segment.Owner(ClusterID, "default")})
	require.NoError(t, err)
	journal, _, err := nodejournal.Open(dir)
	require.NoError(t, err)
	state := nodestate.New(nodestate.Options{Policy: nodestate.DefaultPolicy, Sink: journal})
	for _, trigger := range []nodestate.Trigger{nodestate.Start, nodestate.InitOK} {
		require.Nil(t, state.Transition(trigger, nodestate.Cause{By: "node"}))
	}
	n := &Node{
		State: state, journal: journal, group: g, at: at, dir: dir, kernel: kernel.New("default", registry.Lookup), store: store,
		moved: make(chan struct{}), peer: cluster.Peer{ID: fmt.Sprintf("n%d", at+1)},
	}
	require.NoError(t, store.Resume(*n.kernel.Log()))
	n.publish()
	t.Cleanup(func() {
		_ = store.Close()
		_ = journal.Close()
	})
	return n
}

// Lead makes a node the leader of a new term; -1 is nobody.
func (g *Group) Lead(node int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leader = node
	g.term++
}

// Index of the last event.
func (g *Group) Index() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return uint64(len(g.log))
}

// commit orders an event and lets every replica that is not held apply it.
func (g *Group) commit(e event.Event, by *Node) event.Outcome {
	e.Wall = g.wall()
	g.log = append(g.log, entry{index: uint64(len(g.log)) + 1, term: g.term, event: e})
	for _, n := range g.Nodes {
		if n != by {
			n.catchUp()
		}
	}
	return by.catchUp()
}
