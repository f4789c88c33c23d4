package kernel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// RU-1: results are bounded, and so is the input that they make.
func TestRunValuesAreBounded(t *testing.T) {
	big := `{"kind":"LITERAL","payload":{"value":"${\"x\"*900}"}}`
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxRunBytes, c.MaxValueBytes = 2000, 1200 })
	id := begun(s, step(s, "a", big), step(s, "b", big), step(s, "c", big))
	require.Equal(t, failure.ValueTooLarge, s.Run(id).Last.Code)
	require.Contains(t, s.Run(id).Last.Reason, "max_run_bytes")
	require.EqualValues(t, 2, s.Run(id).Done)

	id = begun(s, step(s, "a", big), step(s, "b", `{"kind":"LITERAL","payload":{"value":"${\"x\"*300}"}}`), step(s, "c", echoes, "a", "b"))
	require.Contains(t, s.Run(id).Last.Reason, "max_value_bytes")
	require.Equal(t, runs.Broken, s.Run(id).Tasks[2].State)
	for name, bad := range map[string]event.PlanRun{
		"config":         {Config: kerneltest.Value(t, string(make([]byte, 1300))), Tasks: []event.RunTask{step(s, "a", echoes)}},
		"tasks[0].input": {Config: kerneltest.Value(t, string(make([]byte, 1180))), Tasks: []event.RunTask{step(s, "a", echoes)}},
		"tasks": {Goal: string(kerneltest.Value(t, "x")[:0]) + big, Tasks: []event.RunTask{
			{Name: "a", Program: kerneltest.JSON(t, echoes), Input: kerneltest.Value(t, string(make([]byte, 1000)))},
			{Name: "b", Program: kerneltest.JSON(t, echoes), Input: kerneltest.Value(t, string(make([]byte, 1000)))},
		}},
	} {
		require.Equal(t, name, s.Command(event.RunPlan, bad).Refusal.Field)
	}
	s.Check()
}

// RU-1: what a client may say of a run.
func TestRunDefinitions(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxRuns = 1 })
	plan := []event.RunTask{step(s, "a", echoes)}
	for field, bad := range map[string]event.PlanRun{
		"name":             {Name: "a\x00", Tasks: plan},
		"goal":             {Goal: strings.Repeat("g", 4097), Tasks: plan},
		"seed":             {Seed: "a\x00", Tasks: plan},
		"reason":           {Reason: "a\x00", Tasks: plan},
		"tasks":            {Planner: plan[0].Program, Tasks: plan},
		"agent.mode":       {Agent: event.Define{Mode: "task"}, Tasks: plan},
		"agent.id":         {Agent: event.Define{ID: "x"}, Tasks: plan},
		"agent.evaluator":  {Agent: event.Define{Evaluator: "std/9"}, Tasks: plan},
		"config":           {Config: value.Raw{0xff}, Tasks: plan},
		"tasks[0].name":    {Tasks: []event.RunTask{{Program: plan[0].Program}}},
		"tasks[0].program": {Tasks: []event.RunTask{{Name: "a"}}},
		"tasks[0].input":   {Tasks: []event.RunTask{{Name: "a", Program: plan[0].Program, Input: value.Raw{0xff}}}},
		"planner.kind":     {Planner: kerneltest.JSON(t, `{"kind":"NONSENSE"}`)},
		"tasks[0].uses":    {Tasks: []event.RunTask{{Name: "a", Program: plan[0].Program, Uses: []string{"z"}}}},
	} {
		require.Equal(t, field, s.Command(event.RunPlan, bad).Refusal.Field)
	}
	require.Equal(t, "tasks", s.Command(event.RunPlan, event.PlanRun{}).Refusal.Field)
	plannedWith(s, event.PlanRun{Tasks: plan})
	require.Equal(t, failure.LimitReached, s.Command(event.RunPlan, event.PlanRun{Tasks: plan}).Refusal.Code)
	require.Equal(t, failure.NotFound, s.Command(event.RunStart, event.StartRun{Run: kerneltest.AgentID(77)}).Refusal.Code)
	require.Equal(t, "run", s.Command(event.RunStart, event.StartRun{Run: "x"}).Refusal.Field)
	require.Equal(t, "trigger", s.Command(event.RunKill, event.KillRun{Run: firstRun(s), Trigger: "kernel"}).Refusal.Field)
	agent := s.Start(event.Define{Mode: "service", Program: plan[0].Program}, nil)
	require.Equal(t, failure.NotFound, s.Command(event.RunKill, event.KillRun{Run: agent}).Refusal.Code, "an agent is no run")
	s.Check()
}

// LC-8: a run's row becomes a tombstone with its agent's, and gives back the
// programs that it held.
func TestRunTombstone(t *testing.T) {
	s := kerneltest.New(t, 1)
	before := s.State().Interned.Bytes
	own := event.Define{Program: kerneltest.JSON(t, echoes)}
	id := plannedWith(s, event.PlanRun{Agent: own, Start: true, Goal: "g", Tasks: []event.RunTask{{Name: "own"}, step(s, "a", literal), step(s, "b", literal)}})
	require.Equal(t, runs.Completed, s.Run(id).State)
	s.Pass(s.State().Config.RetentionMillis)
	require.Equal(t, 1, s.Count(bus.RunArchived))
	run := s.Run(id)
	require.True(t, run.Archived)
	require.Equal(t, runs.Completed, run.State)
	require.EqualValues(t, 3, run.Total)
	require.Empty(t, run.Goal)
	require.Equal(t, before, s.State().Interned.Bytes)
	require.Equal(t, failure.InvalidRun, s.Command(event.RunKill, event.KillRun{Run: id}).Refusal.Code)
	s.Check()
}
