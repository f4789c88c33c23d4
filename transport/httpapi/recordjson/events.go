package recordjson

import (
	"encoding/hex"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// event renders the committed event: its envelope, and its body by kind.
func (v *view) event(e *event.Event) fields {
	f := fields{"event": e.Kind.String(), "wall_ms": e.Wall, "principal": e.Principal}
	if e.Session.Present() {
		f["session"] = hex.EncodeToString(e.Session.ID[:])
		f["sequence"], f["floor"] = e.Session.Seq, e.Session.Floor
	}
	set(f, "idempotency_key", e.IdempotencyKey)
	if body := v.eventBody(e); body != nil {
		f["body"] = body
	}
	return f
}

func (v *view) eventBody(e *event.Event) any {
	switch e.Kind {
	case event.KernelBooted:
		return decoded[config.Config](e)
	case event.AgentDefine:
		return decoded[event.Define](e)
	case event.AgentStart:
		return decoded[event.Start](e)
	case event.AgentTrigger:
		return decoded[event.Trigger](e)
	case event.AgentKill:
		return decoded[event.Kill](e)
	case event.AgentSubmit:
		return decoded[event.Submit](e)
	case event.AgentSend:
		return decoded[event.Send](e)
	case event.AgentReclassify:
		return decoded[event.Reclassify](e)
	case event.TokenRevoke:
		return decoded[event.RevokeToken](e)
	case event.GrantRevoke:
		return decoded[event.RevokeGrant](e)
	case event.BudgetSet:
		return decoded[event.SetBudget](e)
	case event.EscalationDecide:
		return decoded[event.Decide](e)
	case event.LogArchive:
		return decoded[event.ArchiveLog](e)
	case event.KernelSuspend, event.KernelResume, event.OperatorOrder:
		return ofOperators(e)
	case event.AgentFork:
		if b, ok := event.DecodeBody[event.Fork](e.Body); ok {
			return forking(b)
		}
	case event.RunPlan, event.RunStart, event.RunPause, event.RunResume, event.RunKill:
		return ofRunEvent(e)
	case event.ToolRegister, event.ToolDeregister, event.TaskAnswer:
		return ofToolEvent(e)
	case event.AuthBootstrap, event.PrincipalPut, event.PrincipalDelete, event.RolePut, event.RoleDelete, event.CredentialPut, event.CredentialRevoke:
		return ofAuthEvent(e)
	case event.SharedPut:
		return decoded[event.PutShared](e)
	case event.SharedDelete:
		return decoded[event.DeleteShared](e)
	case event.LeaderStarted:
		if b, ok := event.DecodeBody[event.Leader](e.Body); ok {
			return fields{"node": b.Node, "term": b.Term}
		}
	case event.KernelUpgraded:
		return decoded[event.Upgraded](e)
	case event.ClusterRestored:
		if b, ok := event.DecodeBody[event.Restored](e.Body); ok {
			return restored(b)
		}
	case event.Checkpoint:
		if b, ok := event.DecodeBody[event.Compare](e.Body); ok {
			return checkpoint(b)
		}
	case event.ToolDispatched:
		if b, ok := event.DecodeBody[event.Dispatched](e.Body); ok {
			f := fields{"tick": b.Tick, "call": b.Call, "node": b.Node, "term": b.Term}
			return set(f, "agent_id", v.agentID(b.Agent))
		}
	case event.ToolResult:
		if b, ok := event.DecodeBody[event.Result](e.Body); ok {
			return v.result(b)
		}
	}
	return nil
}

// ofOperators gives the body of an operator's command about the whole cluster.
func ofOperators(e *event.Event) any {
	switch e.Kind {
	case event.KernelSuspend:
		return decoded[event.SuspendKernel](e)
	case event.KernelResume:
		return decoded[event.ResumeKernel](e)
	}
	return decoded[event.Order](e)
}

// ofRunEvent gives the body of a command about a run.
func ofRunEvent(e *event.Event) any {
	switch e.Kind {
	case event.RunPlan:
		return decoded[event.PlanRun](e)
	case event.RunStart:
		return decoded[event.StartRun](e)
	case event.RunPause:
		return decoded[event.PauseRun](e)
	case event.RunResume:
		return decoded[event.ResumeRun](e)
	case event.RunKill:
		return decoded[event.KillRun](e)
	}
	return nil
}

// ofToolEvent gives the body of a client's command about tools and their calls.
func ofToolEvent(e *event.Event) any {
	switch e.Kind {
	case event.ToolRegister:
		return decoded[event.RegisterTool](e)
	case event.ToolDeregister:
		return decoded[event.DeregisterTool](e)
	case event.TaskAnswer:
		return decoded[event.AnswerTask](e)
	}
	return nil
}

func (v *view) result(r *event.Result) fields {
	f := fields{"tick": r.Tick, "call": r.Call, "ok": r.OK, "value": r.Value, "took_ms": r.Millis}
	set(set(f, "code", r.Code), "message", r.Message)
	if r.Metered {
		f["usage"] = fields{"tokens": r.Tokens, "usd_micros": r.USDMicros}
	}
	return set(f, "agent_id", v.agentID(r.Agent))
}

func restored(r *event.Restored) fields {
	return fields{"from": r.From, "to": r.To, "index": r.Index, "chain": hex.EncodeToString(r.Chain[:])}
}

func checkpoint(c *event.Compare) fields {
	values := make([]fields, 0, len(c.Values))
	for _, voter := range c.Values {
		values = append(values, fields{"node": voter.Node, "chain": hex.EncodeToString(voter.Chain[:])})
	}
	return fields{"index": c.Index, "values": values}
}

// decoded gives a body that has names of its own for JSON; nil when malformed.
func decoded[T any](e *event.Event) any {
	if body, ok := event.DecodeBody[T](e.Body); ok {
		return body
	}
	return nil
}
