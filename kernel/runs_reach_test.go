package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// moved counts, in words, what a history's log says of runs.
type moved struct {
	counts map[string]int
	states map[uint32]runs.State
	last   map[uint32]kerneltest.Record // a run's newest transition
}

func (m *moved) take(r kerneltest.Record) {
	switch b := r.Content.(type) {
	case *runs.DefinedBody:
		m.states[r.Agent] = runs.Planning
	case *runs.Event:
		m.counts[b.From.String()+" "+b.Trigger.String()]++
		m.counts["by "+b.Cause.String()]++
		if b.Forced {
			m.counts["forced"]++
		}
		if b.From == runs.Planning && b.Code == failure.Killed {
			m.counts["PLANNING kill"]++
		}
		// What is decided as one list stands together in the log.
		if before, ok := m.last[r.Agent]; ok && before.Seq+1 == r.Seq {
			m.counts[before.Content.(*runs.Event).From.String()+" … "+b.Trigger.String()]++
		}
		m.states[r.Agent], m.last[r.Agent] = b.To, r
	case *runs.Rejection:
		m.counts["no "+b.From.String()+" "+b.Trigger.String()]++
	case *runs.PauseBody:
		m.counts["asked for by "+b.Cause.String()]++
	case *budgets.Mark:
		if state, ok := m.states[r.Agent]; ok && !state.Over() {
			m.counts[r.Name+" "+b.Kind.String()]++
		}
	case *budgets.Clock:
		if state, ok := m.states[r.Agent]; ok && !b.Running {
			m.counts["stands still in "+state.String()]++
		}
	}
}

// lacks names a move that no history has come to, if there is one.
func (m *moved) lacks(moves []string) string {
	for _, move := range moves {
		if m.counts[move] == 0 {
			return move
		}
	}
	return ""
}

// everyMove lists what histories about runs must come to.
func everyMove() (all []string) {
	for _, edge := range runs.Table {
		all = append(all, edge.From.String()+" "+edge.Trigger.String())
	}
	for from := range runs.State(runs.States) {
		for _, trigger := range []runs.Trigger{runs.Start, runs.Pause, runs.Resume, runs.Kill} {
			if runs.Path(from, trigger) == nil {
				all = append(all, "no "+from.String()+" "+trigger.String())
			}
		}
	}
	for cause := runs.Kernel; cause <= runs.Causes; cause++ {
		all = append(all, "by "+cause.String())
	}
	return append(all,
		"PLANNED … fail", "PAUSED … fail", "PLANNED … kill", "PLANNING kill", // the composites of RU-1
		"forced", "no PLANNING pause", "no APPLYING pause", "asked for by operator", "asked for by security", "asked for by ", // nobody: it is taken back
	)
}

// ofBudgets lists what more they come to when roots hold accounts.
var ofBudgets = []string{
	"asked for by budget", "stands still in PAUSED", "stands still in PLANNED",
	"BUDGET_WARNING tokens", "BUDGET_WARNING usd_micros", "BUDGET_WARNING wall_ms",
	"BUDGET_EXCEEDED tokens", "BUDGET_EXCEEDED usd_micros", "BUDGET_EXCEEDED wall_ms",
}

// Random histories about runs take every edge, every composite and every refusal
// that a client can bring about, for every kind of reason; with budgets, every kind
// of warning and of end. So do those that the model is compared over, which knows
// nothing of budgets.
func TestHistoriesReachEveryMoveOfARun(t *testing.T) {
	for name, test := range map[string]struct {
		begin func(seed uint64) *kerneltest.History
		moves []string
	}{
		"history": {
			func(seed uint64) *kerneltest.History {
				return kerneltest.NewHistory(t, 1, 200, kerneltest.NewSeeded(seed))
			},
			append(everyMove(), ofBudgets...),
		},
		"model": {
			func(seed uint64) *kerneltest.History {
				return kerneltest.NewModelled(t, 500, kerneltest.NewSeeded(seed))
			},
			everyMove(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := moved{counts: make(map[string]int)}
			events := 0
			for seed := uint64(0); seed < 20 || seed < 160 && m.lacks(test.moves) != ""; seed++ {
				m.states, m.last = make(map[uint32]runs.State), make(map[uint32]kerneltest.Record)
				h := test.begin(seed)
				h.AboutRuns()
				h.Run(300)
				h.CheckBudgets()
				h.CheckAudit()
				for _, r := range h.All() {
					m.take(r)
					if _, ok := r.Content.(*event.Recorded); ok {
						events++
					}
				}
			}
			assert.Empty(t, m.lacks(test.moves), "no history came to it")
			t.Logf("%d events: %s", events, fmt.Sprint(m.counts))
		})
	}
}
