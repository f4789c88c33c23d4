package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// ActionToolCall is the action that every tool call is judged as (PE-1).
const ActionToolCall = "tool.call"

// Gate is the reaction to TickPendingTool: the one door to every tool (TO-3).
// The request is judged while the agent is ACTIVE, the evaluation recorded
// whatever its outcome (PE-2), and only then does await_tool follow (LC-6).
func Gate(v View, made bus.Record, out *bus.Batch) {
	t := Target{made.Agent, v.Agents.Get(made.Agent)}
	request, ok := made.Body.(*execution.PendingBody)
	tick := t.Row.Execution.Current
	if !ok || lifecycle.PermitOf(t.Row.Lifecycle.State, lifecycle.ToolGate) != lifecycle.Allowed ||
		tick == nil || tick.Phase != execution.Pending || tick.Calls != request.Call {
		return
	}
	g := gate{v: v, t: t, tick: tick.Seq, request: request, out: out}
	manifest, f := g.judge()
	g.lifecycle(lifecycle.Active, lifecycle.AwaitTool, lifecycle.Kernel)
	switch {
	case f != nil:
		g.answer(execution.Answer{Code: f.Code, Message: f.Message})
	case manifest.Kernel:
		g.kernelTool()
	default:
		g.external(manifest)
	}
}

type gate struct {
	v       View
	t       Target
	tick    uint64
	request *execution.PendingBody
	out     *bus.Batch
}

// judge derives the resource and evaluates the grants.
func (g *gate) judge() (tools.Manifest, *failure.Failure) {
	manifest, known := tools.Find(g.request.Tool)
	if !known {
		return tools.Manifest{}, &failure.Failure{Code: failure.ToolUnknown, Message: "there is no tool of this name"}
	}
	resource, f := manifest.Resource(g.request.Args)
	if f != nil {
		return tools.Manifest{}, f
	}
	number := g.t.Row.Permissions.Grants
	verdict := g.v.Compiled.Grants(number).Evaluate(ActionToolCall, resource, g.v.Clock)
	kind := bus.Deny
	if verdict.Effect == permissions.Allow {
		kind = bus.Allow
	}
	g.add(kind, &permissions.Evaluation{Action: ActionToolCall, Resource: resource, Grants: number, Grant: verdict.Grant})
	if kind == bus.Deny {
		return tools.Manifest{}, &failure.Failure{Code: failure.PermissionDenied, Message: failure.Clip("no grant allows " + ActionToolCall + " on " + resource)}
	}
	return manifest, nil
}

// answer delivers a result in the same event: PENDING, WAITING, ACTIVE again.
func (g *gate) answer(a execution.Answer) {
	a.Call = g.request.Call
	resolve(g.t, g.tick, g.request.Tool, a, 0, g.out)
}

// external puts the call into the outbox, with the deadline of the wait (LC-12).
func (g *gate) external(manifest tools.Manifest) {
	if uint32(g.v.Tools.Len()) >= g.v.Config.MaxOutbox {
		g.answer(execution.Answer{Code: failure.ToolUnreachable, Message: "the outbox holds as many calls as max_outbox allows"})
		return
	}
	timeout := g.request.Timeout
	if timeout <= 0 {
		timeout = g.v.Config.DefaultCallTimeoutMillis
	}
	deadline := g.v.Clock + min(timeout, g.v.Config.MaxCallTimeoutMillis) + g.v.Config.CallGraceMillis
	resource, _ := manifest.Resource(g.request.Args)
	timer := g.v.setTimer(timers.Timer{
		Deadline: deadline, Purpose: timers.CallDeadline, Agent: g.t.No, Tick: g.tick, Call: g.request.Call,
	}, 0)
	g.add(bus.CallRequested, &tools.RequestedBody{
		Call: g.request.Call, Tool: g.request.Tool, Args: g.request.Args, Resource: resource,
		Idempotent: manifest.Idempotent(g.request.Args), Deadline: deadline, Timer: g.v.Timers.Next + 1,
	})
	g.out.Add(timer)
}

func (g *gate) lifecycle(from lifecycle.State, trigger lifecycle.Trigger, caller lifecycle.Caller) {
	g.out.Add(transition(g.t, from, trigger, caller, cause{tick: g.tick}))
}

func (g *gate) add(kind bus.Kind, body bus.Body) {
	g.out.Add(bus.Record{Kind: kind, Agent: g.t.No, Tick: g.tick, Body: body})
}

// resolve ends a call: what came of it, its delivery, and row 7, which is the
// scheduler's (LC-6). The agent is WAITING.
func resolve(t Target, tick uint64, tool string, a execution.Answer, millis int64, out *bus.Batch) {
	kind := bus.ActionExecuted
	if !a.OK {
		kind = bus.ActionFailed
	}
	out.Add(bus.Record{Kind: kind, Agent: t.No, Tick: tick, Body: &tools.ActionBody{
		Call: a.Call, Tool: tool, Code: a.Code, Message: a.Message, Millis: millis,
	}})
	out.Add(bus.Record{Kind: bus.ResultDelivered, Agent: t.No, Tick: tick, Body: &execution.DeliveredBody{Answer: a}})
	out.Add(transition(t, lifecycle.Waiting, lifecycle.Resume, lifecycle.Scheduler, cause{tick: tick}))
}
