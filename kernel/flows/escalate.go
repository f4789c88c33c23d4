package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// escalate queues a request that was judged ESCALATE: it is bound to this very
// call, and the agent waits for somebody's decision (PE-3). Where nobody could
// wait, or be asked, it is a DENY.
func (g *gate) escalate(j *judgement, evaluation permissions.Evaluation) {
	rule := ""
	switch {
	case g.t.Row.Lifecycle.State == lifecycle.Completing:
		rule = "a teardown cannot wait for a decision"
	case uint32(g.v.Escalations.Len())+g.escalated >= g.v.Config.MaxEscalations:
		rule = "as many requests wait for a decision as max_escalations allows"
	}
	if rule != "" {
		g.add(bus.Deny, &evaluation)
		j.refused = &failure.Failure{Code: failure.PermissionDenied, Message: rule}
		return
	}
	deadline := g.v.Clock + g.v.Config.EscalationMillis
	timer := g.setTimer(timers.Timer{Deadline: deadline, Purpose: timers.EscalationOver, Call: j.call})
	g.add(bus.Escalated, &permissions.Escalated{
		Call: j.call, Tool: j.request.Tool, Args: j.request.Args, Timeout: j.request.Timeout,
		Action: evaluation.Action, Resource: evaluation.Resource,
		Digest:  permissions.CallDigest(g.t.No, g.tick, j.call, j.request.Tool, j.request.Args),
		Handler: g.handler(), Deadline: deadline, Timer: timerID(timer),
		Grants: evaluation.Grants, Grant: evaluation.Grant, Level: evaluation.Level, Revision: j.tool.Revision,
	})
	g.out.Add(timer)
	g.escalated++
	j.waits = true
}

// handler is the parent that is to decide, if its program declares that it
// will; otherwise the request is the operators'.
func (g *gate) handler() uint32 {
	d := &g.t.Row.Delegation
	if open, ok := g.v.Delegation.Get(d.Parent, d.Tick, d.Call); ok && open.Handler {
		return d.Parent
	}
	return 0
}

// Offer reacts to Escalated: a parent that declares a handler and waits is
// resumed with the EscalationEvent.
func Offer(v View, made bus.Record, out *bus.Batch) {
	body, ok := made.Body.(*permissions.Escalated)
	if !ok || body.Handler == 0 {
		return
	}
	v.offer(Target{body.Handler, v.Agents.Get(body.Handler)}, out)
}

// offer hands a waiting parent the next escalation of its children.
func (v View) offer(t Target, out *bus.Batch) {
	if t.Row.Lifecycle.State != lifecycle.Waiting {
		return
	}
	tick := t.Row.Execution.Current
	var e *permissions.Escalation
	v.Escalations.OfHandler(t.No, func(next *permissions.Escalation) bool {
		child := &v.Agents.Get(next.Agent).Delegation
		if !next.Offered && child.Tick == tick.Seq && tick.Wait(child.Call) != nil {
			e = next
		}
		return e == nil
	})
	if e == nil {
		return
	}
	out.Add(bus.Record{Kind: bus.EscalationOffered, Agent: e.Agent, Tick: e.Tick, Body: &permissions.EscalationOffered{ID: e.ID, Handler: t.No}})
	out.Add(bus.Record{Kind: bus.EventDelivered, Agent: t.No, Tick: tick.Seq, Body: &execution.EventBody{Event: v.escalationEvent(e)}})
	out.Add(transition(t, lifecycle.Waiting, lifecycle.Resume, lifecycle.Scheduler, cause{tick: tick.Seq}))
}

// escalationEvent is what the handler sees: {args, tool, action, agent_id,
// resource, escalation}. Arguments too large to go along are null.
func (v View) escalationEvent(e *permissions.Escalation) value.Raw {
	args := e.Args
	if uint32(len(args)+len(e.Tool)+len(e.Action)+len(e.Resource)+256) > v.Config.MaxValueBytes {
		args = value.Null
	}
	raw := value.AppendMapHeader(nil, 6)
	raw = append(value.AppendString(raw, "args"), args...)
	raw = value.AppendString(value.AppendString(raw, "tool"), e.Tool)
	raw = value.AppendString(value.AppendString(raw, "action"), e.Action)
	raw = value.AppendString(value.AppendString(raw, "agent_id"), FormatID(v.Agents.Get(e.Agent).Identity.ID))
	raw = value.AppendString(value.AppendString(raw, "resource"), e.Resource)
	return value.AppendInt(value.AppendString(raw, "escalation"), int64(e.ID))
}

