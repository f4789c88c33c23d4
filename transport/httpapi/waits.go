package httpapi

import (
	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/transport/api"
)

// relations describes what an agent has of others and for itself: tree, token,
// memory, mailbox, retries.
func relations(a *api.Agent, v *cluster.View, no uint32, row *state.Row) {
	d := &row.Delegation
	a.ParentID, a.Children = idOf(v, d.Parent), childrenOf(v, no)
	if d.Token != 0 {
		a.Token = &api.HeldToken{
			TokenID: flows.FormatID(flows.TokenID(row.Identity.ID)), Depth: d.Depth, Expires: d.Expires, Void: void(v, no),
		}
	}
	a.Mailbox, a.Emitted = uint32(len(row.Mailbox.Messages)), row.Execution.Emitted
	if row.Memory.Keys > 0 {
		a.Memory = &api.MemorySize{Keys: row.Memory.Keys, Bytes: row.Memory.Bytes}
	}
	if t := row.Execution.Current; t != nil {
		a.Retries = row.Recovery.Of(t.Seq)
	}
	if row.Lifecycle.State == lifecycle.Faulted {
		a.FaultCode, a.RetryAt = string(row.Lifecycle.Code), row.Timer.Deadline
	}
}

// childrenOf counts the agents that one delegated to.
func childrenOf(v *cluster.View, no uint32) (n uint32) {
	delegation.Children(rowsOf(v), no, func(uint32) bool {
		n++
		return n < maxLooked
	})
	return n
}

// waits lists the calls without an answer of a WAITING agent, and what each
// waits for.
func waits(v *cluster.View, no uint32, row *state.Row) []api.Wait {
	t := row.Execution.Current
	if t == nil || t.Phase != execution.Pending || row.Lifecycle.State != lifecycle.Waiting {
		return nil
	}
	var all []api.Wait
	for i := range t.Waits {
		if t.Waits[i].Answer == nil {
			all = append(all, waitFor(v, no, row, t.First+uint32(i), t.Waits[i].Tool))
		}
	}
	return all
}

func waitFor(v *cluster.View, no uint32, row *state.Row, call uint32, tool string) api.Wait {
	tick := row.Execution.Current.Seq
	w := api.Wait{Call: call, Tool: tool}
	v.Escalations.OfAgent(no, func(e *permissions.Escalation) bool {
		if e.Tick == tick && e.Call == call {
			w.For, w.Escalation, w.Deadline = "escalation", e.ID, e.Deadline
		}
		return w.For == ""
	})
	if w.For != "" {
		return w
	}
	if c, ok := v.Tools.Get(tools.Key{Agent: no, Tick: tick, Call: call}); ok {
		w.For, w.Deadline, w.Node = "call", c.Deadline, c.Node
		if v.Tools.Asks(c) {
			w.For = "person"
		}
		return w
	}
	if waiter, ok := v.Budgets.Waiter(budgets.Key{Agent: no, Tick: tick, Call: call}); ok {
		w.For, w.Deadline = "room", waiter.Deadline
		return w
	}
	if o, ok := v.Delegation.Get(no, tick, call); ok {
		w.For, w.Deadline, w.Open = "children", o.Deadline, o.Open
		return w
	}
	w.For, w.Deadline = "timer", row.Timer.Deadline
	if row.Mailbox.Call == call {
		w.For = "message"
	}
	return w
}
