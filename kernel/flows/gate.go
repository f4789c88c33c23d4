package flows

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// ActionToolCall is the action that every call of a tool is judged as, but
// those of memory and of agents, which have their own (PE-1).
const ActionToolCall = "tool.call"

// Gate is the reaction to a tick's PENDING exit: the one door to every tool, to
// memory and to delegation (TO-3, ME-2). Every request is judged while the
// agent is ACTIVE, the evaluation recorded whatever its outcome (PE-2), and
// only then does await_tool or yield follow (LC-6). What can be answered at
// once is, in the same event.
func Gate(v View, made bus.Record, out *bus.Batch) {
	t := Target{made.Agent, v.Agents.Get(made.Agent)}
	body, ok := requestsOf(made.Body)
	tick := t.Row.Execution.Current
	if !ok || tick == nil || tick.Phase != execution.Pending || tick.First != body.First {
		return
	}
	g := gate{settler: v.settling(t, out), body: body}
	state := t.Row.Lifecycle.State
	switch {
	case state == lifecycle.Completing:
		g.teardown()
		return
	case lifecycle.PermitOf(state, lifecycle.ToolGate) != lifecycle.Allowed:
		return
	case body.Decision != nil:
		g.waitAgain(body.Decision)
		return
	}
	var one [1]judgement
	judged := one[:]
	if len(body.Requests) != 1 {
		judged = make([]judgement, len(body.Requests))
	}
	bodies := make([]gateBodies, len(body.Requests))
	for i := range body.Requests {
		j := &judged[i]
		*j = judgement{call: body.First + uint32(i), request: &body.Requests[i], bodies: &bodies[i]}
		switch {
		case tick.Wait(j.call) == nil:
			j.answered = true
		case orphaned(made.Body):
			j.refused = childless()
		default:
			g.judge(j)
		}
	}
	out.Add(transitionIn(&bodies[0].wait, t, lifecycle.Active, waitFor(made), lifecycle.Kernel, cause{tick: g.tick}))
	for i := range judged {
		g.proceed(&judged[i])
	}
}

// waitFor is row 3's trigger for a PENDING exit.
func waitFor(exit bus.Record) lifecycle.Trigger {
	if exit.Kind == bus.TickPendingDelegation || delegating(exit.Body) {
		return lifecycle.Yield
	}
	return lifecycle.AwaitTool
}

type gate struct {
	settler
	body   *execution.PendingBody
	timers uint64 // timers set so far
	calls  uint32 // calls that entered the outbox so far

	escalated uint32 // escalations so far

	charged budgets.Amounts // reserved so far
	queued  uint32          // the account in which a call waits for room; 0 for none
}

// judgement is what the gate made of one request.
type judgement struct {
	call     uint32
	request  *execution.Request
	tool     tools.Tool
	resource string
	memory   memory.Request   // of memory.* and shared.*
	child    Target           // of agent.*, but delegate
	refused  *failure.Failure // answers the call
	waits    bool             // an escalation has it
	answered bool             // before a fork: the answer is on record
	children *plan            // of an accepted delegation
	bodies   *gateBodies
}

// gateBodies is the bodies of the usual way through the gate, allocated
// together.
type gateBodies struct {
	evaluation permissions.Evaluation
	wait       lifecycle.Event
	requested  tools.RequestedBody
	timer      timers.Set
}

// judge derives the resource and reads the authority. What the call itself
// cannot come to is refused without an evaluation: nothing was asked for.
func (g *gate) judge(j *judgement) {
	r := j.request
	var known bool
	j.tool, known = g.v.Tools.Find(r.Tool)
	switch {
	case !known:
		j.refused = &failure.Failure{Code: failure.ToolUnknown, Message: "there is no tool of this name"}
	case j.tool.Kernel && len(g.body.Requests) > 1:
		j.refused = &failure.Failure{Code: failure.ToolArgsInvalid, Message: "PARALLEL takes tools that leave the kernel: " + r.Tool + " is answered at once anyway"}
	case r.Tool == execution.Delegate:
		g.judgeDelegation(j)
	default:
		var action string
		if action, j.resource, j.refused = g.resource(j); j.refused == nil {
			g.weigh(j, action, j.resource)
		}
	}
}

