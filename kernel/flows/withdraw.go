package flows

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// withdraw takes back everything that an agent waits for, without delivering
// anything: its calls in the outbox, its escalations, its requests for children
// (TO-5, LC-10). The agent ends, and its children lose their tokens with it.
func (v View) withdraw(t Target, out *bus.Batch) {
	v.withdrawCalls(t, 0, out)
	v.Delegation.OfParent(t.No, func(o *delegation.Open) bool {
		closeRequest(t, o, out)
		return true
	})
}

// withdrawCalls leaves out one call of the outbox, whose end and timer are on
// record already: its entry is gone with its ACTION_FAILED.
func (v View) withdrawCalls(t Target, except uint32, out *bus.Batch) {
	v.Tools.OfAgent(t.No, func(c *tools.Call) bool {
		if c.Key.Call == except {
			return true
		}
		out.Add(clearTimer(t.No, c.Deadline, c.Timer, false))
		out.Add(bus.Record{Kind: bus.ActionFailed, Agent: t.No, Tick: c.Key.Tick, Body: &tools.ActionBody{
			Call: c.Key.Call, Tool: c.Tool, Code: failure.Withdrawn, Message: "the agent left its wait",
		}})
		return true
	})
	v.Budgets.WaitersOf(t.No, func(w *budgets.Waiter) bool {
		if w.Key.Call != except {
			out.Add(clearTimer(t.No, w.Deadline, w.Timer, false))
			out.Add(bus.Record{Kind: bus.ActionFailed, Agent: t.No, Tick: w.Key.Tick, Body: &tools.ActionBody{
				Call: w.Key.Call, Tool: w.Tool, Code: failure.Withdrawn, Message: "the agent left its wait",
			}})
		}
		return true
	})
	v.Escalations.OfAgent(t.No, func(e *permissions.Escalation) bool {
		out.Add(clearTimer(t.No, e.Deadline, e.Timer, false))
		out.Add(bus.Record{Kind: bus.EscalationDecided, Agent: t.No, Tick: e.Tick, Body: &permissions.EscalationDecided{
			ID: e.ID, Code: failure.Withdrawn, Reason: "the agent left its wait",
		}})
		return true
	})
	if t.Row.Mailbox.Call != 0 {
		out.Add(bus.Record{Kind: bus.ReceiveStarted, Agent: t.No, Tick: v.tickOf(t), Body: noReceive})
	}
}

// cancel forgets a request for children: nobody waits for its answer any more,
// and what still runs of it is to end.
func (v View) cancel(t Target, o *delegation.Open, code failure.Code, out *bus.Batch) {
	if o.Open > 0 {
		out.Add(bus.Record{Kind: bus.RequestCancelled, Agent: t.No, Tick: o.Tick, Body: &delegation.RequestCancelled{
			Tick: o.Tick, Call: o.Call, Code: code,
		}})
	}
	closeRequest(t, o, out)
}

func closeRequest(t Target, o *delegation.Open, out *bus.Batch) {
	if o.Timer != 0 {
		out.Add(clearTimer(t.No, o.Deadline, o.Timer, false))
	}
	out.Add(bus.Record{Kind: bus.DelegationOver, Agent: t.No, Tick: o.Tick, Body: &delegation.DelegationOver{Call: o.Call}})
}

// tickOf is the agent's tick in progress, 0 when there is none.
func (v View) tickOf(t Target) uint64 {
	if tick := t.Row.Execution.Current; tick != nil {
		return tick.Seq
	}
	return 0
}
