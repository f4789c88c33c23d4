package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// RevokeToken decides a TokenRevoke event. One record voids everything that
// rests on the token, in this event (LC-10); the cascade that follows records
// what that means for each agent below.
func RevokeToken(v View, cmd *event.RevokeToken, out *bus.Batch) (Target, *Refusal) {
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return t, refusal
	}
	switch state := t.Row.Lifecycle.State; {
	case state == lifecycle.Defined:
		return t, refuse(failure.InvalidState, "agent", "an agent that was not spawned has no token")
	case state == lifecycle.Terminated:
		return t, refuse(failure.InvalidState, "agent", "the agent is TERMINATED: its token is of no use to it")
	case t.Row.Delegation.Revoked != "":
		return t, refuse(t.Row.Delegation.Revoked, "agent", "the agent's token is not in force any more")
	}
	v.revokeToken(t, failure.TokenRevoked, cmd.Reason, out)
	return t, nil
}

// revokeToken revokes one agent's token and takes the agent out.
func (v View) revokeToken(t Target, code failure.Code, reason string, out *bus.Batch) {
	if code != failure.TokenExpired { // else its timer has fired
		clearToken(t, out)
	}
	out.Add(v.revoked(t, code, reason, false))
	v.takeOut(t, code, out)
}

// revoked is the record of a token's end, with the token as it was.
func (v View) revoked(t Target, code failure.Code, reason string, reached bool) bus.Record {
	d := &t.Row.Delegation
	return bus.Record{Kind: bus.TokenRevoked, Agent: t.No, Body: &delegation.TokenRevoked{
		Code: code, Reason: reason, Token: TokenID(t.Row.Identity.ID), Parent: d.Parent, Grants: t.Row.Permissions.Grants,
		Depth: d.Depth, Expires: d.Expires, Cascade: !reached && delegation.HasLive(v.tokens, t.No), Cursor: reached,
	}}
}

// clearToken drops the timer of a token that ends before its time.
func clearToken(t Target, out *bus.Batch) {
	if d := &t.Row.Delegation; d.Timer != 0 && d.Revoked == "" {
		out.Add(clearTimer(t.No, d.Expires, d.Timer, false))
	}
}

// takeOut is what the loss of its token means to an agent, by its state
// (LC-10). An ACTIVE one gets a tick that begins with the failure.
func (v View) takeOut(t Target, code failure.Code, out *bus.Batch) {
	switch t.Row.Lifecycle.State {
	case lifecycle.Defined, lifecycle.Terminated, lifecycle.Completing:
	case lifecycle.Active:
		if t.Row.Execution.Place == 0 {
			out.Add(bus.Record{Kind: bus.TickScheduled, Agent: t.No, Body: &execution.PlaceBody{Place: v.Running.Next + 1}})
		}
	default:
		v.end(t, voided(code), "", out)
	}
}

// tokenOver ends a token whose time is over: an expired one is a revoked one
// (DE-2).
func (v View) tokenOver(t Target, out *bus.Batch) {
	if t.Row.Lifecycle.State == lifecycle.Terminated || t.Row.Delegation.Revoked != "" {
		return
	}
	v.revokeToken(t, failure.TokenExpired, "its time is over", out)
}

// Cascade visits the next agent of the oldest cascade, depth first, and reports
// whether there was one. Each visit is one agent's worth of work, so a cascade
// over thousands of agents goes on in later events (LC-10, EV-12).
func Cascade(v View, out *bus.Batch) bool {
	c, ok := v.Delegation.FirstCascade()
	if !ok {
		return false
	}
	no, ok := delegation.Next(c, v.tokens)
	if !ok {
		out.Add(bus.Record{Kind: bus.CascadeMoved, Body: &delegation.CascadeMoved{Done: true}})
		return true
	}
	t := Target{no, v.Agents.Get(no)}
	state := t.Row.Lifecycle.State
	_, void := v.void(no)
	switch {
	case c.Kind == delegation.OfRequest && lifecycle.KillPath(state) != nil:
		out.Add(bus.Record{Kind: bus.CascadeMoved, Agent: no, Body: &delegation.CascadeMoved{At: no}})
		v.end(t, killed, "its request was cancelled", out)
	case c.Kind == delegation.OfRequest || state == lifecycle.Terminated || t.Row.Delegation.Revoked != "" || !void:
		// Over already, or delegated anew after what the cascade is about.
		out.Add(bus.Record{Kind: bus.CascadeMoved, Agent: no, Body: &delegation.CascadeMoved{At: no}})
	default:
		clearToken(t, out)
		out.Add(v.revoked(t, c.Code, "", true))
		v.takeOut(t, c.Code, out)
	}
	return true
}

// RevokeGrant decides a GrantRevoke event: the ALLOW says nothing from now on,
// to the agent and to whatever was delegated from it, since authority is read
// upwards. Grants keep their positions.
func RevokeGrant(v View, cmd *event.RevokeGrant, out *bus.Batch) (Target, *Refusal) {
	t, refusal := v.target(cmd.Agent)
	if refusal != nil {
		return Target{}, refusal
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return t, refusal
	}
	old := t.Row.Permissions.Grants
	if state := t.Row.Lifecycle.State; state == lifecycle.Defined || state == lifecycle.Terminated {
		return t, refuse(failure.InvalidState, "agent", "the agent is "+state.String()+": it has no grants in force")
	}
	grants := v.Compiled.Grants(old).Grants()
	if cmd.Grant >= uint32(len(grants)) {
		return t, refuse(failure.InvalidArgument, "grant", "the agent has no grant at this position")
	}
	left, bad := permissions.Revoke(grants, int(cmd.Grant), v.Clock)
	if bad != nil {
		return t, &Refusal{Refusal: *bad}
	}
	gains := &interning.Gained{}
	in := interner{gains: gains}
	no := in.add(v, interning.Grants, event.AppendGrants(nil, left))
	if refusal := in.room(v); refusal != nil {
		return t, refusal
	}
	if no != old { // else it had ended before: the list says so already
		out.Add(bus.Record{Kind: bus.Interned, Body: gains})
	}
	out.Add(bus.Record{Kind: bus.GrantRevoked, Agent: t.No, Body: &permissions.Revoked{
		Grant: int32(cmd.Grant), Grants: no, Reason: cmd.Reason,
	}})
	if old != no && old != t.Row.Identity.Grants {
		out.Add(bus.Record{Kind: bus.Released, Agent: t.No, Body: &interning.Lost{Numbers: []uint32{old}}})
	}
	return t, nil
}
