package flows

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Result decides a ToolResult event: accepted while the call is pending, else
// STALE_RESULT, which changes nothing (LC-9, INV-19). The result is committed
// before any tick sees it (TO-2, INV-14).
func Result(v View, r *event.Result, out *bus.Batch) *Refusal {
	call, ok := v.Tools.Get(tools.Key{Agent: r.Agent, Tick: r.Tick, Call: r.Call})
	if !ok {
		return v.stale(r, out)
	}
	if v.Tools.Asks(call) {
		return refuse(failure.StaleResult, "call", "the call is a person's to answer, and no node's to make")
	}
	t := Target{r.Agent, v.Agents.Get(r.Agent)}
	out.Add(clearTimer(t.No, call.Deadline, call.Timer, false))
	s := v.settling(t, out)
	s.settle(call.Tool, v.accept(r), r.Millis, usageOf(r))
	return nil
}

// stale takes a result that nobody waits for. It changes no agent; what the call
// cost is settled all the same, if that was left open (RU-3).
func (v View) stale(r *event.Result, out *bus.Batch) *Refusal {
	record := bus.Record{Kind: bus.StaleResult, Agent: v.known(r.Agent), Tick: r.Tick, Body: &tools.StaleBody{Call: r.Call, OK: r.OK, Usage: usageOf(r)}}
	if open, ok := v.Budgets.Reservation(budgets.Key{Agent: r.Agent, Tick: r.Tick, Call: r.Call}); ok {
		out.Add(record)
		v.settleLate(open, usageOf(r), out)
		return nil
	}
	refusal := refuse(failure.StaleResult, "call", "the call is not pending: it was resolved, withdrawn, or its wait is over")
	refusal.Record = &record
	return refusal
}

func usageOf(r *event.Result) tools.Usage {
	if !r.Metered {
		return tools.Usage{}
	}
	return tools.Usage{Metered: true, Tokens: min(r.Tokens, budgets.MaxCall), USDMicros: min(r.USDMicros, budgets.MaxCall)}
}

// known returns the agent's number, or 0 when there is no such agent.
func (v View) known(agent uint32) uint32 {
	if v.Agents.Get(agent) == nil {
		return 0
	}
	return agent
}

// accept checks what the runner handed in: a value that is not canonical or
// too large becomes the failure that it is (TO-6, INV-11), and a code that no
// call can come to is TOOL_FAILED, so that a runner cannot end an agent's tick
// as something else.
func (v View) accept(r *event.Result) execution.Answer {
	a := execution.Answer{Call: r.Call, OK: r.OK, Value: r.Value, Code: failure.Code(r.Code), Message: failure.Clip(r.Message)}
	if !r.OK {
		a.Value = nil
		if !a.Code.OfCall() {
			a.Code = failure.ToolFailed
		}
		return a
	}
	a.Code, a.Message = "", ""
	if len(r.Value) == 0 {
		a.Value = value.Null
	}
	if uint32(len(r.Value)) > v.Config.MaxValueBytes {
		return execution.Answer{Call: r.Call, Code: failure.ToolResultTooLarge, Message: "the result is larger than max_value_bytes"}
	}
	if value.Check(a.Value, int(v.Config.MaxValueBytes)) != nil {
		return execution.Answer{Call: r.Call, Code: failure.ToolResultInvalid, Message: "the result is not a canonical value"}
	}
	return a
}

// Dispatch decides a ToolDispatched event: the authorisation to call a tool
// that must not be called twice (TO-4). It is given once.
func Dispatch(v View, d *event.Dispatched, out *bus.Batch) *Refusal {
	call, ok := v.Tools.Get(tools.Key{Agent: d.Agent, Tick: d.Tick, Call: d.Call})
	switch {
	case ok && v.Tools.Asks(call):
		return refuse(failure.StaleResult, "call", "the call is a person's to answer, and no node's to make")
	case v.Estop.Suspended():
		return suspended("the kernel is suspended: no call is dispatched")
	case !ok:
		return refuse(failure.StaleResult, "call", "the call is not pending: it was resolved, withdrawn, or its wait is over")
	case call.Dispatched != 0:
		return refuse(failure.AlreadyExists, "call", "the call was dispatched before: it is not run twice")
	}
	// Authority is tested where it is used: a token or a grant that was revoked
	// since the request was judged does not reach the tool (TO-5, LC-10).
	evaluation, code, gone := v.withdrawn(d.Agent, call.Resource)
	if gone {
		t := Target{d.Agent, v.Agents.Get(d.Agent)}
		s := v.settling(t, out)
		s.add(bus.Deny, &evaluation)
		out.Add(clearTimer(t.No, call.Deadline, call.Timer, false))
		s.refuse(d.Call, call.Tool, unauthorised(code, call.Resource))
		return nil
	}
	out.Add(bus.Record{Kind: bus.CallDispatched, Agent: d.Agent, Tick: d.Tick, Body: &tools.DispatchedBody{
		Call: d.Call, Node: d.Node, Term: d.Term,
	}})
	return nil
}

// unauthorised is the failure of a call that was authorised, and is not any more.
func unauthorised(code failure.Code, resource string) *failure.Failure {
	if code != "" {
		return voided(code)
	}
	return denied(ActionToolCall, resource)
}
