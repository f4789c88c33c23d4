package traffic_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// pretend is a workload whose answers are made up.
type pretend struct {
	name string
	work func(w *traffic.Worker, call *history.Call)

	mu    sync.Mutex     // guards drawn
	drawn map[int]uint64 // what each worker drew first
}

func (p *pretend) Name() string                             { return p.name }
func (*pretend) Setup(context.Context, *traffic.Env) error  { return nil }
func (*pretend) Finish(context.Context, *traffic.Env) error { return nil }
func (p *pretend) Work(ctx context.Context, w *traffic.Worker) {
	p.mu.Lock()
	if p.drawn == nil {
		p.drawn = make(map[int]uint64)
	}
	if p.drawn[w.Number] == 0 {
		p.drawn[w.Number] = w.Dice.Uint64()
	}
	p.mu.Unlock()
	for range 2 {
		call := w.Call("do", "k", nil)
		w.Pause(ctx, 3*time.Millisecond)
		p.work(w, call)
	}
}

func run(t *testing.T, pace traffic.Pace, loads ...traffic.Load) *history.History {
	t.Helper()
	var file bytes.Buffer
	c, err := traffic.NewClient([]traffic.Node{{ID: "n1", URL: "http://127.0.0.1:1"}})
	require.NoError(t, err)
	e := &traffic.Env{Record: history.NewRecorder(&file), Client: c, Seed: 7}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	traffic.Run(ctx, e, pace, loads...)
	require.NoError(t, e.Record.Close())
	h, err := history.Load(&file)
	require.NoError(t, err)
	return h
}

// Traffic keeps to its rate whatever a Work consists of, and each worker does one
// thing at a time.
func TestRunKeepsToItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fine := func(w *traffic.Worker, call *history.Call) { w.Settle(call, nil, 1) }
		a := &pretend{name: "a", work: fine}
		b := &pretend{name: "b", work: fine}
		h := run(t, traffic.Pace{Rate: 200}, traffic.Load{Workload: a, Workers: 3}, traffic.Load{Workload: b, Workers: 1})
		require.InDelta(t, 2000, len(h.Ops), 40)
		require.NotEmpty(t, h.Of("a"))
		require.NotEmpty(t, h.Of("b"))
		last := map[int]int64{}
		for _, op := range h.Ops {
			require.LessOrEqual(t, last[op.Process], op.Called)
			last[op.Process] = op.Returned
		}
		require.Len(t, last, 4)
		again := &pretend{name: "a", work: fine}
		run(t, traffic.Pace{Rate: 200}, traffic.Load{Workload: again, Workers: 3})
		require.Equal(t, a.drawn, again.drawn, "the seed says what is drawn")
		require.Len(t, a.drawn, 3)
		require.NotEqual(t, a.drawn[0], a.drawn[1])
		require.NotEqual(t, a.drawn[0], b.drawn[0])

		h = run(t, traffic.Pace{Think: 94 * time.Millisecond}, traffic.Load{Workload: a, Workers: 2})
		require.InDelta(t, 400, len(h.Ops), 100)
	})
}

// What hung is not made up for by a flood.
func TestRunAfterAHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		hang := &pretend{name: "hang", work: func(w *traffic.Worker, call *history.Call) {
			if since := time.Since(began); since > time.Second && since < 5*time.Second {
				time.Sleep(4 * time.Second)
			}
			w.Settle(call, nil, nil)
		}}
		h := run(t, traffic.Pace{Rate: 100}, traffic.Load{Workload: hang, Workers: 2})
		after := 0
		for _, op := range h.Ops {
			if op.Called > int64(5*time.Second) && op.Called < int64(7*time.Second) {
				after++
			}
		}
		require.InDelta(t, 200, after, 30)
	})
}

// Every way a call can end is settled as what is known of it, and after an unknown
// one the worker is somebody else.
func TestSettle(t *testing.T) {
	late := &api.Error{Code: "TIMEOUT", Definite: false, Node: "n2"}
	conflict := &api.Error{Code: "VERSION_CONFLICT", Definite: true, Node: "n2", Index: 9}
	cases := []struct {
		err     error
		outcome history.Outcome
		code    string
		node    string
	}{
		{nil, history.Ok, "", ""},
		{conflict, history.Failed, "VERSION_CONFLICT", "n2"},
		{late, history.Unknown, "TIMEOUT", "n2"},
		{&client.Unknown{Op: "put", Cause: conflict}, history.Unknown, "VERSION_CONFLICT", "n2"},
		{&client.Unknown{Op: "put"}, history.Unknown, traffic.NoAnswer, ""},
		{&client.Unreachable{Op: "put", Cause: errors.New("down")}, history.Failed, traffic.NotAsked, ""},
		{&client.Usage{Problem: "what?"}, history.Failed, traffic.NoSense, ""},
		{context.DeadlineExceeded, history.Unknown, traffic.NoAnswer, ""},
	}
	at := 0
	each := &pretend{name: "each", work: func(w *traffic.Worker, call *history.Call) {
		if at >= 2*len(cases) {
			call.Ok(nil)
			return
		}
		c, before := cases[at/2], w.Process
		if at++; at%2 == 0 {
			w.SettleRead(call, c.err, nil)
			require.Equal(t, before, w.Process, "a read leaves nothing open")
			return
		}
		require.Equal(t, c.outcome, w.Settle(call, c.err, nil))
		require.Equal(t, c.outcome == history.Unknown, before != w.Process)
	}}
	synctest.Test(t, func(t *testing.T) {
		h := run(t, traffic.Pace{Rate: 100}, traffic.Load{Workload: each, Workers: 1})
		for i, c := range cases {
			command, read := h.Ops[2*i], h.Ops[2*i+1]
			require.Equal(t, c.outcome, command.Outcome, "%v", c.err)
			require.Equal(t, c.code, command.Code)
			require.Equal(t, c.node, command.Node)
			want := history.Failed
			if c.err == nil {
				want = history.Ok
			}
			require.Equal(t, want, read.Outcome, "%v", c.err)
		}
	})
}