// resource derives what the request is judged as (PE-1).
func (g *gate) resource(j *judgement) (action, resource string, f *failure.Failure) {
	switch j.tool.Family {
	case tools.Memory:
		if j.memory, f = memory.ParseRequest(j.request.Tool, j.request.Args); f != nil {
			return "", "", f
		}
		return j.memory.Action(), j.memory.Resource(), nil
	case tools.Agent:
		return g.childResource(j)
	}
	resource, f = j.tool.Resource(j.request.Args)
	return ActionToolCall, resource, f
}

// weigh records one evaluation and what it means for the request.
func (g *gate) weigh(j *judgement, action, resource string) {
	effect, evaluation := g.v.authority(g.t.No, action, resource)
	j.bodies.evaluation = evaluation
	switch effect {
	case permissions.Allow:
		g.add(bus.Allow, &j.bodies.evaluation)
	case permissions.Escalate:
		g.escalate(j, evaluation)
	default:
		g.add(bus.Deny, &j.bodies.evaluation)
		j.refused = denied(action, resource)
	}
}

func denied(action, resource string) *failure.Failure {
	return &failure.Failure{Code: failure.PermissionDenied, Message: failure.Clip("no grant allows " + action + " on " + resource)}
}

// proceed does what was asked, or answers why not.
func (g *gate) proceed(j *judgement) {
	switch {
	case j.waits, j.answered:
	case j.refused != nil:
		g.refuse(j.call, j.request.Tool, j.refused)
	case j.children != nil:
		g.delegate(j)
	case j.tool.Kernel:
		g.kernelTool(j)
	default:
		g.external(j)
	}
}

// external puts the call into the outbox, with the deadline of the wait (LC-12).
func (g *gate) external(j *judgement) {
	if uint32(g.v.Tools.Len()+g.v.Budgets.Waiters())+g.calls >= g.v.Config.MaxOutbox {
		g.refuse(j.call, j.request.Tool, &failure.Failure{Code: failure.ToolUnreachable, Message: "the outbox holds as many calls as max_outbox allows"})
		return
	}
	timeout := j.request.Timeout
	if timeout <= 0 {
		timeout = j.tool.TimeoutMillis()
	}
	if timeout <= 0 {
		timeout = g.v.Config.DefaultCallTimeoutMillis
	}
	deadline := g.v.Clock + min(timeout, g.v.Config.MaxCallTimeoutMillis) + g.v.Config.CallGraceMillis
	timer := g.v.setTimerIn(&j.bodies.timer, timers.Timer{
		Deadline: deadline, Purpose: timers.CallDeadline, Agent: g.t.No, Tick: g.tick, Call: j.call,
	}, g.timers)
	j.bodies.requested = tools.RequestedBody{
		Call: j.call, Tool: j.request.Tool, Args: j.request.Args, Resource: j.resource,
		Idempotent: j.tool.Idempotent(j.request.Args), Deadline: deadline, Timer: timerID(timer), Revision: j.tool.Revision,
	}
	if !g.charge(j, &j.bodies.requested, timer) {
		return
	}
	g.timers++
	g.calls++
	g.add(bus.CallRequested, &j.bodies.requested)
	g.out.Add(timer)
}

// setTimer makes the record of a timer of this tick.
func (g *gate) setTimer(timer timers.Timer) bus.Record {
	timer.Agent, timer.Tick = g.t.No, g.tick
	record := g.v.setTimer(timer, g.timers)
	g.timers++
	return record
}

func (g *gate) transition(from lifecycle.State, trigger lifecycle.Trigger, caller lifecycle.Caller) {
	g.out.Add(transition(g.t, from, trigger, caller, cause{tick: g.tick}))
}
