package flows

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// RunTick reacts to the end of a tick of a run's root agent: its plan is made, or
// its task is done, unless its program goes on anew. A policy block fails the run, which no fault of its agent would
// (RU-2); other failures are RunAgent's.
func RunTick(v View, made bus.Record, out *bus.Batch) {
	t, run := v.runOf(made.Agent)
	if run == nil || t.Row.Lifecycle.State != lifecycle.Active {
		return
	}
	switch body := made.Body.(type) {
	case *execution.CompletedBody:
		switch {
		case body.Again: // neither is over
		case run.State == runs.Planning:
			v.planned(t, run, made.Tick, body.Value, out)
		case run.Running == 0:
		case run.Results+uint64(len(body.Value)) > uint64(v.Config.MaxRunBytes):
			f := &failure.Failure{Code: failure.ValueTooLarge, Message: "the results of the run's tasks are larger than max_run_bytes"}
			runOver(t, run, runs.Fail, runCause{cause: runs.Kernel, code: f.Code, reason: f.Message}, f.Message, out)
			v.completeRoot(t, made.Tick, out)
		default:
			out.Add(bus.Record{Kind: bus.RunTaskCompleted, Agent: t.No, Tick: made.Tick, Body: &runs.TaskBody{Task: run.Running - 1}})
		}
	case *execution.FailedBody:
		if f := &body.Failure; f.Class() == failure.PolicyViolation {
			runOver(t, run, runs.Fail, runCause{cause: runs.Kernel, code: f.Code, reason: "a policy forbids what it wants"}, f.Message, out)
			v.completeRoot(t, made.Tick, out)
		}
	}
}

// RunAgent reacts to Lifecycle: what becomes of its root agent becomes of a run. A
// fault that is not retried fails it, and the agent is abandoned; an agent that was
// killed has been the run's end, too.
func RunAgent(v View, made bus.Record, out *bus.Batch) {
	body, ok := made.Body.(*lifecycle.Event)
	if !ok || body.To != lifecycle.Faulted && body.To != lifecycle.Terminated {
		return
	}
	t, run := v.runOf(made.Agent)
	if run == nil || t.Row.Lifecycle.State != body.To {
		return
	}
	if body.To == lifecycle.Faulted {
		if t.Row.Lifecycle.Fault == failure.Permanent {
			_, code, message := outcomeOf(t, body)
			runOver(t, run, runs.Fail, runCause{cause: runs.Kernel, code: code, reason: body.Reason}, message, out)
			v.tornOff(t, out)
			out.Add(transition(t, lifecycle.Faulted, lifecycle.Abandon, lifecycle.FailureHandler, cause{
				tick: made.Tick, code: body.Code, class: body.Class, reason: body.Reason,
			}))
		}
		return
	}
	_, code, message := outcomeOf(t, body)
	why, trigger := runCause{cause: runs.Kernel, code: code, reason: body.Reason}, runs.Fail
	switch code {
	case failure.Killed:
		why.cause, trigger = runs.Operator, runs.Kill
	case failure.TokenRevoked:
		why.cause, trigger = runs.Security, runs.Kill
	}
	runOver(t, run, trigger, why, message, out)
}

// runOver is how a run ends before its tasks do: the one in progress has failed.
func runOver(t Target, run *runs.Run, trigger runs.Trigger, why runCause, message string, out *bus.Batch) {
	if run.Running != 0 {
		out.Add(bus.Record{Kind: bus.RunTaskFailed, Agent: t.No, Tick: run.Tasks[run.Running-1].Tick, Body: &runs.TaskFailedBody{
			Task: run.Running - 1, Code: why.code, Message: message,
		}})
	}
	runMoves(t, run.State, trigger, why, out)
}

// RunBudget reacts to BudgetWarning and BudgetExceeded of a root agent's account:
// the warning pauses its run, and the hard cap fails it, and its agent with it,
// whatever that is doing (RU-3).
func RunBudget(v View, made bus.Record, out *bus.Batch) {
	t, run := v.runOf(made.Agent)
	mark, ok := made.Body.(*budgets.Mark)
	if run == nil || !ok {
		return
	}
	if made.Kind == bus.BudgetWarning {
		if t.Row.Lifecycle.State == lifecycle.Terminated {
			return // of the same event, and the run with it
		}
		v.pauseRun(t.No, runs.Budget, "the budget of "+mark.Kind.String()+" is nearly used up", out)
		return
	}
	f := overBudget(mark)
	runOver(t, run, runs.Fail, runCause{cause: runs.Budget, code: f.Code, reason: f.Message}, f.Message, out)
	if lifecycle.KillPath(t.Row.Lifecycle.State) != nil {
		v.end(t, f, "", out)
	}
}
