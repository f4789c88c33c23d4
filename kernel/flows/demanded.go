package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// Demanded is the next transition that the agent takes on account of a record,
// in the same event, by what its own row says alone (SM-INV-05): after a tick's
// exit, when all of its run was applied, and after a transition that one
// demanded. It is what the reactions decide; whoever reads the log asks for it,
// to hold the log to it. The batch is room for the work: what is in it is lost.
func Demanded(v View, made bus.Record, out *bus.Batch) (bus.Record, bool) {
	out.Reset()
	switch made.Kind {
	case bus.TickPendingTool, bus.TickPendingDelegation:
		t := Target{made.Agent, v.Agents.Get(made.Agent)}
		tick, state := t.Row.Execution.Current, t.Row.Lifecycle.State
		if tick != nil && tick.Phase == execution.Pending && lifecycle.PermitOf(state, lifecycle.ToolGate) == lifecycle.Allowed {
			out.Add(transition(t, lifecycle.Active, waitFor(made), lifecycle.Kernel, cause{tick: tick.Seq}))
		}
	case bus.TickCompleted:
		Finish(v, made, out)
	case bus.TickFailed:
		if Fault(v, made, out); out.Len() == 0 {
			Finish(v, made, out)
		}
	case bus.Lifecycle:
		Suspend(v, made, out)
		Faulted(v, made, out)
		Teardown(v, made, out)
	}
	for _, r := range out.Records() {
		if r.Kind == bus.Lifecycle {
			return r, true
		}
	}
	return bus.Record{}, false
}
