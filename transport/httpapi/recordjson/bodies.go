package recordjson

import (
	"encoding/hex"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// fields is a rendered body. encoding/json orders the keys of a map, so equal
// bodies are equal bytes.
type fields map[string]any

// set adds a field unless it has its zero value.
func set[T comparable](f fields, name string, v T) fields {
	var zero T
	if v != zero {
		f[name] = v
	}
	return f
}

// body renders what a record says. What has names of its own for JSON, as the
// configuration has, renders itself.
func (v *view) body(r *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case *event.Recorded:
		return v.event(b.Event)
	case *event.Outcome:
		return outcome(b)
	case *event.Again:
		return fields{"index": b.Index}
	case *event.Restored:
		return restored(b)
	case *event.Upgraded:
		return b
	case *logsize.Mark:
		return fields{"bytes": b.Bytes, "limit": b.Limit}
	case *logging.TreeHead:
		return fields{"size": b.Size, "root": hex.EncodeToString(b.Root[:])}
	case *logging.Archived:
		return fields{"segments": b.Segments, "before": b.Before}
	case *estop.Order:
		return set(fields{"by": b.By}, "reason", b.Reason)
	case *principals.RoleBody, *principals.PrincipalBody, *principals.DeletedBody, *principals.CredentialBody, *principals.RevokedBody,
		*principals.ForgottenBody, *principals.BootstrappedBody, *event.Ordered:
		return ofPrincipals(body)
	case *interning.Gained:
		return gained(b)
	case *interning.Lost:
		return fields{"numbers": b.Numbers}
	case *identity.Defined:
		return defined(b)
	case *identity.Forked:
		return fields{"source": flows.FormatID(b.ID), "at": b.Seq, "head": hex.EncodeToString(b.Head[:])}
	case *lifecycle.Event:
		f := fields{"from": b.From, "to": b.To, "trigger": b.Trigger, "caller": b.Caller}
		set(set(set(f, "code", b.Code), "class", b.Class.String()), "reason", b.Reason)
		return f
	case *lifecycle.Rejection:
		return rejection(b)
	case *lifecycle.SuspendRequested:
		return set(fields{"caller": b.Caller}, "reason", b.Reason)
	case *lifecycle.Reclassified:
		return fields{"class": failure.Transient.String(), "reason": b.Reason}
	case *permissions.Assigned:
		return fields{"grants": b.Grants}
	case *permissions.Evaluation:
		return v.evaluation(b)
	case *timers.Set:
		f := fields{"id": b.Timer.ID, "deadline_ms": b.Timer.Deadline, "purpose": purpose(b.Timer.Purpose)}
		return set(f, "call", b.Timer.Call)
	case *timers.Cleared:
		return fields{"id": b.ID, "deadline_ms": b.Deadline, "fired": b.Fired}
	}
	for _, render := range [...]func(*logging.Record, bus.Body) any{ofTick, ofCall, ofRun, v.ofBudget, v.ofTree, v.ofEscalation, v.ofMemory, v.ofFault} {
		if f := render(r, body); f != nil {
			return f
		}
	}
	return body
}

// ofTick renders the bodies of execution.
func ofTick(_ *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case execution.Empty:
		return fields{}
	case *execution.InstructionBody:
		return fields{"program": b.Program, "input": b.Input}
	case *execution.PlaceBody:
		return fields{"place": b.Place}
	case *execution.StartedBody:
		return set(fields{"program": b.Program, "run": b.Run, "bus_seq_at": b.BusSeqAt}, "teardown", b.Teardown)
	case execution.StepBody:
		return fields{"instruction": b.Node}
	case *execution.CompletedBody:
		return set(fields{"steps": b.Steps, "value": b.Value}, "again", b.Again)
	case *execution.PendingBody:
		return pending(b)
	case *execution.ForkedBody:
		return forkedTick(b)
	case *execution.FailedBody:
		f := fields{
			"steps": b.Steps, "code": b.Failure.Code, "message": b.Failure.Message, "instruction": b.Failure.Node,
		}
		set(f, "class", b.Failure.Class().String())
		return set(set(f, "line", b.Failure.Line), "column", b.Failure.Column)
	case *execution.EmittedBody:
		return fields{"value": b.Value}
	case *execution.EventBody:
		return fields{"event": b.Event}
	case *execution.OverflowBody:
		return fields{"steps": b.Steps}
	case *execution.DeliveredBody:
		a := &b.Answer
		f := fields{"call": a.Call, "ok": a.OK, "value": a.Value}
		return set(set(f, "code", a.Code), "message", a.Message)
	}
	return nil
}

