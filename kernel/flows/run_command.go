package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// runAsked finds the run that a command names and checks what the client says.
func (v View) runAsked(id, reason, trigger string) (t Target, run *runs.Run, by runs.Cause, refusal *Refusal) {
	if t, run, refusal = v.runTarget(id); refusal != nil {
		return t, run, by, refusal
	}
	by, ok := runs.ParseCause(trigger)
	if !ok {
		return t, run, by, refuse(failure.InvalidArgument, "trigger", "must be operator, budget, governance, security or runaway_cost")
	}
	return t, run, by, v.checkRun(nil, reason)
}

// StartRun decides a RunStart event: the plan that is there is carried out.
func StartRun(v View, cmd *event.StartRun, out *bus.Batch) (Target, *Refusal) {
	t, run, by, refusal := v.runAsked(cmd.Run, cmd.Reason, "")
	switch {
	case refusal != nil:
		return t, refusal
	case runs.Path(run.State, runs.Start) == nil:
		return t, invalidRun(t, run, runs.Start, by, "")
	}
	runMoves(t, run.State, runs.Start, runCause{cause: by, reason: cmd.Reason}, out)
	return t, nil
}

// PauseRun decides a RunPause event (RU-2).
func PauseRun(v View, cmd *event.PauseRun, out *bus.Batch) (Target, *Refusal) {
	t, run, by, refusal := v.runAsked(cmd.Run, cmd.Reason, cmd.Trigger)
	if refusal != nil {
		return t, refusal
	}
	busy := run.State == runs.Applying && run.Running != 0
	switch {
	case cmd.Force && run.State == runs.Planning:
		return t, invalidRun(t, run, runs.Pause, by, "what plans a run cannot be interrupted: pause it without force, which takes effect when the plan is there, or kill it")
	case cmd.Force && busy:
		return t, v.interrupt(t, run, runCause{cause: by, reason: cmd.Reason}, out)
	case !v.pauseRun(t.No, by, cmd.Reason, out):
		rule := ""
		if run.Pausing != 0 {
			rule = "a pause was asked for before, and takes effect when what is in progress has ended: force it if that is too late"
		}
		return t, invalidRun(t, run, runs.Pause, by, rule)
	}
	return t, nil
}

// pauseRun pauses a run in order: what is in progress ends first. It reports
// whether that changed anything, and is for reactions to records of the root
// agent, too.
func (v View) pauseRun(no uint32, by runs.Cause, reason string, out *bus.Batch) bool {
	t, run := v.runOf(no)
	switch {
	case run == nil || run.Pausing != 0:
		return false
	case run.State == runs.Planning, run.State == runs.Applying && run.Running != 0:
		out.Add(bus.Record{Kind: bus.RunPauseRequested, Agent: t.No, Body: &runs.PauseBody{Cause: by, Reason: reason}})
		return true
	case runs.Path(run.State, runs.Pause) == nil:
		return false
	}
	runMoves(t, run.State, runs.Pause, runCause{cause: by, reason: reason}, out)
	return true
}

// interrupt is a forced pause: what the running task waits for is withdrawn, its
// tick is frozen, and the agent hibernates (LC-13).
func (v View) interrupt(t Target, run *runs.Run, why runCause, out *bus.Batch) *Refusal {
	state := t.Row.Lifecycle.State
	switch state {
	case lifecycle.Active, lifecycle.Waiting, lifecycle.Resumable:
	default:
		return invalidRun(t, run, runs.Pause, why.cause, "the root agent is "+state.String()+", which cannot be suspended: pause without force, or kill the run")
	}
	why.forced = state == lifecycle.Waiting
	runMoves(t, run.State, runs.Pause, why, out)
	if state != lifecycle.Resumable {
		v.suspend(t, lifecycle.Client, true, cause{reason: why.reason}, out)
	}
	return nil
}

// ResumeRun decides a RunResume event: a pause that has not taken effect is taken
// back; a PAUSED run goes on after the last completed task. What a forced pause
// withdrew is asked for again.
func ResumeRun(v View, cmd *event.ResumeRun, out *bus.Batch) (Target, *Refusal) {
	t, run, by, refusal := v.runAsked(cmd.Run, cmd.Reason, cmd.Trigger)
	switch {
	case refusal != nil:
		return t, refusal
	case run.Pausing != 0:
		out.Add(bus.Record{Kind: bus.RunPauseRequested, Agent: t.No, Body: &runs.PauseBody{Reason: cmd.Reason}})
		return t, nil
	case runs.Path(run.State, runs.Resume) == nil:
		return t, invalidRun(t, run, runs.Resume, by, "")
	}
	if t.Row.Lifecycle.State == lifecycle.Resumable {
		v.resume(t, lifecycle.Client, cause{reason: cmd.Reason}, out)
		if tick := t.Row.Execution.Current; run.Interrupted && tick != nil && tick.Phase == execution.Answered && v.restorable(t, tick) {
			v.putBack(t, tick, out)
		}
	}
	runMoves(t, run.State, runs.Resume, runCause{cause: by, reason: cmd.Reason}, out)
	return t, nil
}

// KillRun decides a RunKill event: the run ends, and its root agent is killed as
// any agent is (LC-4).
func KillRun(v View, cmd *event.KillRun, out *bus.Batch) (Target, *Refusal) {
	t, run, by, refusal := v.runAsked(cmd.Run, cmd.Reason, cmd.Trigger)
	switch {
	case refusal != nil:
		return t, refusal
	case runs.Path(run.State, runs.Kill) == nil:
		return t, invalidRun(t, run, runs.Kill, by, "")
	}
	runOver(t, run, runs.Kill, runCause{cause: by, code: failure.Killed, reason: cmd.Reason}, killed.Message, out)
	v.end(t, killed, cmd.Reason, out)
	return t, nil
}
