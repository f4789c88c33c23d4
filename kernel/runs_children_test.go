package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// leaves is a task that delegates and waits for nobody: the child makes two paid
// calls, one after the other.
var leaves = `{"kind":"DELEGATE","payload":{"detach":true,"children":[{"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}],
	"program":{"kind":"SEQ","payload":{"steps":[` + paid("GET", 30) + "," + paid("GET", 30) + `]}}}]}}`

// RU-2: a pause, forced or not, holds the plan. Children that the run has detached
// are no part of it: they go on, at the run's expense, and can fail it by that.
func TestRunPauseLeavesDetachedChildren(t *testing.T) {
	for _, force := range []bool{false, true} {
		s := kerneltest.New(t, 2)
		id := plannedWith(s, event.PlanRun{
			Agent: event.Define{Budget: &event.Budget{Tokens: 100}}, Start: true,
			Tasks: []event.RunTask{step(s, "a", leaves), step(s, "b", asks), step(s, "c", echoes)},
		})
		child := s.Pending[0]
		asked := s.Pending[1]
		s.Pending = nil
		s.Must(event.RunPause, event.PauseRun{Run: id, Force: force})
		if !force {
			s.Result(asked, true, 1)
		}
		require.Equal(t, runs.Paused, s.Run(id).State)
		used(s, child, 30)
		require.Len(t, s.Pending, 1, "the child asks for its second call")
		require.EqualValues(t, 30, account(s, id).Reserved.Tokens)
		second := s.Pending[0]
		used(s, second, 80)
		require.EqualValues(t, 110, account(s, id).Settled.Tokens)
		require.Equal(t, []string{"PAUSED resume", "APPLYING fail"}, moves(s), "the hard cap holds while it is PAUSED")
		require.Equal(t, failure.BudgetExceeded, s.Run(id).Last.Code)
		s.Check()
	}
}

// RU-2, LC-10: a killed run's descendants, detached ones among them, do nothing after
// the event that killed it, however many events the news takes to reach them all: a
// tick that begins ends with TOKEN_REVOKED before its first step.
func TestRunKillEndsEveryDescendant(t *testing.T) {
	const each = 300
	detached := func(mode, program string) string {
		return `{"kind":"DELEGATE","payload":{"detach":true,"children":{"over":"${range(300)}","as":"i","child":{"mode":"` + mode + `",
			"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}],"program":` + program + `}}}}`
	}
	waiting := detached("task", `{"kind":"SEQ","payload":{"steps":[`+callEcho+","+callEcho+`]}}`)
	many := `{"kind":"SEQ","payload":{"steps":[` + waiting + "," + detached("service", literal) + `]}}`
	s := kerneltest.New(t, 2, func(c *config.Config) { c.WorkPerEvent = 1000 })
	id := begun(s, step(s, "a", many), step(s, "b", delegateTo("", kid(callEcho, allowTools, ""), kid(sleep100, allowTools, ""))))
	s.Settle()
	pending := s.Pending
	require.Len(t, pending, each+1)
	s.Must(event.RunPause, event.PauseRun{Run: id})
	s.Must(event.RunKill, event.KillRun{Run: id})
	require.Equal(t, runs.Killed, s.Run(id).State)
	killed := len(s.Blocks)
	require.True(t, s.State().Behind(), "the cascade takes more than one event")
	for _, key := range pending {
		s.Result(key, true, 1)
	}
	s.Pass(1000)
	s.Settle()
	for index := killed + 1; index <= len(s.Blocks); index++ {
		for _, r := range s.Records(index) {
			switch bus.Kind(r.Kind) {
			case bus.Step, bus.CallRequested, bus.CallDispatched, bus.ActionExecuted, bus.ResultDelivered,
				bus.Emitted, bus.InstructionQueued, bus.DelegationAccepted, bus.RunTaskStarted:
				require.Fail(t, "somebody works for a killed run", "index %d: %s of agent %d", index, r.Name, r.Agent)
			}
		}
	}
	st := s.State()
	require.EqualValues(t, 2*each+3, st.Agents.Len())
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		require.Equal(t, lifecycle.Terminated, st.Agents.Get(no).Lifecycle.State)
	}
	s.Check()
}