// Decide decides an EscalationDecide event: operators may always decide. What
// was decided, withdrawn or timed out before is STALE_RESULT.
func Decide(v View, cmd *event.Decide, principal string, out *bus.Batch) (Target, *Refusal) {
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return Target{}, refusal
	}
	e, ok := v.Escalations.Get(cmd.Escalation)
	if !ok {
		refusal := refuse(failure.StaleResult, "escalation", "no such request waits: it was decided, withdrawn, or its time is over")
		refusal.Record = &bus.Record{Kind: bus.StaleResult, Body: &tools.StaleBody{}}
		return Target{}, refusal
	}
	v.decide(e, cmd.Approve, principal, cmd.Reason, out)
	return Target{e.Agent, v.Agents.Get(e.Agent)}, nil
}

// decide takes a decision to the call that waits for it. An approval is judged
// again: whatever was revoked meanwhile stays revoked (PE-3).
func (v View) decide(e *permissions.Escalation, approve bool, by, reason string, out *bus.Batch) {
	t := Target{e.Agent, v.Agents.Get(e.Agent)}
	g := gate{settler: v.settling(t, out)}
	out.Add(clearTimer(t.No, e.Deadline, e.Timer, false))
	g.add(bus.EscalationDecided, &permissions.EscalationDecided{ID: e.ID, Approved: approve, By: by, Reason: reason})
	j := judgement{call: e.Call, request: &execution.Request{Tool: e.Tool, Args: e.Args, Timeout: e.Timeout}, bodies: new(gateBodies)}
	if !approve {
		message := "denied by " + by
		if reason != "" {
			message += ": " + reason
		}
		j.refused = &failure.Failure{Code: failure.PermissionDenied, Message: failure.Clip(message)}
	} else {
		g.approved(&j, e.Revision)
	}
	g.proceed(&j)
}

// approved judges a call again with somebody's approval for what was ESCALATE. What
// was approved is the tool as it was when it was asked for (PE-3, TO-9).
func (g *gate) approved(j *judgement, revision uint64) {
	if code, void := g.v.void(g.t.No); void {
		j.refused = voided(code)
		return
	}
	if !g.v.Tools.Current(j.request.Tool, revision) {
		j.refused = replaced()
		return
	}
	j.tool, _ = g.v.Tools.Find(j.request.Tool)
	if j.request.Tool == execution.Delegate {
		spec, f := parseChildren(j.request.Args)
		if f != nil {
			j.refused = f
			return
		}
		for i := range spec.list {
			g.permit(j, execution.Delegate, "agent/"+orDefault(spec.list[i].define.Name, "unnamed"))
		}
		if j.refused == nil {
			g.planChildren(j, spec)
		}
		return
	}
	var action string
	if action, j.resource, j.refused = g.resource(j); j.refused == nil {
		g.permit(j, action, j.resource)
	}
}

func (g *gate) permit(j *judgement, action, resource string) {
	effect, evaluation := g.v.authority(g.t.No, action, resource)
	if effect == permissions.Deny {
		g.add(bus.Deny, &evaluation)
		j.refused = denied(action, resource)
		return
	}
	g.add(bus.Allow, &evaluation)
}

// escalationOver is a request that nobody decided in time: DENY (PE-3).
func (v View) escalationOver(t Target, timer timers.Timer, out *bus.Batch) {
	v.Escalations.OfAgent(t.No, func(e *permissions.Escalation) bool {
		if e.Tick != timer.Tick || e.Call != timer.Call {
			return true
		}
		s := v.settling(t, out)
		s.add(bus.EscalationDecided, &permissions.EscalationDecided{ID: e.ID, Code: failure.WaitTimeout, Reason: "nobody decided in time"})
		s.refuse(e.Call, e.Tool, &failure.Failure{Code: failure.PermissionDenied, Message: "nobody decided about the request in time"})
		return false
	})
}
