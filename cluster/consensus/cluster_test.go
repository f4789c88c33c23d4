package consensus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// trio is a group of nodes on one network. Built inside a synctest bubble it
// runs in virtual time.
type trio struct {
	t       *testing.T
	network *network
	nodes   []*node
	members []Member       // of the first configuration
	config  func(*Config)  // adjusts every node's configuration
	store   raftstore.Kind // of every node
	dir     string         // of their files
}

// node is one member: what survives its crash, and what runs while it is up.
type node struct {
	id        string
	bootstrap []Member
	disk      *disk
	snapshots *raft.InmemSnapshotStore
	wall      atomic.Int64  // how far its clock is off, nanoseconds
	restore   time.Duration // how long a snapshot takes it

	machine *machine
	port    *port

	mu      sync.Mutex // guards what follows
	running *Group     // nil while it is down
	tenures []*tenureSeen
}

type tenureSeen struct {
	term  uint64
	over  atomic.Bool
	ready atomic.Bool
}

func names(count int) []Member {
	var out []Member
	for i := range count {
		id := string(rune('a' + i))
		out = append(out, Member{ID: id, Address: "host-" + id, Voter: true})
	}
	return out
}

func newCluster(t *testing.T, count int, config func(*Config)) *trio {
	return newClusterOver(t, testStore(), count, config)
}

func newClusterOver(t *testing.T, store raftstore.Kind, count int, config func(*Config)) *trio {
	c := &trio{t: t, network: newNetwork(), members: names(count), config: config, store: store}
	c.dir = t.TempDir() // removed after the nodes are closed
	t.Cleanup(c.close)  // inside the bubble
	for _, m := range c.members {
		c.add(m.ID, c.members)
	}
	return c
}

// add makes a new node; bootstrap is nil for one that joins later.
func (c *trio) add(id string, bootstrap []Member) *node {
	n := &node{id: id, disk: newDisk(c.t, c.store, filepath.Join(c.dir, id)), snapshots: raft.NewInmemSnapshotStore(), bootstrap: bootstrap}
	c.nodes = append(c.nodes, n)
	c.start(n)
	return n
}

// group is nil while the node is down.
func (n *node) group() *Group {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running
}

func (n *node) set(g *Group) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.running = g
}

func (n *node) address() string { return "host-" + n.id }

// start brings a node up with what it has on disk.
func (c *trio) start(n *node) {
	n.machine = &machine{restore: n.restore}
	n.port = c.network.join(n.address())
	config := Config{
		NodeID: n.id, FSM: n.machine, Snapshots: n.snapshots,
		Stream: n.port, Peers: n.port, Leadership: n, Bootstrap: n.bootstrap,
		Wall:   func() time.Time { return time.Now().Add(time.Duration(n.wall.Load())) },
		Logger: logger(n.id),
	}
	n.disk.open(&config)
	if c.config != nil {
		c.config(&config)
	}
	g, err := Start(config)
	require.NoError(c.t, err)
	n.set(g)
	n.port.serve(g)
}

func logger(name string) hclog.Logger {
	if os.Getenv("RAFTLOG") == "" {
		return hclog.NewNullLogger()
	}
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: hclog.Debug, Output: os.Stderr})
}

// crash takes a node down without a word to anybody.
func (c *trio) crash(n *node) {
	_ = n.port.Close()
	g := n.group()
	n.set(nil)
	require.NoError(c.t, g.Close())
	n.disk.close()
}

// close ends what still runs. Calling it again does nothing.
func (c *trio) close() {
	for _, n := range c.nodes {
		if g := n.group(); g != nil {
			assert.NoError(c.t, g.Close())
		}
		n.disk.close()
	}
	// Requests that were lost on cut links end with their deadlines.
	time.Sleep(time.Minute)
}

// Lead proposes the term's first event and declares the term ready, as a node
// does.
func (n *node) Lead(ctx context.Context, term uint64) {
	seen := &tenureSeen{term: term}
	n.mu.Lock()
	n.tenures = append(n.tenures, seen)
	n.mu.Unlock()
	defer seen.over.Store(true)
	g := n.group()
	for ; g == nil; g = n.group() { // it may lead before the test has it
		if !pause(ctx, time.Millisecond) {
			return
		}
	}
	if out := g.Propose(ctx, fmt.Appendf(nil, "lead %s", n.id)); out.Verdict == Applied {
		seen.ready.Store(true)
		g.SetReady(out.Term)
	}
	<-ctx.Done()
}

// leader waits for a ready leader other than the given nodes.
func (c *trio) leader(except ...*node) *node {
	c.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
	nodes:
		for _, n := range c.nodes {
			for _, e := range except {
				if n == e {
					continue nodes
				}
			}
			if g := n.group(); g != nil && g.Status().Ready {
				return n
			}
		}
		time.Sleep(time.Millisecond)
	}
	c.t.Fatal("no leader within a minute")
	return nil
}

func (c *trio) others(than *node) []*node {
	var out []*node
	for _, n := range c.nodes {
		if n != than {
			out = append(out, n)
		}
	}
	return out
}

// requireEqual waits until every running node has the same history and returns it.
func (c *trio) requireEqual() []line {
	c.t.Helper()
	var first []line
	deadline := time.Now().Add(time.Minute)
	for {
		equal := true
		first = nil
		for _, n := range c.nodes {
			if n.group() == nil {
				continue
			}
			lines := n.machine.lines()
			if first == nil {
				first = lines
			}
			equal = equal && slices.Equal(first, lines)
		}
		if equal {
			return first
		}
		if time.Now().After(deadline) {
			for _, n := range c.nodes {
				c.t.Logf("%s: %v", n.id, n.machine.lines())
			}
			c.t.Fatal("histories differ")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func raftHeader(n *node) raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(n.id), Addr: []byte(n.address())}
}
