package flows

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// suspend is row 6. A WAITING agent is suspended right after row 7, before its
// continuation runs; with force its calls are withdrawn first (LC-13).
func (v View) suspend(t Target, caller lifecycle.Caller, force bool, why cause, out *bus.Batch) {
	if t.Row.Lifecycle.State == lifecycle.Active {
		v.hibernate(t, caller, why, out)
		return
	}
	out.Add(bus.Record{Kind: bus.SuspendRequested, Agent: t.No, Tick: v.tickOf(t), Body: &lifecycle.SuspendRequested{
		Caller: caller, Reason: why.reason,
	}})
	if force {
		v.resolveWithdrawn(t, out)
	}
}

// hibernate takes the snapshot and the transition (ME-3).
func (v View) hibernate(t Target, caller lifecycle.Caller, why cause, out *bus.Batch) {
	v.takeSnapshot(t, out)
	out.Add(transition(t, lifecycle.Active, lifecycle.Suspend, caller, why))
	out.Add(v.setTimer(timers.Timer{
		Deadline: v.Clock + v.Config.ResumableTTLMillis, Purpose: timers.ResumableOver, Agent: t.No,
	}, 0))
}

// Suspend reacts to Lifecycle: row 7 has brought back an agent whose suspension
// was asked for while it waited (LC-13).
func Suspend(v View, made bus.Record, out *bus.Batch) {
	row := v.Agents.Get(made.Agent)
	asked := row.Lifecycle.Suspending
	if row.Lifecycle.State != lifecycle.Active || asked == 0 {
		return
	}
	v.hibernate(Target{made.Agent, row}, asked, cause{tick: made.Tick, reason: "asked for while the agent waited"}, out)
}

// resolveWithdrawn answers every open call of a WAITING agent as WITHDRAWN.
func (v View) resolveWithdrawn(t Target, out *bus.Batch) {
	tick := t.Row.Execution.Current
	if tick == nil {
		return
	}
	v.Tools.OfAgent(t.No, func(c *tools.Call) bool {
		out.Add(clearTimer(t.No, c.Deadline, c.Timer, false))
		return true
	})
	v.Budgets.WaitersOf(t.No, func(w *budgets.Waiter) bool {
		out.Add(clearTimer(t.No, w.Deadline, w.Timer, false))
		return true
	})
	v.Escalations.OfAgent(t.No, func(e *permissions.Escalation) bool {
		out.Add(clearTimer(t.No, e.Deadline, e.Timer, false))
		out.Add(bus.Record{Kind: bus.EscalationDecided, Agent: t.No, Tick: e.Tick, Body: &permissions.EscalationDecided{
			ID: e.ID, Code: failure.Withdrawn, Reason: "the agent is to be suspended",
		}})
		return true
	})
	v.Delegation.OfParent(t.No, func(o *delegation.Open) bool {
		if tick.Wait(o.Call) != nil { // else its handler waits for something, and then for them again
			v.cancel(t, o, failure.Killed, out)
		}
		return true
	})
	clearOwn(t, out)
	s := v.settling(t, out)
	if t.Row.Mailbox.Call != 0 {
		s.add(bus.ReceiveStarted, noReceive)
	}
	for i := range tick.Waits {
		if tick.Waits[i].Answer == nil {
			s.settle(tick.Waits[i].Tool, execution.Answer{
				Call: tick.First + uint32(i), Code: failure.Withdrawn, Message: "the call was withdrawn: the agent is to be suspended",
			}, 0, tools.Usage{})
		}
	}
}

// resume is row 9: what the snapshot's checksum covers must be what it was
// (ME-3). If it is not, this node's state is damaged, and it stops.
func (v View) resume(t Target, caller lifecycle.Caller, why cause, out *bus.Batch) {
	clearOwn(t, out)
	v.verifySnapshot(t, out)
	out.Add(transition(t, t.Row.Lifecycle.State, lifecycle.Resume, caller, why))
}

// expire is row 10. Its tokens go with the agent.
func (v View) expire(t Target, caller lifecycle.Caller, why cause, out *bus.Batch) {
	out.Add(transition(t, lifecycle.Resumable, lifecycle.Expire, caller, why))
}
