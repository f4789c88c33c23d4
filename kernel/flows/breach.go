package flows

import (
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// Breach ends an agent on whose account an invariant was about to be broken, by
// a record of that kind, which was not published (FA-4, SM-INV-06): its
// children's tokens first, then the audit log with the root of its tree, then
// TERMINATED directly. A TickFailed that an evaluator's own check caused stands
// already. One that is TERMINATED already leaves its entry only.
func Breach(v View, agent uint32, invariant, rule string, kind bus.Kind, out *bus.Batch) {
	t := Target{agent, v.Agents.Get(agent)}
	v.revokeChildren(t, failure.TokenRevoked, out)
	out.Add(bus.Record{Kind: bus.Audit, Agent: agent, Tick: v.tickOf(t), Body: &audit.Body{
		Root: delegation.Root(v.tokens, agent), Invariant: invariant, Kind: uint16(kind), Rule: rule,
	}})
	if place := t.Row.Execution.Place; place != 0 {
		out.Add(bus.Record{Kind: bus.TickFrozen, Agent: agent, Body: &execution.PlaceBody{Place: place}})
	}
	state := t.Row.Lifecycle.State
	if state == lifecycle.Terminated {
		return
	}
	f := &failure.Failure{Code: failure.InvariantBroken, Message: failure.Clip(invariant + ": " + rule)}
	v.withdraw(t, out)
	clearOwn(t, out)
	if kind != bus.TickFailed {
		out.Add(bus.Record{Kind: bus.TickFailed, Agent: agent, Tick: v.tickOf(t), Body: &execution.FailedBody{Failure: *f}})
	}
	why := failed(v.tickOf(t), f)
	why.reason = invariant
	out.Add(transition(t, state, lifecycle.Breach, lifecycle.Kernel, why))
}
