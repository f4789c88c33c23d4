package kernels

import (
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// maxPulses is more than any history needs to come to rest.
const maxPulses = 20_000

// heal is the phase without faults: everyone comes back and catches up, an emergency
// stop ends, every call that waits is answered or its time passes, and all work is
// done.
func (w *world) heal() {
	for _, r := range w.replicas {
		w.restart(r)
		w.install(r, w.replicas[w.donor()])
	}
	if w.sim.State().Estop.Suspended() {
		w.sim.Resume("the faults are over")
	}
	w.answer()
	w.rest()
	for i, r := range w.replicas {
		for r.applied < len(w.sim.Log) {
			before := r.applied
			w.apply(r, 50+i)
			w.publish(r)
			require.Greater(w.t, r.applied, before, "replica %d does not catch up", i)
		}
	}
}

// answer hands in a result for every call that nobody was let through to, but
// every third: its time passes.
func (w *world) answer() {
	var keys []tools.Key
	s := w.sim.State()
	s.Tools.All(func(c *tools.Call) bool {
		if c.Dispatched == 0 && c.Key.Call%3 != 0 {
			keys = append(keys, c.Key)
		}
		return true
	})
	for _, key := range keys {
		w.sim.Result(key, true, map[string]any{"n": 9})
	}
}

// maxTombstones bounds the Pulses that are spent on rows that shrink.
const maxTombstones = 50

// rest lets time pass from deadline to deadline until nobody waits for any (EV-6,
// EV-12, LC-12). What is over shrinks last; a child that is over, and whose
// parent may still be recovered by an operator and ask for it, never does.
func (w *world) rest() {
	tombstones := 0
	for pulses := 0; tombstones < maxTombstones; pulses++ {
		s := w.sim.State()
		timer, some := s.Timers.First()
		if !some && !s.Behind() {
			break
		}
		require.Less(w.t, pulses, maxPulses, "the kernel does not come to rest: %+v is the next timer, %d ticks are queued", timer, s.Running.Len())
		if !s.Behind() {
			w.sim.Wall = max(w.sim.Wall, timer.Deadline)
			if waits(s) == 0 {
				tombstones++
			}
		}
		w.sim.Apply(event.Event{Kind: event.Pulse, Principal: "node:test"})
	}
	s := w.sim.State()
	require.Zero(w.t, s.Tools.Len(), "calls are left in the outbox")
	require.Zero(w.t, s.Escalations.Len(), "escalations are left open")
	require.Zero(w.t, s.Running.Len(), "ticks are left queued")
	for no := uint32(1); no <= s.Agents.Len(); no++ {
		at := s.Agents.Get(no).Lifecycle.State
		require.NotContains(w.t, []lifecycle.State{lifecycle.Waiting, lifecycle.Completing}, at, "agent %d waits for nothing", no)
	}
}

// waits counts the timers that somebody waits for.
func waits(s *state.State) (n int) {
	s.Timers.All(func(t timers.Timer) bool {
		if t.Purpose != timers.RetentionOver {
			n++
		}
		return true
	})
	return n
}

// check judges what came of it all.
func (w *world) check() {
	w.agree(w.sim.State())
	for i, r := range w.replicas {
		require.Equal(w.t, w.sim.State().Log.Point, r.state.Log.Point, "replica %d", i)
		require.Equal(w.t, kernel.Digest(w.sim.State()), kernel.Digest(r.state), "replica %d", i)
	}
	w.sim.CheckChain()
	w.sim.CheckTree()
	w.sim.CheckFold()
	w.sim.CheckCounts()
	w.sim.CheckBodies()
	w.sim.CheckAgents()
	w.sim.CheckPaths()
	w.sim.CheckTicks()
	w.sim.CheckTimers()
	w.sim.CheckHistories()
	w.sim.CheckWords()
	w.sim.CheckAudit()
}
