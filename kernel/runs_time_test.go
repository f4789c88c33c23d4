package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

const hour = int64(3_600_000)

// RU-9: the time of a run's root agent stands still while the run is PLANNED, and
// while it is PAUSED, though the agent be ACTIVE; a task that a pause lets end is
// work, and so is planning.
func TestRunTimeAtWork(t *testing.T) {
	limited := event.Define{Budget: &event.Budget{WallMillis: 10 * hour}}
	patient := func(s *kerneltest.Sim, name string) event.RunTask {
		return step(s, name, `{"kind":"CALL","payload":{"tool":"echo","timeout_ms":3600000}}`)
	}
	worked := func(s *kerneltest.Sim, id string) int64 { return account(s, id).Worked(s.Wall) }
	t.Run("planned and paused", func(t *testing.T) {
		s := kerneltest.New(t, 2)
		id := plannedWith(s, event.PlanRun{Agent: limited, Tasks: []event.RunTask{patient(s, "a"), patient(s, "b"), patient(s, "c")}})
		s.Pass(100 * hour)
		require.Zero(t, worked(s, id), "nothing was started")
		s.Must(event.RunStart, event.StartRun{Run: id})
		s.Pass(hour / 2)
		s.Must(event.RunPause, event.PauseRun{Run: id})
		s.Pass(hour / 4)
		require.EqualValues(t, hour*3/4, worked(s, id), "the task goes on until it has ended")
		s.Answer(true, 1)
		require.Equal(t, runs.Paused, s.Run(id).State)
		require.Equal(t, lifecycle.Active, s.StateOf(id))
		s.Pass(100 * hour)
		require.EqualValues(t, hour*3/4, worked(s, id))
		s.Must(event.RunResume, event.ResumeRun{Run: id})
		s.Pass(hour / 4)
		require.EqualValues(t, hour, worked(s, id))
		s.Must(event.RunPause, event.PauseRun{Run: id, Force: true})
		s.Pending = nil // the call was withdrawn
		s.Pass(100 * hour)
		require.EqualValues(t, hour, worked(s, id))
		s.Must(event.RunResume, event.ResumeRun{Run: id})
		s.Answer(true, 2)
		s.Answer(true, 3)
		require.Equal(t, runs.Completed, s.Run(id).State)
		require.EqualValues(t, hour, worked(s, id))
		s.Check()
	})
	t.Run("planning, warning and end", func(t *testing.T) {
		s := kerneltest.New(t, 2)
		short := event.Define{Budget: &event.Budget{WallMillis: hour}}
		id := plannedWith(s, event.PlanRun{Agent: short, Start: true, Planner: patient(s, "").Program})
		s.Pass(hour / 2)
		s.Answer(true, kerneltest.JSON(t, `[{"name":"a","program":`+asks+`},{"name":"b","program":{"kind":"CALL","payload":{"tool":"echo","timeout_ms":3600000}}}]`).ToGo())
		s.Answer(true, 1)
		s.Pass(hour * 3 / 10)
		require.Equal(t, runs.Budget, kerneltest.Find[*runs.PauseBody](s, bus.RunPauseRequested).Cause)
		s.Must(event.RunPause, event.PauseRun{Run: id, Force: true})
		s.Pass(50 * hour)
		s.Must(event.RunResume, event.ResumeRun{Run: id})
		s.Pass(hour/5 - 1)
		require.Equal(t, runs.Applying, s.Run(id).State)
		s.Pass(1)
		require.Equal(t, runs.Failed, s.Run(id).State)
		require.Equal(t, failure.BudgetExceeded, s.Run(id).Last.Code)
		require.Equal(t, &budgets.Mark{Kind: budgets.WallMillis, Limit: uint64(hour), Used: uint64(hour)}, kerneltest.Find[*budgets.Mark](s, bus.BudgetExceeded))
		s.Check()
	})
	t.Run("limits given while it is paused", func(t *testing.T) {
		s := kerneltest.New(t, 2)
		id := plannedWith(s, event.PlanRun{Agent: event.Define{Budget: &event.Budget{Tokens: 1}}, Tasks: []event.RunTask{patient(s, "a")}})
		wall := hour
		s.Must(event.BudgetSet, event.SetBudget{Agent: id, WallMillis: &wall})
		s.Pass(100 * hour)
		require.Zero(t, worked(s, id))
		s.Must(event.RunStart, event.StartRun{Run: id})
		s.Pass(hour - 1)
		require.EqualValues(t, hour-1, worked(s, id))
		s.Check()
	})
}
