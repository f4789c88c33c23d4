package traffic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// longestWatch is how long a connection of a watcher lasts at most, before it is cut
// off and goes on at another node.
const longestWatch = 1200 * time.Millisecond

// Streams watches the log: each worker is one watcher, who is cut off at random and
// goes on, after the last record seen, at a random node. Two of three see all
// records, one some kinds only. Every other one reads the bare stream; the others use
// the client, whose answers are cut off, so that it goes on by itself.
type Streams struct {
	mu       sync.Mutex // guards watchers
	watchers map[int]*watcher
	wire     *wire
}

// watcher is one stream over all its connections. One worker uses it at a time.
type watcher struct {
	name        string
	kinds       []string
	client      *client.Client // nil: the bare stream
	from        uint64         // the next record that is wanted; 0 before the first
	last        uint64         // the last that was seen
	connections int
}

// Name implements Workload.
func (*Streams) Name() string { return model.Stream }

// Setup implements Workload.
func (s *Streams) Setup(context.Context, *Env) error {
	s.watchers, s.wire = make(map[int]*watcher), newWire()
	return nil
}

func (s *Streams) watcher(e *Env, number int) *watcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.watchers[number]
	if at == nil {
		at = &watcher{name: fmt.Sprintf("stream-%d", number), from: 1}
		if number%2 == 1 {
			c, err := newCutClient(e.Nodes, e.Seed+uint64(number))
			if err != nil {
				panic("traffic: the nodes' addresses are no addresses: " + err.Error())
			}
			at.client = c
		}
		if number%3 == 2 {
			at.kinds = []string{"MEMORY_ACCESS", "LIFECYCLE", "TREE_HEAD", "CALL_DISPATCHED"}
			at.from = 0
		}
		s.watchers[number] = at
	}
	return at
}

// Work implements Workload: one connection.
func (s *Streams) Work(ctx context.Context, w *Worker) {
	at := s.watcher(w.Env, w.Number)
	var node Node // whoever the client finds
	if at.client == nil {
		node = w.Nodes[w.Dice.IntN(len(w.Nodes))]
	}
	last := longestWatch/20 + time.Duration(w.Dice.Int64N(int64(longestWatch)))
	ctx, cancel := context.WithTimeout(ctx, last)
	defer cancel()
	in := at.next(node)
	call := w.Call(model.Watch, at.name, in)
	err := s.follow(ctx, w, node, at, in, nil)
	s.settle(ctx, w, call, at, node, err)
}

// next begins a connection.
func (at *watcher) next(node Node) model.WatchIn {
	at.connections++
	return model.WatchIn{Node: node.ID, Connection: at.connections, From: at.from, Kinds: at.kinds, Client: at.client != nil}
}

// settle says how a connection ended, and moves on where the log was archived.
func (s *Streams) settle(ctx context.Context, w *Worker, call *history.Call, at *watcher, node Node, err error) {
	call.From(node.ID, 0, 0)
	out := model.WatchOut{Last: at.last}
	var said *api.Error
	switch {
	case err == nil, ctx.Err() != nil:
		call.Ok(out)
	case errors.As(err, &said):
		if said.Code == "COMPACTED" && said.First > at.from {
			at.from, out.First = said.First, said.First
		}
		call.Fail(said.Code, said.Message, out)
	default:
		call.Fail(NoAnswer, err.Error(), out)
	}
	if err != nil && ctx.Err() == nil {
		w.Pause(ctx, 50*time.Millisecond) // a node that is down is not asked in a loop
	}
}

// follow reads one connection until ctx ends, it breaks, or the target was seen.
func (s *Streams) follow(ctx context.Context, w *Worker, node Node, at *watcher, in model.WatchIn, target *uint64) error {
	seen := &run{record: w.Record, whole: len(at.kinds) == 0, of: history.Seen{Stream: at.name, Connection: in.Connection, Node: node.ID}}
	defer seen.flush()
	take := func(r *api.Record) bool {
		seen.add(r)
		at.last, at.from = r.BusSeq, r.BusSeq+1
		return target == nil || at.last < *target
	}
	query := api.WatchQuery{From: at.from, Kinds: at.kinds}
	if at.client == nil {
		return s.wire.watch(ctx, node.URL, query, w.Dice.IntN(4) != 0, take)
	}
	for r, err := range at.client.Watch(ctx, query) {
		if err != nil {
			return err
		}
		if !take(&r) {
			break
		}
	}
	return nil
}

// Finish lets every watcher see the log to its end, as far as it is there now.
func (s *Streams) Finish(ctx context.Context, e *Env) error {
	defer s.wire.close()
	status, err := e.Client.Status(ctx)
	if err != nil {
		return err
	}
	var end uint64
	for _, n := range status.Nodes {
		end = max(end, n.BusSeq)
	}
	w := e.worker(Load{Workload: s, Workers: 1}, 0)
	for number, at := range s.watchers {
		if at.client != nil {
			defer at.client.Close()
		}
		target := end
		if len(at.kinds) > 0 {
			if target, err = lastOf(ctx, e, at, end); err != nil {
				return err
			}
		}
		if target > at.last {
			s.reach(ctx, w, at, e.Nodes[number%len(e.Nodes)], target)
		}
	}
	return nil
}

// lastOf is the last record until end that a watcher of some kinds will see.
func lastOf(ctx context.Context, e *Env, at *watcher, end uint64) (last uint64, err error) {
	for r, err := range e.Client.Records(ctx, api.LogQuery{From: max(at.from, 1)}) {
		if err != nil {
			return 0, err
		}
		if r.BusSeq <= end && slices.Contains(at.kinds, r.Kind) {
			last = r.BusSeq
		}
		if r.BusSeq >= end {
			break
		}
	}
	return last, nil
}

func (s *Streams) reach(ctx context.Context, w *Worker, at *watcher, node Node, target uint64) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	in := at.next(node)
	in.Target = target
	call := w.Call(model.Reach, at.name, in)
	err := s.follow(ctx, w, node, at, in, &target)
	if err == nil && at.last < target {
		err = fmt.Errorf("record %d did not come, only %d", target, at.last)
	}
	if err != nil {
		call.From(node.ID, 0, 0).Fail(NoAnswer, err.Error(), model.WatchOut{Last: at.last})
		return
	}
	call.From(node.ID, 0, 0).Ok(model.WatchOut{Last: at.last})
}
