package nemesis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
	"github.com/omnikernel/omnikernel/jepsen/nemesis"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

// world is nodes that are not there: what a nemesis did to them.
type world struct {
	mu     sync.Mutex
	state  map[string]string // up, down, paused
	broken map[string]bool   // a start fails
	slow   time.Duration     // a start takes so long
	skew   map[string]time.Duration
	wire   *wire.Switch
	file   bytes.Buffer
	means  nemesis.Means
}

type fakeProcess struct {
	w  *world
	id string
}

func (p fakeProcess) set(from, to string) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.w.state[p.id] != from {
		return fmt.Errorf("it is %s, not %s", p.w.state[p.id], from)
	}
	if to == "up" && from == "down" && p.w.broken[p.id] {
		return errors.New("it does not start")
	}
	p.w.state[p.id] = to
	return nil
}
func (p fakeProcess) Start(ctx context.Context) error {
	if p.w.slow > 0 {
		select {
		case <-time.After(p.w.slow):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return p.set("down", "up")
}
func (p fakeProcess) Stop(context.Context) error { return p.set("up", "down") }
func (p fakeProcess) Kill() error                { return p.set("up", "down") }
func (p fakeProcess) Pause() error               { return p.set("up", "paused") }
func (p fakeProcess) Resume() error              { return p.set("paused", "up") }
func (p fakeProcess) Running() bool              { return p.w.state[p.id] != "down" }

// newWorld has a real switch, on which nobody says anything.
func newWorld(t *testing.T, nodes int) *world {
	t.Helper()
	w := &world{state: make(map[string]string), broken: make(map[string]bool), skew: make(map[string]time.Duration)}
	w.means = nemesis.Means{
		Record: history.NewRecorder(&w.file), Seed: 3,
		Leader:   func() string { return "n1" },
		Serves:   func(context.Context, string) error { return nil },
		Transfer: func(context.Context, string) error { return errors.New("refused") },
	}
	var hosts []wire.Host
	for i := range nodes {
		id := fmt.Sprintf("n%d", i+1)
		here, _ := net.Pipe()
		hosts = append(hosts, wire.Host{ID: id, MAC: [6]byte{2, 0, 0, 0, 0, byte(i)}, Frames: here})
		w.state[id] = "up"
		w.means.Nodes = append(w.means.Nodes, &nemesis.Node{
			ID: id, Process: fakeProcess{w, id},
			Clock: func(by time.Duration) error { w.skew[id] = by; return nil },
		})
	}
	var err error
	w.wire, err = wire.New(1, hosts)
	require.NoError(t, err)
	w.means.Network = w.wire
	return w
}

func (w *world) history(t *testing.T) *history.History {
	t.Helper()
	require.NoError(t, w.means.Record.Close())
	h, err := history.Load(&w.file)
	require.NoError(t, err)
	return h
}

// Faults of the network go together; of a node's process there is one at a time.
func TestFaultsTogether(t *testing.T) {
	w := newWorld(t, 3)
	n := nemesis.New(w.means)
	ctx := t.Context()
	loss, err := n.Inject(ctx, &scenarios.Fault{Kind: "loss", Percent: 20, Nodes: "n1"})
	require.NoError(t, err)
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "loss", Percent: 5, Nodes: "all"})
	require.NoError(t, err)
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "delay", By: time.Second, Nodes: "n2"})
	require.NoError(t, err)
	require.NoError(t, n.Heal(ctx, loss))
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "partition", Shape: "mute", Nodes: "n3"})
	require.NoError(t, err)

	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "kill", Nodes: "leader"})
	require.NoError(t, err)
	require.True(t, n.Disturbed("n1"))
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "pause", Nodes: "leader"})
	require.ErrorIs(t, err, nemesis.ErrNoTarget)
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "pause", Nodes: "all"})
	require.ErrorIs(t, err, nemesis.ErrNoTarget)
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "pause", Nodes: "n1,n2"})
	require.ErrorContains(t, err, "another fault has its process")
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "pause", Nodes: "n9"})
	require.ErrorContains(t, err, "there is no")
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "pause", Nodes: "majority"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"n1": "down", "n2": "paused", "n3": "paused"}, w.state)
	_, err = n.Inject(ctx, &scenarios.Fault{Kind: "transfer", Nodes: "follower"})
	require.NoError(t, err, "that it is refused is no failure of the run's")

	require.NoError(t, n.HealAll(ctx))
	require.Equal(t, map[string]string{"n1": "up", "n2": "up", "n3": "up"}, w.state)
	require.NoError(t, w.wire.Close())
	h := w.history(t)
	require.Len(t, h.Faults, 7)
	links := func(f history.Fault) []string { return []string{fmt.Sprint(f.Detail["cut"])} }
	require.Equal(t, []string{"[map[From:n3 To:n1] map[From:n3 To:n2]]"}, links(h.Faults[3]))
	for _, f := range h.Faults {
		require.Empty(t, f.Error)
		require.NotZero(t, f.Until)
	}
}