// ofCall renders the bodies of tools.
func ofCall(_ *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case *tools.RequestedBody:
		return set(fields{
			"call": b.Call, "tool": b.Tool, "args": b.Args, "resource": b.Resource,
			"idempotent": b.Idempotent, "deadline_ms": b.Deadline, "timer": b.Timer,
		}, "revision", b.Revision)
	case *tools.RegisteredBody:
		return fields{"manifest": b.Manifest}
	case *tools.DeregisteredBody:
		return set(fields{"name": b.Name, "revision": b.Revision}, "reason", b.Reason)
	case *tools.DispatchedBody:
		return fields{"call": b.Call, "node": b.Node, "term": b.Term}
	case *tools.ActionBody:
		f := fields{"call": b.Call, "tool": b.Tool}
		return usage(set(set(set(f, "code", b.Code), "message", b.Message), "took_ms", b.Millis), b.Usage)
	case *tools.StaleBody:
		return usage(fields{"call": b.Call, "ok": b.OK}, b.Usage)
	}
	return nil
}

// pending renders a PENDING exit: the calls that the tick waits for, or the
// decision after which it waits again.
func pending(b *execution.PendingBody) fields {
	f := fields{"steps": b.Steps, "call": b.First, "checkpoint_bytes": len(b.Checkpoint)}
	if b.Decision != nil {
		f["escalation"], f["approve"] = b.Decision.Escalation, b.Decision.Approve
		return set(f, "reason", b.Decision.Reason)
	}
	if len(b.Requests) == 1 {
		f["tool"], f["args"] = b.Requests[0].Tool, b.Requests[0].Args
		return set(f, "timeout_ms", b.Requests[0].Timeout)
	}
	calls := make([]fields, len(b.Requests))
	for i := range b.Requests {
		calls[i] = set(fields{"tool": b.Requests[i].Tool, "args": b.Requests[i].Args}, "timeout_ms", b.Requests[i].Timeout)
	}
	f["calls"] = calls
	return f
}

func outcome(o *event.Outcome) fields {
	f := fields{"index": o.Index, "bus_seq": o.Seq}
	if o.Agent != [16]byte{} {
		f["agent_id"], f["state"] = flows.FormatID(o.Agent), lifecycle.State(o.State)
	}
	set(set(f, "code", o.Refusal.Code), "field", o.Refusal.Field)
	return set(set(f, "rule", o.Refusal.Rule), "hint", o.Refusal.Hint)
}

func defined(d *identity.Defined) fields {
	f := fields{"agent_id": flows.FormatID(d.ID), "evaluator": d.Evaluator, "mode": d.Mode}
	set(set(set(f, "name", d.Name), "program", d.Program), "teardown", d.Teardown)
	set(f, "input", d.Input)
	set(set(set(f, "grants", d.Grants), "labels", d.Labels), "env", d.Env)
	return set(set(f, "max_depth", d.MaxDepth), "ttl_ms", d.TTLMillis)
}

func rejection(r *lifecycle.Rejection) fields {
	f := fields{"from": r.From, "trigger": "kill", "caller": r.Caller}
	if r.Trigger != 0 {
		f["trigger"] = r.Trigger
	}
	return f
}

func purpose(p timers.Purpose) string {
	switch p {
	case timers.CallDeadline:
		return "call_deadline"
	case timers.SleepOver:
		return "sleep_over"
	case timers.ResumableOver:
		return "resumable_over"
	case timers.RetentionOver:
		return "retention_over"
	case timers.ReceiveOver:
		return "receive_over"
	case timers.BackoffOver:
		return "backoff_over"
	case timers.EscalationOver:
		return "escalation_over"
	case timers.DelegationOver:
		return "delegation_over"
	case timers.TokenOver:
		return "token_over"
	case timers.ReservationOver:
		return "reservation_over"
	case timers.BudgetOver:
		return "budget_over"
	}
	return "unknown"
}
