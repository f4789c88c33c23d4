package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// Readable reports whether Apply can read the event. Whoever proposes one asks
// first, however it was made: an entry that cannot be read stops every node
// that meets it in its log (EV-2).
func Readable(e *event.Event) bool {
	if !e.Kind.IsCommand() {
		return readableOfNodes(e)
	}
	var ok bool
	switch e.Kind {
	case event.AgentDefine:
		ok = event.ReadableBody[event.Define](e.Body)
	case event.AgentStart:
		ok = event.ReadableBody[event.Start](e.Body)
	case event.AgentTrigger:
		ok = event.ReadableBody[event.Trigger](e.Body)
	case event.AgentKill:
		ok = event.ReadableBody[event.Kill](e.Body)
	case event.AgentSubmit:
		ok = event.ReadableBody[event.Submit](e.Body)
	case event.AgentSend:
		ok = event.ReadableBody[event.Send](e.Body)
	case event.AgentReclassify:
		ok = event.ReadableBody[event.Reclassify](e.Body)
	case event.TokenRevoke:
		ok = event.ReadableBody[event.RevokeToken](e.Body)
	case event.GrantRevoke:
		ok = event.ReadableBody[event.RevokeGrant](e.Body)
	case event.EscalationDecide:
		ok = event.ReadableBody[event.Decide](e.Body)
	case event.LogArchive:
		ok = event.ReadableBody[event.ArchiveLog](e.Body)
	case event.AgentFork:
		ok = event.ReadableBody[event.Fork](e.Body)
	case event.KernelSuspend:
		ok = event.ReadableBody[event.SuspendKernel](e.Body)
	case event.KernelResume:
		ok = event.ReadableBody[event.ResumeKernel](e.Body)
	case event.BudgetSet:
		ok = event.ReadableBody[event.SetBudget](e.Body)
	case event.OperatorOrder:
		ok = event.ReadableBody[event.Order](e.Body)
	case event.RunPlan, event.RunStart, event.RunPause, event.RunResume, event.RunKill:
		ok = readableRun(e)
	case event.ToolRegister:
		ok = event.ReadableBody[event.RegisterTool](e.Body)
	case event.ToolDeregister:
		ok = event.ReadableBody[event.DeregisterTool](e.Body)
	case event.SharedPut:
		ok = event.ReadableBody[event.PutShared](e.Body)
	case event.SharedDelete:
		ok = event.ReadableBody[event.DeleteShared](e.Body)
	case event.TaskAnswer:
		ok = event.ReadableBody[event.AnswerTask](e.Body)
	case event.AuthBootstrap, event.PrincipalPut, event.PrincipalDelete, event.RolePut, event.RoleDelete, event.CredentialPut, event.CredentialRevoke:
		ok = readableAuth(e)
	default:
		return false
	}
	return ok
}

// readableOfNodes is Readable of what nodes propose by themselves.
func readableOfNodes(e *event.Event) bool {
	switch e.Kind {
	case event.KernelBooted:
		return event.ReadableBody[config.Config](e.Body)
	case event.LeaderStarted, event.Pulse:
		return true
	case event.ClusterRestored:
		return event.ReadableBody[event.Restored](e.Body)
	case event.KernelUpgraded:
		return event.ReadableBody[event.Upgraded](e.Body)
	case event.Checkpoint:
		return event.ReadableBody[event.Compare](e.Body)
	case event.ToolDispatched:
		return event.ReadableBody[event.Dispatched](e.Body)
	case event.ToolResult:
		return event.ReadableBody[event.Result](e.Body)
	}
	return false
}

// readableAuth is Readable for what is about principals.
func readableAuth(e *event.Event) bool {
	switch e.Kind {
	case event.AuthBootstrap:
		return event.ReadableBody[event.BootstrapAuth](e.Body)
	case event.PrincipalPut:
		return event.ReadableBody[event.PutPrincipal](e.Body)
	case event.PrincipalDelete:
		return event.ReadableBody[event.DeletePrincipal](e.Body)
	case event.RolePut:
		return event.ReadableBody[event.PutRole](e.Body)
	case event.RoleDelete:
		return event.ReadableBody[event.DeleteRole](e.Body)
	case event.CredentialPut:
		return event.ReadableBody[event.PutCredential](e.Body)
	}
	return event.ReadableBody[event.RevokeCredential](e.Body)
}

// readableRun is Readable for what is about runs.
func readableRun(e *event.Event) bool {
	switch e.Kind {
	case event.RunPlan:
		return event.ReadableBody[event.PlanRun](e.Body)
	case event.RunStart:
		return event.ReadableBody[event.StartRun](e.Body)
	case event.RunPause:
		return event.ReadableBody[event.PauseRun](e.Body)
	case event.RunResume:
		return event.ReadableBody[event.ResumeRun](e.Body)
	}
	return event.ReadableBody[event.KillRun](e.Body)
}
