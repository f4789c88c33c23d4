package kerneltest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// worked is the time of one agent, as transitions and limits tell it.
type worked struct {
	limited bool
	agent   lifecycle.State
	run     string // empty: it is no run's root
	since   int64  // 0 while it stands still
	millis  int64
}

// atWork: from its spawn to its end, but not while it hibernates or is faulted, nor
// while a run has nothing for it to do (RU-9).
func (w *worked) atWork() bool {
	return w.limited && !slices.Contains([]string{"PLANNED", "PAUSED"}, w.run) &&
		!slices.Contains([]lifecycle.State{lifecycle.Defined, lifecycle.Resumable, lifecycle.Faulted, lifecycle.Terminated}, w.agent)
}

func (w *worked) limit(l *budgets.Limits) { w.limited = l.WallMillis > 0 }

// checkTime adds up the time at work that is limited, event by event, and compares.
func (s *Sim) checkTime() {
	s.T.Helper()
	all := make(map[uint32]*worked)
	take := func(r Record) {
		w := all[r.Agent]
		if w == nil {
			w = &worked{}
			all[r.Agent] = w
		}
		switch b := r.Content.(type) {
		case *budgets.Opened:
			w.limit(&b.Limits)
		case *budgets.Changed:
			w.limit(&b.Limits)
		case *lifecycle.Event:
			w.agent = b.To
		case *runs.DefinedBody:
			w.run = "PLANNING"
		case *runs.Event:
			w.run = b.To.String()
		}
	}
	for _, raw := range s.Blocks {
		block, err := logging.Decode(raw)
		require.NoError(s.T, err)
		for _, r := range Decode(s.T, raw) {
			if bus.Kind(r.Kind) != bus.Event {
				take(r)
			}
		}
		for _, w := range all {
			switch runs := w.atWork(); {
			case runs && w.since == 0:
				w.since = block.ClockMillis
			case !runs && w.since != 0:
				w.millis, w.since = w.millis+block.ClockMillis-w.since, 0
			}
		}
	}
	st := s.State()
	st.Budgets.All(func(a *budgets.Account) bool {
		w := all[a.Agent]
		require.Equal(s.T, w.since != 0, a.Since != 0, "agent %d, %s, run %s", a.Agent, w.agent, w.run)
		if w.since != 0 {
			w.millis += st.Clock - w.since
		}
		require.Equal(s.T, w.millis, a.Worked(st.Clock), "agent %d", a.Agent)
		return true
	})
}
