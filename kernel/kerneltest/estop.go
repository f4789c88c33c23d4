package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// Suspend commits the emergency stop.
func (s *Sim) Suspend(reason string) event.Outcome {
	s.T.Helper()
	return s.Apply(event.Event{Kind: event.KernelSuspend, Principal: "ann", Body: event.Encode(event.SuspendKernel{Reason: reason})})
}

// Resume commits its end.
func (s *Sim) Resume(reason string) event.Outcome {
	s.T.Helper()
	return s.Apply(event.Event{Kind: event.KernelResume, Principal: "bob", Body: event.Encode(event.ResumeKernel{Reason: reason})})
}

// stops lets an operator stop everything now and then, and some events later go
// on; seldom one does so who should not.
func (h *History) stops() bool {
	st := h.State()
	switch suspended := st.Estop.Suspended(); {
	case suspended && h.rarely("resume", 8), !suspended && h.rarely("resumed for nothing", 300):
		h.command(event.KernelResume, event.ResumeKernel{Reason: h.reason()})
	case !suspended && h.rarely("suspend", 60), suspended && h.rarely("suspended twice", 40):
		h.command(event.KernelSuspend, event.SuspendKernel{Reason: h.reason()})
	default:
		return false
	}
	return true
}

// ends is what a kernel takes that is suspended: what ends, limits or puts away,
// and whatever nodes propose but a dispatch (NO-2).
func ends(e *event.Event) bool {
	switch e.Kind {
	case event.KernelSuspend, event.KernelResume, event.AgentKill, event.TokenRevoke, event.GrantRevoke, event.LogArchive, event.RunPause, event.RunKill, event.ToolDeregister, event.OperatorOrder,
		event.AuthBootstrap, event.PrincipalPut, event.PrincipalDelete, event.RolePut, event.RoleDelete, event.CredentialPut, event.CredentialRevoke,
		event.KernelBooted, event.LeaderStarted, event.Pulse, event.Checkpoint, event.ClusterRestored, event.KernelUpgraded, event.ToolResult:
		return true
	case event.AgentTrigger:
		word := body[event.Trigger](e).Trigger
		return word == lifecycle.Suspend.String() || word == lifecycle.Expire.String() || word == lifecycle.Abandon.String()
	case event.EscalationDecide:
		return !body[event.Decide](e).Approve
	}
	return false
}

// halt suspends the kernel, or lets it go on.
func (n *Naive) halt(e *event.Event) Answer {
	var r rules
	stop := e.Kind == event.KernelSuspend
	if stop {
		reason := body[event.SuspendKernel](e).Reason
		r.must(!n.stopped, failure.KernelSuspended)
		r.must(reason != "" && goodReason(reason), failure.InvalidArgument)
	} else {
		r.must(n.stopped, failure.InvalidState)
		r.must(goodReason(body[event.ResumeKernel](e).Reason), failure.InvalidArgument)
	}
	if len(r) == 0 {
		n.stopped = stop
	}
	return Answer{Refusals: r}
}
