package logaudit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// running: agent 1 is the root of a run of two tasks, which is paused after the
// first, resumed, and completed; its time comes to a warning.
func running(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	ask := kerneltest.JSON(t, `{"kind":"CALL","payload":{"tool":"echo"}}`)
	id := kerneltest.IDOf(s.Must(event.RunPlan, event.PlanRun{
		Agent: event.Define{Grants: kerneltest.Everything(), Budget: &event.Budget{WallMillis: 1000}}, Start: true,
		Tasks: []event.RunTask{{Name: "a", Program: ask}, {Name: "b", Program: ask, Uses: []string{"a"}}},
	}).Agent)
	s.Must(event.RunPause, event.PauseRun{Run: id})
	require.NotEmpty(t, s.Command(event.RunStart, event.StartRun{Run: id}).Refusal)
	s.Pass(500)
	s.Answer(true, 1)
	s.Pass(5000)
	s.Must(event.RunResume, event.ResumeRun{Run: id})
	s.Pass(300)
	s.Answer(true, 2)
	require.Equal(t, runs.Completed, s.Run(id).State)
	s.Pulse()
	return s
}

// runForgeries are lies about runs.
var runForgeries = []untruth{
	{"a run's transition that is no edge", logaudit.Run, "running", func(f *forgery) *written {
		r := f.nth(bus.RunTransition, 1, -1)
		edit(f, r, func(e *runs.Event) { e.Trigger = runs.Pause })
		return r
	}},
	{"a run's transition from elsewhere", logaudit.Run, "running", func(f *forgery) *written {
		r := f.nth(bus.RunTransition, 1, -1)
		edit(f, r, func(e *runs.Event) { e.From = runs.Paused })
		return r
	}},
	{"a run's refusal elsewhere", logaudit.Run, "running", func(f *forgery) *written {
		r := f.nth(bus.InvalidRunTransition, 1, 0)
		edit(f, r, func(b *runs.Rejection) { b.From = runs.Paused })
		return r
	}},
	{"a run that is planned twice", logaudit.Run, "running", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.copy(r, f.nth(bus.RunPlanned, 1, 0))
		return r
	}},
	{"another task", logaudit.Run, "running", func(f *forgery) *written {
		r := f.nth(bus.RunTaskStarted, 1, 0)
		edit(f, r, func(b *runs.TaskBody) { b.Task = 1 })
		return r
	}},
	{"time that runs on while the run is PAUSED", logaudit.Budget, "running", func(f *forgery) *written {
		edit(f, f.nth(bus.BudgetClock, 1, 1), func(b *budgets.Clock) {
			require.False(f.t, b.Running)
			b.Running = true
		})
		return nil
	}},
	{"time that nobody stops", logaudit.Budget, "running", func(f *forgery) *written {
		f.blank(f.nth(bus.BudgetClock, 1, 1))
		return nil
	}},
	{"time that was not worked", logaudit.Budget, "running", func(f *forgery) *written {
		r := f.nth(bus.BudgetWarning, 1, 0)
		edit(f, r, func(b *budgets.Mark) { b.Used++ })
		return r
	}},
	{"a task that is started twice", logaudit.Run, "running", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 1)
		f.copy(r, f.nth(bus.RunTaskStarted, 1, 0))
		return r
	}},
	{"a block that its run does not know of", logaudit.Links, "running", func(f *forgery) *written {
		block := f.blocks[f.blockOf(f.nth(bus.RunTaskCompleted, 1, 1))]
		block.alone = true
		return block.records[0]
	}},
	{"a block of somebody else's run", logaudit.Links, "running", func(f *forgery) *written {
		block := f.blocks[len(f.blocks)-1]
		block.stranger = 1
		return block.records[0]
	}},
	{"a run whose chain goes astray", logaudit.Links, "running", func(f *forgery) *written {
		block := f.blocks[f.blockOf(f.nth(bus.RunTaskCompleted, 1, 0))]
		block.astray = true
		return block.records[0]
	}},
}
