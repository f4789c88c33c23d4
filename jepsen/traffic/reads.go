package traffic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

const (
	readKeys = 8           // that are written and read
	oneNode  = time.Second // how long one node is asked
)

// lags are the bounds that stale reads ask for; 0 is none.
var lags = [...]time.Duration{0, 0, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second}

// Readers writes keys and agents anywhere, and reads them at one node each: in a
// session, from an index on, and with a bound on their age.
type Readers struct {
	values atomic.Int64

	mu       sync.Mutex // guards what follows
	sessions map[int]*readSession
	acked    []ackedWrite // the newest of each key, and an agent
}

// readSession is what one worker has seen. Its client is its own: forks share what
// they have seen.
type readSession struct {
	client *client.Client
	name   string
}

type ackedWrite struct {
	key   string
	agent bool
	index uint64
}

// Name implements Workload.
func (*Readers) Name() string { return model.Reads }

// Setup implements Workload.
func (r *Readers) Setup(context.Context, *Env) error {
	r.sessions, r.acked = make(map[int]*readSession), make([]ackedWrite, readKeys+1)
	return nil
}

// Work implements Workload.
func (r *Readers) Work(ctx context.Context, w *Worker) {
	key := w.Dice.IntN(readKeys)
	node := w.Nodes[w.Dice.IntN(len(w.Nodes))]
	in := model.ReadsIn{Node: node.ID}
	switch n := w.Dice.IntN(20); {
	case n < 5:
		r.write(ctx, w, key)
	case n == 5:
		r.define(ctx, w)
	case n < 11:
		in.Level = api.SessionLevel
		r.inSession(ctx, w, node, key, in)
	case n < 15:
		in.Level = [...]string{api.SessionLevel, api.Stale}[w.Dice.IntN(2)]
		if last := r.last(w.Dice.IntN(readKeys + 1)); last.index != 0 {
			in.MinIndex = last.index
			r.read(ctx, w, w.Client, node, last, in)
		}
	default:
		in.Level, in.MaxLag = api.Stale, lags[w.Dice.IntN(len(lags))].Milliseconds()
		r.read(ctx, w, w.Client, node, ackedWrite{key: readKey(key)}, in)
	}
}

func readKey(n int) string { return fmt.Sprintf("k/%d", n) }

func (r *Readers) last(of int) ackedWrite {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.acked[of]
}

func (r *Readers) ack(of int, done ackedWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if done.index > r.acked[of].index {
		r.acked[of] = done
	}
}

func (r *Readers) write(ctx context.Context, w *Worker, key int) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	in := model.ReadsIn{Value: r.values.Add(1)}
	put := event.PutShared{Namespace: model.Reads, Key: readKey(key), Value: value.AppendInt(nil, in.Value)}
	call := w.Call(model.Write, readKey(key), in).Sends(event.SharedPut.String(), put)
	done, err := w.Client.PutShared(ctx, put)
	call.From(done.Node, done.Index, done.BusSeq)
	if w.Settle(call, err, model.ReadsOut{Value: in.Value, Version: done.Version}) == history.Ok {
		r.ack(key, ackedWrite{key: readKey(key), index: done.Index})
	}
}

func (r *Readers) define(ctx context.Context, w *Worker) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	id := w.ID()
	define := event.Define{ID: id}
	call := w.Call(model.Define, id, nil).Sends(event.AgentDefine.String(), define)
	done, err := w.Client.Define(ctx, define)
	call.From(done.Node, done.Index, done.BusSeq)
	if w.Settle(call, err, model.ReadsOut{Version: 1}) == history.Ok {
		r.ack(readKeys, ackedWrite{key: id, agent: true, index: done.Index})
	}
}

// inSession reads at least as new a state as the session has seen, wherever it is
// asked for.
func (r *Readers) inSession(ctx context.Context, w *Worker, node Node, key int, in model.ReadsIn) {
	r.mu.Lock()
	s := r.sessions[w.Number]
	if s == nil {
		c, err := NewClient(w.Nodes)
		if err != nil {
			panic("traffic: the nodes' addresses are no addresses: " + err.Error())
		}
		s = &readSession{client: c, name: fmt.Sprintf("session-%d", w.Number)}
		r.sessions[w.Number] = s
	}
	r.mu.Unlock()
	in.Session, in.MinIndex = s.name, s.client.LastIndex()
	r.read(ctx, w, s.client, node, ackedWrite{key: readKey(key)}, in)
}

func (r *Readers) read(ctx context.Context, w *Worker, c *client.Client, node Node, what ackedWrite, in model.ReadsIn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), oneNode)
	defer cancel()
	opts := []client.Option{client.Node(node.URL), client.Consistency(in.Level), client.MinIndex(in.MinIndex)}
	if in.MaxLag > 0 {
		opts = append(opts, client.MaxLag(time.Duration(in.MaxLag)*time.Millisecond))
	}
	name := model.Read
	if what.agent {
		name = model.Find
	}
	var (
		out model.ReadsOut
		as  api.As
		err error
	)
	call := w.Call(name, what.key, in)
	if what.agent {
		var agent api.Agent
		agent, err = c.Agent(ctx, what.key, opts...)
		as, out.Version = agent.As, 1
	} else {
		var got api.MemoryValue
		got, err = c.SharedValue(ctx, model.Reads, what.key, opts...)
		as, out.Version = got.As, got.Version
		out.Value, _ = got.Value.Int()
	}
	var said *api.Error
	if errors.As(err, &said) && said.Code == "NOT_FOUND" {
		as, out, err = api.As{Index: said.Index, Node: said.Node, LagMillis: -1}, model.ReadsOut{}, nil
	}
	out.Lag = as.LagMillis
	call.From(as.Node, as.Index, 0)
	w.SettleRead(call, err, out)
}

// Finish reads every key at every node, as new as it was acknowledged last.
func (r *Readers) Finish(ctx context.Context, e *Env) error {
	w := e.worker(Load{Workload: r, Workers: 1}, 0)
	for _, node := range e.Nodes {
		for of := range readKeys + 1 {
			if last := r.last(of); last.index != 0 {
				r.read(ctx, w, e.Client, node, last, model.ReadsIn{Node: node.ID, Level: api.SessionLevel, MinIndex: last.index})
			}
		}
	}
	for _, s := range r.sessions {
		s.client.Close()
	}
	return nil
}
