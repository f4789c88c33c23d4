package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// Kill decides an AgentKill event (LC-4): a list of rows in one event with no
// tick between, failure KILLED. DEFINED and TERMINATED refuse it.
func Kill(v View, cmd *event.Kill, out *bus.Batch) (Target, *Refusal) {
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	if lifecycle.KillPath(t.Row.Lifecycle.State) == nil {
		return t, rejected(t, 0, lifecycle.Client)
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return t, refusal
	}
	v.end(t, killed, cmd.Reason, out)
	return t, nil
}

var killed = &failure.Failure{Code: failure.Killed, Message: "the agent was killed"}

// end is the composite that ends an agent from whatever state it is in, by the
// rows of LC-4: killed, or revoked (LC-10). What it waits for is withdrawn.
func (v View) end(t Target, f *failure.Failure, reason string, out *bus.Batch) {
	state := t.Row.Lifecycle.State
	tick := v.tickOf(t)
	steps := uint32(0)
	if current := t.Row.Execution.Current; current != nil {
		steps = current.Steps
	}
	v.withdraw(t, out)
	clearOwn(t, out)
	v.tornOff(t, out)
	out.Add(bus.Record{Kind: bus.TickFailed, Agent: t.No, Tick: tick, Body: &execution.FailedBody{Steps: steps, Failure: *f}})
	why := failed(tick, f)
	why.reason = reason
	for _, trigger := range lifecycle.KillPath(state) {
		actor := lifecycle.Actor(state, trigger)
		out.Add(transition(t, state, trigger, actor, why))
		state, _ = lifecycle.Decide(state, trigger, actor)
	}
}
