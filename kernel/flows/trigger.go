package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
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
	if !v.possible(t, trigger, caller, cmd.Force) {
		return t, rejected(t, trigger, caller)
	}
	if refusal := v.checkRun(cmd.Input, cmd.Reason); refusal != nil {
		return t, refusal
	}
	if len(cmd.Input) > 0 && trigger != lifecycle.Spawn {
		return t, refuse(failure.InvalidArgument, "input", "only spawn takes an input: use submit to add work later")
	}
	if cmd.Force && trigger != lifecycle.Suspend {
		return t, refuse(failure.InvalidArgument, "force", "only suspend can be forced")
	}
	why := cause{reason: cmd.Reason}
	switch {
	case trigger == lifecycle.Spawn:
		return t, v.spawnCommand(t, cmd.Input, caller, why, out)
	case trigger == lifecycle.Activate:
		return t, activate(t, caller, why, out)
	case trigger == lifecycle.Suspend:
		v.suspend(t, caller, cmd.Force, why, out)
	case trigger == lifecycle.Recover:
		if refusal := recoverable(t); refusal != nil {
			return t, refusal
		}
		clearOwn(t, out)
		v.recoverFault(t, caller, why, out)
	case trigger == lifecycle.Resume:
		v.resume(t, caller, why, out)
	case trigger == lifecycle.Expire:
		clearOwn(t, out)
		v.expire(t, caller, why, out)
	default:
		if trigger == lifecycle.Abandon {
			v.tornOff(t, out)
		}
		clearOwn(t, out)
		out.Add(transition(t, from, trigger, caller, why))
	}
	return t, nil
}

// possible asks the table. A WAITING agent may be told to suspend once, by whom
// row 6 allows it: that is taken right after row 7 (LC-13). Whoever does not
// want to wait for that may force it then: it takes the place of what was asked.
func (v View) possible(t Target, trigger lifecycle.Trigger, caller lifecycle.Caller, force bool) bool {
	from := t.Row.Lifecycle.State
	if from == lifecycle.Waiting && trigger == lifecycle.Suspend && (force || t.Row.Lifecycle.Suspending == 0) {
		from = lifecycle.Active
	}
	_, ok := lifecycle.Decide(from, trigger, caller)
	return ok
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
	id := &t.Row.Identity
	v.spawn(t, &identity.Defined{ID: id.ID, Grants: id.Grants, MaxDepth: id.MaxDepth, TTLMillis: id.TTLMillis}, caller, why, out)
	if program != 0 {
		out.Add(instruction(t, program, input))
	}
	return nil
}

// spawn is row 1 of a root agent: a queue, a reserved place, its grants, and a
// token for them (DE-1).
func (v View) spawn(t Target, d *identity.Defined, caller lifecycle.Caller, why cause, out *bus.Batch) {
	expires := int64(0)
	if d.TTLMillis > 0 {
		expires = v.Clock + d.TTLMillis
	}
	v.spawnWith(t, tokenOf(d.ID, d.Grants, d.MaxDepth, expires), caller, why, 0, out)
}

// tokenOf is the token of an agent. There is one an agent, so its id follows
// from the agent's (EV-10).
func tokenOf(id identity.ID, grants, depth uint32, expires int64) delegation.TokenIssued {
	return delegation.TokenIssued{Token: TokenID(id), Grants: grants, Depth: depth, Expires: expires}
}

// TokenID is the id of an agent's token.
func TokenID(agent identity.ID) identity.ID { return derived(agent, 0) }

// spawnWith issues the token first (INV-13). timers is how many timers the
// batch sets before it; it returns how many there are then.
func (v View) spawnWith(t Target, token delegation.TokenIssued, caller lifecycle.Caller, why cause, timers uint64, out *bus.Batch) uint64 {
	var timer bus.Record
	if token.Expires > 0 {
		timer = v.tokenTimer(t, token.Expires, timers)
		token.Timer = timerID(timer)
		timers++
	}
	out.Add(bus.Record{Kind: bus.TokenIssued, Agent: t.No, Body: &token})
	if timer.Body != nil {
		out.Add(timer)
	}
	out.Add(transition(t, lifecycle.Defined, lifecycle.Spawn, caller, why))
	out.Add(bus.Record{Kind: bus.QueueAllocated, Agent: t.No, Body: execution.Empty{}})
	out.Add(bus.Record{Kind: bus.GrantsAssigned, Agent: t.No, Body: &permissions.Assigned{Grants: token.Grants}})
	return timers
}

func (v View) tokenTimer(t Target, expires int64, before uint64) bus.Record {
	return v.setTimer(timers.Timer{Deadline: expires, Purpose: timers.TokenOver, Agent: t.No}, before)
}

func timerID(set bus.Record) uint64 { return set.Body.(*timers.Set).Timer.ID }

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
