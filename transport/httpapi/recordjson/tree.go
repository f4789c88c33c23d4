package recordjson

import (
	"encoding/hex"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// ofTree renders the bodies of delegation: tokens, requests for children, and
// what becomes of both.
func (v *view) ofTree(_ *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case *delegation.TokenIssued:
		f := fields{"token_id": flows.FormatID(b.Token), "grants": b.Grants, "depth": b.Depth}
		set(set(f, "expires_ms", b.Expires), "timer", b.Timer)
		if b.Parent != 0 {
			set(f, "parent_id", v.agentID(b.Parent))
			f["parent_tick"], f["call"], f["position"] = b.Tick, b.Call, b.Position
		}
		return f
	case *delegation.TokenRevoked:
		f := fields{"token_id": flows.FormatID(b.Token), "code": b.Code, "grants": b.Grants, "depth": b.Depth}
		set(set(set(f, "reason", b.Reason), "parent_id", v.agentID(b.Parent)), "expires_ms", b.Expires)
		return set(set(f, "cascade", b.Cascade), "reached", b.Cursor)
	case *delegation.ChildrenVoided:
		return fields{"code": b.Code}
	case *delegation.DelegationAccepted:
		f := fields{"call": b.Call, "children": b.Count}
		set(set(f, "first_id", v.agentID(b.First)), "deadline_ms", b.Deadline)
		set(set(set(f, "fail_fast", b.FailFast), "handler", b.Handler), "detached", b.Detached)
		return set(f, "timer", b.Timer)
	case *delegation.DelegationRejected:
		return set(fields{"call": b.Call, "code": b.Code, "rule": b.Rule}, "field", b.Field)
	case *delegation.ChildResult:
		f := fields{"parent_tick": b.Tick, "call": b.Call, "position": b.Position, "ok": b.OK}
		set(set(f, "parent_id", v.agentID(b.Parent)), "code", b.Code)
		return set(set(f, "class", b.Class.String()), "message", b.Message)
	case *delegation.DelegationOver:
		return fields{"call": b.Call}
	case *delegation.ParentTerminated:
		return set(fields{}, "parent_id", v.agentID(b.Parent))
	case *delegation.RequestCancelled:
		return fields{"call": b.Call, "code": b.Code}
	case *delegation.CascadeMoved:
		return set(fields{"done": b.Done}, "at_id", v.agentID(b.At))
	}
	return nil
}

// ofEscalation renders what becomes of a request that is somebody's to decide,
// and of grants that are taken back. The busSeq of ESCALATED is its number.
func (v *view) ofEscalation(r *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case *permissions.Escalated:
		f := fields{
			"escalation": r.Seq, "call": b.Call, "tool": b.Tool, "args": b.Args, "action": b.Action, "resource": b.Resource,
			"digest": hex.EncodeToString(b.Digest[:]), "deadline_ms": b.Deadline, "timer": b.Timer, "grants": b.Grants, "grant": b.Grant,
		}
		return set(set(set(set(f, "revision", b.Revision), "timeout_ms", b.Timeout), "handler_id", v.agentID(b.Handler)), "level_id", v.agentID(b.Level))
	case *permissions.EscalationOffered:
		return set(fields{"escalation": b.ID}, "handler_id", v.agentID(b.Handler))
	case *permissions.EscalationDecided:
		f := fields{"escalation": b.ID, "approved": b.Approved}
		return set(set(set(f, "by", b.By), "code", b.Code), "reason", b.Reason)
	case *permissions.Revoked:
		return set(fields{"grant": b.Grant, "grants": b.Grants}, "reason", b.Reason)
	}
	return nil
}
