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
	state := t.Row.Lifecycle.State
	path := lifecycle.KillPath(state)
	if path == nil {
		return t, rejected(t, 0, lifecycle.Client)
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return t, refusal
	}
	f := &failure.Failure{Code: failure.Killed, Message: "the agent was killed"}
	tick := uint64(0)
	steps := uint32(0)
	if current := t.Row.Execution.Current; current != nil {
		tick, steps = current.Seq, current.Steps
	}
	v.withdraw(t, out)
	clearOwn(t, out)
	out.Add(bus.Record{Kind: bus.TickFailed, Agent: t.No, Tick: tick, Body: &execution.FailedBody{Steps: steps, Failure: *f}})
	why := failed(tick, f)
	why.reason = cmd.Reason
	for _, trigger := range path {
		actor := lifecycle.Actor(state, trigger)
		out.Add(transition(t, state, trigger, actor, why))
		state, _ = lifecycle.Decide(state, trigger, actor)
	}
	return t, nil
}
