package nodes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel"
)

// Options of a run.
type Options struct {
	Seed   uint64
	Nodes  int           // 3 when 0
	Faults time.Duration // how long faults come, virtual; 20 s when 0
	Dir    string        // an empty directory for the nodes' files
}

// catchUp is how long, after the heal, until everyone has everything.
const catchUp = 30 * time.Second

// Outcome is what a run came to.
type Outcome struct {
	Options
	Trace  []string       // faults, with their virtual times
	Ops    []Op           // what clients did, and were told
	Errand []Errand       // agents that called the tool
	Calls  map[string]int // of the tool, by the call's key
	Nodes  []Held         // what the nodes hold in the end
	Err    error          // what the run itself found: a node that stopped, one that did not catch up
	Stats  Stats
}

// Held is what one node holds in the end.
type Held struct {
	ID     string
	Index  uint64
	Digest [32]byte
	Log    [][]byte
}

// Stats counts what happened.
type Stats struct {
	Crashes, Partitions, Lossy, Slow, Transfers, Installs, Clocks int
	Took                                                          time.Duration // virtual, until all had caught up
}

// run is one simulation.
type run struct {
	options Options
	dir     string
	fast    bool // followers see the end of the leader's process
	dice    *dice
	network *network
	world   *world
	peers   []cluster.Peer
	members []*member
	clients clients

	began time.Time

	mu    sync.Mutex // guards err and trace
	err   error
	trace []string
	stats Stats
}

// Run simulates one cluster. It must be called in a synctest bubble.
func Run(o Options) *Outcome {
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Faults == 0 {
		o.Faults = 20 * time.Second
	}
	r := &run{
		options: o, dir: o.Dir, fast: o.Seed%2 == 0, dice: newDice(o.Seed, "faults"), network: newNetwork(newDice(o.Seed, "network")),
		world: newWorld(), began: time.Now(),
	}
	for i := range o.Nodes {
		id := fmt.Sprintf("n%d", i+1)
		r.peers = append(r.peers, cluster.Peer{ID: id, Raft: "host-" + id})
	}
	for i := range o.Nodes {
		r.network.join(r.peers[i].Raft)
		r.members = append(r.members, &member{self: r.peers[i], dir: filepath.Join(o.Dir, r.peers[i].ID), disk: newDisk(newDice(o.Seed, r.peers[i].ID))})
	}
	defer r.end()
	for _, m := range r.members {
		r.start(m)
	}
	r.until("a leader", time.Minute, func() bool { return r.leader() != nil })
	ctx, stop := context.WithCancel(context.Background())
	r.clients.start(ctx, r)
	for over := time.Now().Add(o.Faults); time.Now().Before(over) && r.sound(); {
		r.fault()
	}
	r.heal()
	healed := time.Now()
	r.pause(2 * time.Second) // what clients do now must succeed
	stop()
	r.clients.wait()
	r.until("everyone has everything", catchUp-time.Since(healed), r.alike)
	r.stats.Took = time.Since(healed)
	return r.outcome()
}

func (r *run) sound() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err == nil
}

func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// must is for what the simulation itself needs.
func (r *run) must(err error) {
	if err != nil {
		r.fail(fmt.Errorf("the simulation: %w", err))
	}
}

// note adds a line to what happened.
func (r *run) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trace = append(r.trace, fmt.Sprintf("%8.3f s  ", time.Since(r.began).Seconds())+fmt.Sprintf(format, args...))
}

func (r *run) pause(d time.Duration) { time.Sleep(d) }

// until polls, in virtual time.
func (r *run) until(what string, within time.Duration, done func() bool) {
	for deadline := time.Now().Add(within); !done(); time.Sleep(10 * time.Millisecond) {
		if !r.sound() {
			return
		}
		if time.Now().After(deadline) {
			r.fail(fmt.Errorf("not within %v: %s: %s", within.Round(time.Millisecond), what, r.standing()))
			return
		}
	}
}

