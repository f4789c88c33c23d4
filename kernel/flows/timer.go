package flows

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Fire decides what a due timer does. It is cleared in any case (EV-6, LC-12).
func Fire(v View, timer timers.Timer, out *bus.Batch) {
	t := Target{timer.Agent, v.Agents.Get(timer.Agent)}
	out.Add(clearTimer(t.No, timer.Deadline, timer.ID, true))
	switch timer.Purpose {
	case timers.CallDeadline:
		v.callOver(t, timer, out)
	case timers.SleepOver:
		s := v.settling(t, out)
		s.succeed(timer.Call, "timer.sleep", value.Null)
	case timers.ReceiveOver:
		v.receiveOver(t, timer, out)
	case timers.ResumableOver:
		v.expire(t, lifecycle.Kernel, cause{code: failure.Expired, class: failure.Permanent, reason: "not resumed in time"}, out)
	case timers.RetentionOver:
		v.archive(t, out)
	case timers.BackoffOver:
		v.recoverFault(t, lifecycle.FailureHandler, cause{tick: timer.Tick, reason: "after the backoff"}, out)
	case timers.EscalationOver:
		v.escalationOver(t, timer, out)
	case timers.DelegationOver:
		v.delegationOver(t, timer, out)
	case timers.TokenOver:
		v.tokenOver(t, out)
	case timers.ReservationOver:
		v.reservationOver(timer, out)
	case timers.BudgetOver:
		v.budgetMoment(t, out)
	}
}

// callOver ends the wait for a call. A call that may have happened, and must
// not happen twice, is called unknown and delivered as that (TO-4), and one that
// nobody answered as that (TO-12); for any other the wait has timed out, which is row 8.
func (v View) callOver(t Target, timer timers.Timer, out *bus.Batch) {
	call, ok := v.Tools.Get(tools.Key{Agent: timer.Agent, Tick: timer.Tick, Call: timer.Call})
	if !ok {
		if w, waits := v.Budgets.Waiter(budgets.Key{Agent: timer.Agent, Tick: timer.Tick, Call: timer.Call}); waits {
			v.waitOver(t, timer.Tick, w.Tool, timer.Call, out)
		}
		return
	}
	if v.Tools.Asks(call) {
		v.unanswered(t, call, out)
		return
	}
	if call.Dispatched != 0 {
		s := v.settling(t, out)
		s.refuse(timer.Call, call.Tool, &failure.Failure{
			Code: failure.OutcomeUnknown, Message: "the call was dispatched and its result never came: it may or may not have happened",
		})
		return
	}
	v.waitOver(t, timer.Tick, call.Tool, timer.Call, out)
}

// delegationOver ends the wait for children. A parent that is busy with what
// one of them asked for is not WAITING for them now: then their time is over,
// and it finds them so when it waits again (LC-12).
func (v View) delegationOver(t Target, timer timers.Timer, out *bus.Batch) {
	if t.Row.Lifecycle.State == lifecycle.Waiting && t.Row.Execution.Current.Wait(timer.Call) != nil {
		v.waitOver(t, timer.Tick, execution.Delegate, timer.Call, out)
		return
	}
	out.Add(bus.Record{Kind: bus.RequestCancelled, Agent: t.No, Tick: timer.Tick, Body: &delegation.RequestCancelled{
		Tick: timer.Tick, Call: timer.Call, Code: failure.WaitTimeout,
	}})
}

// waitOver is row 8: a wait has passed its deadline. Whatever else the agent
// waited for is withdrawn (LC-12).
func (v View) waitOver(t Target, tick uint64, tool string, call uint32, out *bus.Batch) {
	if t.Row.Lifecycle.State != lifecycle.Waiting || t.Row.Execution.Current.Wait(call) == nil {
		return
	}
	f := &failure.Failure{Code: failure.WaitTimeout, Message: "the wait for " + tool + " passed its deadline"}
	out.Add(bus.Record{Kind: bus.ActionFailed, Agent: t.No, Tick: tick, Body: &tools.ActionBody{
		Call: call, Tool: tool, Code: f.Code, Message: f.Message,
	}})
	v.withdrawCalls(t, call, out)
	if open, ok := v.Delegation.Get(t.No, tick, call); ok {
		fired := *open
		fired.Timer = 0 // its timer is what brought us here
		v.cancel(t, &fired, failure.Killed, out)
	}
	out.Add(bus.Record{Kind: bus.TickFailed, Agent: t.No, Tick: tick, Body: &execution.FailedBody{
		Steps: t.Row.Execution.Current.Steps, Failure: *f,
	}})
	out.Add(transition(t, lifecycle.Waiting, lifecycle.Timeout, lifecycle.Scheduler, v.faulted(t, tick, f)))
}

// archive shrinks a TERMINATED agent's row to its tombstone (LC-8).
// While a parent still waits for the answers of its children, they stay.
func (v View) archive(t Target, out *bus.Batch) {
	if d := &t.Row.Delegation; d.Parent != 0 {
		if _, open := v.Delegation.Get(d.Parent, d.Tick, d.Call); open {
			out.Add(v.setTimer(timers.Timer{
				Deadline: v.Clock + v.Config.RetentionMillis, Purpose: timers.RetentionOver, Agent: t.No,
			}, 0))
			return
		}
	}

	id := &t.Row.Identity
	var lost interning.Lost
	for _, no := range id.Bodies() {
		if no != 0 {
			lost.Numbers = append(lost.Numbers, no)
		}
	}
	if now := t.Row.Permissions.Grants; now != 0 && now != id.Grants {
		lost.Numbers = append(lost.Numbers, now) // after a grant was revoked
	}
	if t.Row.Memory.Keys > 0 || t.Row.Memory.Undo != nil {
		out.Add(bus.Record{Kind: bus.MemoryReleased, Agent: t.No, Body: &memory.Released{Keys: t.Row.Memory.Keys, Bytes: t.Row.Memory.Bytes}})
	}
	out.Add(bus.Record{Kind: bus.AgentArchived, Agent: t.No, Body: execution.Empty{}})
	if run := v.Runs.Get(t.No); run != nil {
		lost.Numbers = append(lost.Numbers, run.Programs()...)
		out.Add(bus.Record{Kind: bus.RunArchived, Agent: t.No, Body: execution.Empty{}})
	}
	if len(lost.Numbers) > 0 {
		out.Add(bus.Record{Kind: bus.Released, Agent: t.No, Body: &lost})
	}
}
