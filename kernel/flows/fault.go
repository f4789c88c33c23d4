package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/recovery"
	"github.com/omnikernel/omnikernel/kernel/timers"
)

// Fault reacts to TickFailed: what the failure's class does to the agent
// (FA-1 … FA-4). A policy violation leaves it as it is; Finish decides what
// comes next.
func Fault(v View, made bus.Record, out *bus.Batch) {
	body, ok := made.Body.(*execution.FailedBody)
	row := v.Agents.Get(made.Agent)
	if !ok || row.Lifecycle.State != lifecycle.Active && row.Lifecycle.State != lifecycle.Completing {
		return
	}
	t := Target{made.Agent, row}
	switch body.Failure.Class() {
	case failure.Transient, failure.Permanent:
		out.Add(transition(t, row.Lifecycle.State, lifecycle.Error, lifecycle.Kernel, v.faulted(t, made.Tick, &body.Failure)))
	case failure.InvariantBreach:
		Breach(v, made.Agent, "EVALUATOR", body.Failure.Message, bus.TickFailed, out)
	}
}

// faulted is the cause of a transition to FAULTED. A TRANSIENT failure that
// has used up its retries is PERMANENT (FA-1).
func (v View) faulted(t Target, tick uint64, f *failure.Failure) cause {
	why := failed(tick, f)
	if why.class == failure.Transient && t.Row.Recovery.Of(tick) >= v.Config.MaxRetries {
		why.class, why.reason = failure.Permanent, "retried as often as max_retries allows"
	}
	return why
}

// Faulted reacts to Lifecycle: a FAULTED agent is retried after its backoff, or
// loses its children, and as somebody's child its life (FA-1, FA-2). A root
// agent rests until an operator decides.
func Faulted(v View, made bus.Record, out *bus.Batch) {
	row := v.Agents.Get(made.Agent)
	body, ok := made.Body.(*lifecycle.Event)
	if !ok || row.Lifecycle.State != lifecycle.Faulted || body.To != lifecycle.Faulted || row.Timer.ID != 0 {
		return
	}
	t := Target{made.Agent, row}
	if row.Lifecycle.Fault == failure.Transient {
		retries := row.Recovery.Of(made.Tick)
		wait := recovery.Backoff(v.Config.BackoffMillis, v.Config.MaxBackoffMillis, retries)
		out.Add(bus.Record{Kind: bus.RetryScheduled, Agent: t.No, Tick: made.Tick, Body: &recovery.Scheduled{Retry: retries + 1, Millis: wait}})
		out.Add(v.setTimer(timers.Timer{Deadline: v.Clock + wait, Purpose: timers.BackoffOver, Agent: t.No, Tick: made.Tick}, 0))
		return
	}
	if row.Delegation.Revoked == "" { // else its children's tokens are void, and a cascade is on its way
		v.revokeChildren(t, failure.TokenRevoked, out)
	}
	if row.Delegation.Parent != 0 || voidCode(body.Code) || exhausted(row.Execution.Current, body.Code) {
		why := cause{tick: made.Tick, code: body.Code, class: body.Class, reason: body.Reason}
		v.tornOff(t, out)
		out.Add(transition(t, lifecycle.Faulted, lifecycle.Abandon, lifecycle.FailureHandler, why))
	}
}

// exhausted reports whether a teardown has used up its retries: nothing is left
// that an operator could save, so even a root agent is abandoned (LC-5).
func exhausted(tick *execution.Tick, code failure.Code) bool {
	return tick != nil && tick.Teardown && failure.ClassOf(code) == failure.Transient
}

// voidCode reports whether a failure says that the agent lost its token: then
// it is abandoned, whoever it is (LC-10).
func voidCode(c failure.Code) bool { return c == failure.TokenRevoked || c == failure.TokenExpired }