// standing tells where every node is.
func (r *run) standing() (text string) {
	for _, m := range r.members {
		node := m.node()
		if node == nil {
			text += m.self.ID + " is down; "
			continue
		}
		view, err := node.Read(context.Background(), cluster.Consistency{Level: cluster.Stale})
		text += fmt.Sprintf("%s: ", m.self.ID)
		if err == nil {
			text += fmt.Sprintf("index %d, position %d, ", view.Index, view.Log.Position)
		}
		text += fmt.Sprintf("%v, %v; ", err, node.Healthy())
	}
	return text
}

// leader is a node that leads and is ready; nil while there is none.
func (r *run) leader() *member {
	for _, m := range r.members {
		if node := m.node(); node != nil {
			leader, known := node.Leader()
			if known && leader.ID == m.self.ID && r.serves(node) {
				return m
			}
		}
	}
	return nil
}

func (r *run) serves(node *cluster.Node) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := node.Read(ctx, cluster.Consistency{Level: cluster.Linearizable})
	return err == nil
}

// alike tells whether all nodes are up, sound, and hold the same, the history
// from the first event on included.
func (r *run) alike() bool {
	var first *cluster.View
	for _, m := range r.members {
		node := m.node()
		if node == nil || node.Healthy() != nil {
			return false
		}
		view, err := node.Read(context.Background(), cluster.Consistency{Level: cluster.Stale})
		if err != nil {
			return false
		}
		if first == nil {
			first = &view
		}
		if view.Index != first.Index || kernel.Digest(view.State) != kernel.Digest(first.State) || view.Behind() || view.Tools.Len() > 0 {
			return false
		}
		if log, err := logOf(node); err != nil || len(log) == 0 || view.Log.Point != pointAfter(log) {
			return false
		}
	}
	return true
}

// outcome gathers what there is to judge.
func (r *run) outcome() *Outcome {
	out := &Outcome{Options: r.options, Ops: r.clients.done(), Errand: r.clients.errands(), Calls: r.world.called()}
	for _, m := range r.members {
		node := m.node()
		if node == nil {
			continue
		}
		view, err := node.Read(context.Background(), cluster.Consistency{Level: cluster.Stale})
		if err != nil {
			r.fail(fmt.Errorf("%s: %w", m.self.ID, err))
			continue
		}
		log, err := logOf(node)
		if err != nil {
			r.fail(fmt.Errorf("%s: its log: %w", m.self.ID, err))
		}
		out.Nodes = append(out.Nodes, Held{ID: m.self.ID, Index: view.Index, Digest: kernel.Digest(view.State), Log: log})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out.Trace, out.Err, out.Stats = r.trace, r.err, r.stats
	return out
}

// end stops whatever still runs, everybody at once, and removes the files.
func (r *run) end() {
	for _, m := range r.members {
		if l := m.alive.Swap(nil); l != nil {
			l.ended.Store(true)
			_ = l.port.Close()
			over, cancel := context.WithCancel(context.Background())
			cancel()
			if err := l.node.Stop(over); err != nil && !errors.Is(err, context.Canceled) {
				r.note("%s: %v", m.self.ID, err)
			}
		}
	}
	r.network.heal()
	time.Sleep(time.Minute) // results that nobody takes any more are given up
	_ = os.RemoveAll(r.dir)
}

// Summary is one line of figures.
func (o *Outcome) Summary() string {
	told := make(map[Verdict]int)
	for _, op := range o.Ops {
		told[op.Verdict]++
	}
	events := uint64(0)
	if len(o.Nodes) > 0 {
		events = o.Nodes[0].Index
	}
	return fmt.Sprintf("%d operations (%d done, %d unknown, %d conflicts, %d refused), %d calls of the tool, log to index %d, %+v",
		len(o.Ops), told[Done], told[Unknown], told[Conflict], told[Refused], len(o.Calls), events, o.Stats)
}
