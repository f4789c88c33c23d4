package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Trigger decides an AgentTrigger event: one transition, as the table allows
// it to the caller, with the side effects of its row (LC-1 … LC-3).
func Trigger(v View, cmd *event.Trigger, caller lifecycle.Caller, out *bus.Batch) (Target, *Refusal) {
	trigger, ok := lifecycle.ParseTrigger(cmd.Trigger)
	if !ok {
		return Target{}, refuse(failure.InvalidArgument, "trigger", "must be one of the table's triggers, such as spawn, activate, suspend, resume, expire, recover or abandon")
	}
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	from := t.Row.Lifecycle.State
	if _, ok := lifecycle.Decide(from, trigger, caller); !ok {
		return t, rejected(t, trigger, caller)
	}
	if refusal := v.checkRun(cmd.Input, cmd.Reason); refusal != nil {
		return t, refusal
	}
	if len(cmd.Input) > 0 && trigger != lifecycle.Spawn {
		return t, refuse(failure.InvalidArgument, "input", "only spawn takes an input: use submit to add work later")
	}
	why := cause{reason: cmd.Reason}
	switch {
	case trigger == lifecycle.Spawn:
		return t, v.spawnCommand(t, cmd.Input, caller, why, out)
	case trigger == lifecycle.Activate:
		return t, activate(t, caller, why, out)
	case trigger == lifecycle.Suspend:
		out.Add(transition(t, from, trigger, caller, why))
		out.Add(v.setTimer(timers.Timer{
			Deadline: v.Clock + v.Config.ResumableTTLMillis, Purpose: timers.ResumableOver, Agent: t.No,
		}, 0))
	case trigger == lifecycle.Recover:
		return t, recoverFault(t, caller, why, out)
	default:
		clearOwn(t, out)
		out.Add(transition(t, from, trigger, caller, why))
	}
	return t, nil
}

// rejected is LC-2: recorded with from, trigger and caller, nothing changed.
func rejected(t Target, trigger lifecycle.Trigger, caller lifecycle.Caller) *Refusal {
	from := t.Row.Lifecycle.State
	word := trigger.String()
	if trigger == 0 {
		word = "kill"
	}
	r := refuseHint(failure.InvalidTransition, "trigger",
		word+" is not for a "+caller.String()+" to cause while the agent is "+from.String(),
		"see the agent's state with: omni agent get "+FormatID(t.Row.Identity.ID))
	r.Record = &bus.Record{Kind: bus.InvalidTransition, Agent: t.No, Body: &lifecycle.Rejection{
		From: from, Trigger: trigger, Caller: caller,
	}}
	return r
}

// spawnCommand is row 1 on its own: grants, a queue, a reserved place, and
// the agent's own program as its first instruction if it has one.
func (v View) spawnCommand(t Target, input value.Raw, caller lifecycle.Caller, why cause, out *bus.Batch) *Refusal {
	if v.Running.Reserved >= v.Config.GlobalQueue {
		return queueFull()
	}
	program := t.Row.Identity.Program
	if program == 0 && len(input) > 0 {
		return refuse(failure.NoInstruction, "input", "the agent has no program that could take an input")
	}
	v.spawn(t, t.Row.Identity.Grants, caller, why, out)
	if program != 0 {
		out.Add(instruction(t, program, input))
	}
	return nil
}

func (v View) spawn(t Target, grants uint32, caller lifecycle.Caller, why cause, out *bus.Batch) {
	out.Add(transition(t, lifecycle.Defined, lifecycle.Spawn, caller, why))
	out.Add(bus.Record{Kind: bus.QueueAllocated, Agent: t.No, Body: execution.Empty{}})
	out.Add(bus.Record{Kind: bus.GrantsAssigned, Agent: t.No, Body: &permissions.Assigned{Grants: grants}})
}

func instruction(t Target, program uint32, input value.Raw) bus.Record {
	if len(input) == 0 {
		input = value.Null
	}
	return bus.Record{Kind: bus.InstructionQueued, Agent: t.No, Body: &execution.InstructionBody{Program: program, Input: input}}
}

// activate is row 2. A task agent without work would complete at once (LC-11).
func activate(t Target, caller lifecycle.Caller, why cause, out *bus.Batch) *Refusal {
	if t.Row.Identity.Mode == identity.Task && len(t.Row.Execution.Queue) == 0 {
		return refuseHint(failure.NoInstruction, "agent", "a task agent needs an instruction before it is activated", "add one with: omni agent submit "+FormatID(t.Row.Identity.ID)+" -f FILE")
	}
	out.Add(transition(t, lifecycle.Spawned, lifecycle.Activate, caller, why))
	return nil
}

// recoverFault is rows 12 and 14: the failed tick goes back to its recovery
// checkpoint and runs again, with the same tickSeq (FA-1).
func recoverFault(t Target, caller lifecycle.Caller, why cause, out *bus.Batch) *Refusal {
	if t.Row.Lifecycle.Fault != failure.Transient {
		return refuseHint(failure.NotRecoverable, "agent", "the fault is "+t.Row.Lifecycle.Fault.String()+": only a TRANSIENT one can be recovered", "end the agent with: omni agent abandon "+FormatID(t.Row.Identity.ID))
	}
	out.Add(transition(t, lifecycle.Faulted, lifecycle.Recover, caller, why))
	if tick := t.Row.Execution.Current; tick != nil {
		out.Add(bus.Record{Kind: bus.TickRestored, Agent: t.No, Tick: tick.Seq, Body: execution.Empty{}})
	}
	out.Add(transition(t, lifecycle.Recovering, lifecycle.RecoverySuccess, lifecycle.Kernel, why))
	return nil
}