// revokeChildren voids every token below the agent with one record (FA-2, LC-10).
func (v View) revokeChildren(t Target, code failure.Code, out *bus.Batch) {
	if delegation.HasLive(v.tokens, t.No) {
		out.Add(bus.Record{Kind: bus.ChildrenRevoked, Agent: t.No, Body: &delegation.ChildrenVoided{Code: code}})
	}
}

// recoverable refuses what is no TRANSIENT fault.
func recoverable(t Target) *Refusal {
	if t.Row.Lifecycle.Fault == failure.Transient {
		return nil
	}
	return refuseHint(failure.NotRecoverable, "agent", "the fault is "+t.Row.Lifecycle.Fault.String()+": only a TRANSIENT one can be recovered",
		"call it transient with: omni agent reclassify "+FormatID(t.Row.Identity.ID)+" --transient --reason …, or end the agent with: omni agent abandon")
}

// recoverFault is rows 12 and 14: the failed tick goes back to its recovery
// checkpoint, and persistent memory with it, and runs again with the same
// tickSeq (FA-1). A checkpoint that cannot be restored is row 15.
func (v View) recoverFault(t Target, caller lifecycle.Caller, why cause, out *bus.Batch) {
	out.Add(transition(t, lifecycle.Faulted, lifecycle.Recover, caller, why))
	tick := t.Row.Execution.Current
	if tick != nil && !v.restorable(t, tick) {
		f := &failure.Failure{Code: failure.CheckpointInvalid, Message: "the recovery checkpoint cannot be restored"}
		v.tornOff(t, out)
		out.Add(transition(t, lifecycle.Recovering, lifecycle.RecoveryExhausted, lifecycle.Kernel, failed(tick.Seq, f)))
		return
	}
	if tick != nil {
		v.putBack(t, tick, out)
	}
	out.Add(transition(t, lifecycle.Recovering, lifecycle.RecoverySuccess, lifecycle.Kernel, why))
}

// putBack puts a tick back to its recovery checkpoint, from which it asks for
// everything anew, and persistent memory with it.
func (v View) putBack(t Target, tick *execution.Tick, out *bus.Batch) {
	if open, again := v.Delegation.Get(t.No, tick.Seq, tick.First); again {
		v.cancel(t, open, failure.Killed, out) // the tick asks for children anew
	}
	out.Add(bus.Record{Kind: bus.TickRestored, Agent: t.No, Tick: tick.Seq, Body: execution.Empty{}})
	v.restoreMemory(t, tick, out)
}

// restorable reports whether the evaluator takes the checkpoint back.
func (v View) restorable(t Target, tick *execution.Tick) (ok bool) {
	if tick.Recovery == nil {
		return true // the tick starts again
	}
	program, known := v.Compiled.Program(tick.Program)
	if !known {
		return false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, f := program.Resume(evaluator.Context{
		MaxValueBytes: v.Config.MaxValueBytes, MaxCheckpointBytes: v.Config.MaxCheckpointBytes,
	}, tick.Recovery, nil)
	return f == nil
}

// Reclassify decides an AgentReclassify event: an operator takes a PERMANENT
// fault for a passing one, on record, and may then recover it (FA-2).
func Reclassify(v View, cmd *event.Reclassify, out *bus.Batch) (Target, *Refusal) {
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	switch {
	case cmd.Reason == "":
		return t, refuse(failure.InvalidArgument, "reason", "must say why the fault is a passing one")
	case t.Row.Lifecycle.State != lifecycle.Faulted:
		return t, refuse(failure.InvalidState, "agent", "the agent is "+t.Row.Lifecycle.State.String()+": only a FAULTED one has a fault to reclassify")
	case t.Row.Lifecycle.Fault != failure.Permanent:
		return t, refuse(failure.InvalidArgument, "agent", "the fault is "+t.Row.Lifecycle.Fault.String()+" already")
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return t, refusal
	}
	out.Add(bus.Record{Kind: bus.FaultReclassified, Agent: t.No, Tick: v.tickOf(t), Body: &lifecycle.Reclassified{Reason: cmd.Reason}})
	return t, nil
}
