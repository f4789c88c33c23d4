package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// ChildOver reacts to Lifecycle: every way to TERMINATED notifies a parent that
// waits, once, and voids what the agent delegated itself (DE-3, LC-10). Nobody
// inside a revoked subtree is notified.
func ChildOver(v View, made bus.Record, out *bus.Batch) {
	body, ok := made.Body.(*lifecycle.Event)
	t := Target{made.Agent, v.Agents.Get(made.Agent)}
	if !ok || body.To != lifecycle.Terminated || t.Row.Lifecycle.State != lifecycle.Terminated {
		return
	}
	d := &t.Row.Delegation
	if delegation.HasLive(v.tokens, t.No) {
		out.Add(bus.Record{Kind: bus.ParentTerminated, Agent: t.No, Body: &delegation.ParentTerminated{Parent: t.No}})
		if d.Revoked == "" { // else the cascade that took the agent out goes on below it
			v.revokeChildren(t, failure.TokenRevoked, out)
		}
	}
	if d.Parent == 0 {
		return
	}
	if _, void := v.void(d.Parent); void {
		return
	}
	if _, open := v.Delegation.Get(d.Parent, d.Tick, d.Call); !open {
		return
	}
	result := &delegation.ChildResult{Parent: d.Parent, Tick: d.Tick, Call: d.Call, Position: d.Position}
	result.OK, result.Code, result.Message = outcomeOf(t, body)
	kind := bus.ChildResult
	if !result.OK {
		kind, result.Class = bus.ChildFailure, failure.ClassOf(result.Code)
	}
	out.Add(bus.Record{Kind: kind, Agent: t.No, Body: result})
}

// outcomeOf tells how an agent ended: well, if it tore down after a last tick
// that did not fail (FA-3).
func outcomeOf(t Target, last *lifecycle.Event) (ok bool, code failure.Code, message string) {
	result := t.Row.Execution.Result
	switch {
	case last.Trigger == lifecycle.Expire && last.Code == "":
		return false, failure.Expired, last.Reason
	case last.Trigger == lifecycle.TeardownOK && (result == nil || result.OK):
		return true, "", ""
	case result != nil && !result.OK && (last.Code == "" || last.Code == result.Code):
		return false, result.Code, result.Message
	case last.Code == "":
		return false, failure.Expired, last.Reason
	}
	return false, last.Code, last.Reason
}

// Joined reacts to ChildResult and ChildFailure: the parent resumes once, when
// every child of the request is TERMINATED; with fail_fast the first failure
// ends the others (DE-3).
func Joined(v View, made bus.Record, out *bus.Batch) {
	result, ok := made.Body.(*delegation.ChildResult)
	if !ok {
		return
	}
	open, ok := v.Delegation.Get(result.Parent, result.Tick, result.Call)
	if !ok {
		return
	}
	t := Target{result.Parent, v.Agents.Get(result.Parent)}
	switch {
	case open.Open == 0:
		v.join(t, open, out)
	case !result.OK && open.FailFast && !open.Cancelled:
		out.Add(bus.Record{Kind: bus.RequestCancelled, Agent: t.No, Tick: result.Tick, Body: &delegation.RequestCancelled{
			Tick: result.Tick, Call: result.Call, Code: failure.Killed,
		}})
	}
}

// join answers a delegation whose children are all over, if its parent waits
// for it now.
func (v View) join(t Target, open *delegation.Open, out *bus.Batch) {
	if t.Row.Lifecycle.State != lifecycle.Waiting || t.Row.Execution.Current.Wait(open.Call) == nil {
		return
	}
	s := v.settling(t, out)
	if open.Timer != 0 {
		out.Add(clearTimer(t.No, open.Deadline, open.Timer, false))
	}
	s.add(bus.DelegationOver, &delegation.DelegationOver{Call: open.Call})
	s.succeed(open.Call, execution.Delegate, v.results(open))
}

// results lists what the children came to, in request order: a value, or a
// ChildFailureEvent in its place.
func (v View) results(open *delegation.Open) value.Raw {
	raw := value.AppendListHeader(nil, uint64(open.Count))
	for no := open.First; no < open.First+open.Count; no++ {
		raw = v.appendResult(raw, Target{no, v.Agents.Get(no)})
	}
	return raw
}

// appendResult writes {ok, value, agent_id} or {ok, code, class, message,
// agent_id}, keys in canonical order: shorter first.
func (v View) appendResult(raw value.Raw, t Target) value.Raw {
	last := t.Row.Lifecycle.Recent()
	ended := last[len(last)-1]
	ok, code, message := outcomeOf(t, &lifecycle.Event{Trigger: ended.Trigger, Code: t.Row.Lifecycle.Code, Reason: ""})
	if ok {
		raw = value.AppendMapHeader(raw, 3)
		raw = value.AppendBool(value.AppendString(raw, "ok"), true)
		raw = value.AppendString(raw, "value")
		if result := t.Row.Execution.Result; result != nil {
			raw = append(raw, result.Value...)
		} else {
			raw = value.AppendNull(raw)
		}
		return value.AppendString(value.AppendString(raw, "agent_id"), FormatID(t.Row.Identity.ID))
	}
	raw = value.AppendMapHeader(raw, 5)
	raw = value.AppendBool(value.AppendString(raw, "ok"), false)
	raw = value.AppendString(value.AppendString(raw, "code"), string(code))
	raw = value.AppendString(value.AppendString(raw, "class"), failure.ClassOf(code).String())
	raw = value.AppendString(value.AppendString(raw, "message"), message)
	return value.AppendString(value.AppendString(raw, "agent_id"), FormatID(t.Row.Identity.ID))
}