// What was drawn is healed, every time, and the same seed draws the same.
func TestDraw(t *testing.T) {
	draw := func() []history.Fault {
		var w *world
		synctest.Test(t, func(t *testing.T) {
			w = newWorld(t, 5)
			s := &scenarios.Scenario{AtOnce: 3, Between: scenarios.Span{Max: time.Second}, Mix: []scenarios.Fault{
				{Kind: "kill", Nodes: "leader", Weight: 2, For: scenarios.Span{Min: time.Second, Max: 3 * time.Second}},
				{Kind: "pause", Nodes: "minority", Weight: 1, For: scenarios.Span{Min: time.Second, Max: 2 * time.Second}},
				{Kind: "clock", By: time.Hour, Nodes: "one", Weight: 1, For: scenarios.Span{Min: time.Second, Max: 2 * time.Second}},
				{Kind: "loss", Percent: 9, Nodes: "all", Weight: 1, For: scenarios.Span{Min: time.Second, Max: 2 * time.Second}},
			}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, nemesis.New(w.means).Draw(ctx, s))
			require.NoError(t, w.wire.Close())
		})
		for _, state := range w.state {
			require.Equal(t, "up", state)
		}
		for _, by := range w.skew {
			require.Zero(t, by)
		}
		return w.history(t).Faults
	}
	first := draw()
	require.Greater(t, len(first), 30)
	kinds := make(map[string]int)
	most := 0
	for i, f := range first {
		kinds[f.Kind]++
		require.NotZero(t, f.Until)
		at := 0
		for _, other := range first[:i] {
			if other.Until > f.From {
				at++
			}
		}
		most = max(most, at+1)
	}
	require.Len(t, kinds, 4)
	require.Equal(t, 3, most, "faults at once")
	require.Equal(t, first, draw())
}

// What is being taken back when the time for faults is over is taken back whole.
func TestDrawEndsWell(t *testing.T) {
	var w *world
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, 3)
		w.slow = 5 * time.Second
		s := &scenarios.Scenario{AtOnce: 1, Mix: []scenarios.Fault{
			{Kind: "kill", Nodes: "leader", Weight: 1, For: scenarios.Span{Min: time.Second, Max: time.Second}},
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		require.NoError(t, nemesis.New(w.means).Draw(ctx, s))
		require.NoError(t, w.wire.Close())
	})
	require.Equal(t, "up", w.state["n1"])
	h := w.history(t)
	require.Len(t, h.Faults, 1)
	require.Empty(t, h.Faults[0].Error)
	require.Equal(t, 6*time.Second, time.Duration(h.Faults[0].Until-h.Faults[0].From).Round(time.Second))
}

// A fault that cannot be taken back ends the run, and says which.
func TestUnhealed(t *testing.T) {
	w := newWorld(t, 3)
	w.broken["n1"] = true
	s := &scenarios.Scenario{Steps: []scenarios.Step{
		{Inject: &scenarios.Fault{Kind: "pause", Nodes: "n2"}, As: "asleep"},
		{Inject: &scenarios.Fault{Kind: "kill", Nodes: "leader"}, As: "dead"},
		{Heal: "dead"}, {Heal: "asleep"},
	}}
	err := nemesis.New(w.means).Play(t.Context(), s)
	require.ErrorContains(t, err, "steps[2]: heal kill of n1")
	require.Equal(t, "up", w.state["n2"], "the others are healed")
	h := w.history(t)
	require.Contains(t, h.Faults[1].Error, "it does not start")
}

func TestRefused(t *testing.T) {
	w := newWorld(t, 3)
	for says, f := range map[string]scenarios.Fault{
		"there is no fault":         {Kind: "flood"},
		"percent is missing":        {Kind: "loss"},
		"by is given":               {Kind: "loss", Percent: 1, By: 1},
		"there is no shape":         {Kind: "partition", Shape: "star"},
		"needs what n1 does not":    {Kind: "powercut"},
		"file is missing":           {Kind: "corrupt", Way: "any"},
		"nobody reads what the nod": {Kind: "block-log"},
	} {
		if f.Kind == "corrupt" {
			w.means.Nodes[0].Files, w.means.Nodes[1].Files, w.means.Nodes[2].Files = files{}, files{}, files{}
		}
		require.ErrorContains(t, w.means.Check(&f), says)
	}
	w.means.Network = nil
	require.ErrorContains(t, w.means.Check(&scenarios.Fault{Kind: "loss", Percent: 5}), "no network")
	require.NotEmpty(t, nemesis.Kinds())
}

type files struct{ nemesis.Files }