// childResource finds the child that an agent.* tool names: one of the agent's
// own (LC-3).
func (g *gate) childResource(j *judgement) (action, resource string, f *failure.Failure) {
	if rule := agentArgs(j.request); rule != "" {
		return "", "", &failure.Failure{Code: failure.ToolArgsInvalid, Message: rule}
	}
	raw, _ := j.request.Args.Get("agent")
	text, _ := raw.Text()
	id, ok := ParseID(text)
	if !ok {
		return "", "", &failure.Failure{Code: failure.ToolArgsInvalid, Message: "agent must be a child's id"}
	}
	no, row := g.v.Find(id)
	if row == nil || row.Delegation.Parent != g.t.No {
		return "", "", &failure.Failure{Code: failure.ToolArgsInvalid, Message: "agent must be a child of the agent's own"}
	}
	j.child = Target{no, row}
	return j.request.Tool, "agent/" + text, nil
}

func agentArgs(r *execution.Request) string {
	rd := value.NewReader(r.Args)
	n, ok := rd.ReadMapHeader()
	if !ok {
		return "the arguments must be a map"
	}
	for range n {
		name, _ := rd.ReadString()
		switch {
		case name == "agent", name == "reason" && r.Tool != "agent.get", name == "force" && r.Tool == "agent.suspend":
		default:
			return "unknown argument " + name
		}
		rd.Skip()
	}
	return ""
}

// agentTool is a parent's hand on one of its children (LC-3). It answers the
// child's state as it is then.
func (g *gate) agentTool(j *judgement) {
	v, t := g.v, j.child
	reason := ""
	if raw, ok := j.request.Args.Get("reason"); ok {
		reason, _ = raw.Text()
	}
	if len(reason) > MaxReasonBytes || !printable(reason) {
		g.badArgs(j, "reason must be at most 256 bytes of printable text")
		return
	}
	state := t.Row.Lifecycle.State
	why := cause{reason: reason}
	switch j.request.Tool {
	case "agent.get":
		g.succeed(j.call, j.request.Tool, v.childState(t))
		return
	case "agent.suspend", "agent.resume":
		trigger := lifecycle.Suspend
		if j.request.Tool == "agent.resume" {
			trigger = lifecycle.Resume
		}
		force := false
		if raw, ok := j.request.Args.Get("force"); ok {
			force, _ = raw.Bool()
		}
		if !v.possible(t, trigger, lifecycle.Parent, force) {
			g.impossible(j, trigger)
			return
		}
		if trigger == lifecycle.Resume {
			v.resume(t, lifecycle.Parent, why, g.out)
			state = lifecycle.Active
			break
		}
		if state == lifecycle.Active || force {
			state = lifecycle.Resumable
		}
		v.suspend(t, lifecycle.Parent, force, why, g.out)
	case "agent.kill":
		if lifecycle.KillPath(state) == nil {
			g.impossible(j, 0)
			return
		}
		v.end(t, killed, reason, g.out)
		state = lifecycle.Terminated
	case "agent.revoke":
		if t.Row.Delegation.Revoked != "" || state == lifecycle.Terminated {
			g.impossible(j, 0)
			return
		}
		v.revokeToken(t, failure.TokenRevoked, reason, g.out)
	}
	g.succeed(j.call, j.request.Tool, value.AppendString(value.AppendString(value.AppendMapHeader(nil, 1), "state"), state.String()))
}

func (g *gate) impossible(j *judgement, trigger lifecycle.Trigger) {
	state := j.child.Row.Lifecycle.State
	g.out.Add(bus.Record{Kind: bus.InvalidTransition, Agent: j.child.No, Body: &lifecycle.Rejection{
		From: state, Trigger: trigger, Caller: lifecycle.Parent,
	}})
	g.refuse(j.call, j.request.Tool, &failure.Failure{
		Code: failure.InvalidTransition, Message: j.request.Tool + " is not possible while the child is " + state.String(),
	})
}

// childState is the answer of agent.get: {state} while the child lives, and
// what it came to after that.
func (v View) childState(t Target) value.Raw {
	if t.Row.Lifecycle.State != lifecycle.Terminated {
		return value.AppendString(value.AppendString(value.AppendMapHeader(nil, 1), "state"), t.Row.Lifecycle.State.String())
	}
	raw := value.AppendMapHeader(nil, 2)
	raw = value.AppendString(value.AppendString(raw, "state"), t.Row.Lifecycle.State.String())
	return v.appendResult(value.AppendString(raw, "result"), t)
}
