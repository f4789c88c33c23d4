package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// judge looks at a record of an agent that is alive.
func (a *Auditor) judge(g *agent) {
	a.filled(g)
	switch body := a.record.Body.(type) {
	case *logsize.Mark:
		a.sizeMarked(g, body)
	case *lifecycle.Event:
		a.transition(g, body)
	case *lifecycle.Rejection:
		a.rejected(g.state(), body)
	case *lifecycle.SuspendRequested:
		a.suspension(g, body)
	case *execution.StartedBody:
		a.started(g, body)
	case execution.StepBody:
		a.step(g)
	case *execution.PendingBody:
		a.pending(g, body)
	case *identity.Forked:
		a.forkedFrom(body)
	case *execution.ForkedBody:
		a.forked(g, body)
	case *execution.CompletedBody:
		a.completed(g, body)
	case *execution.FailedBody:
		a.failed(g, body)
	case *execution.DeliveredBody:
		a.delivered(g, &body.Answer)
	case *permissions.Evaluation:
		a.evaluation(g, body)
	case *permissions.Escalated:
		a.escalated(g, body)
	case *permissions.EscalationOffered:
		a.offered(body)
	case *permissions.EscalationDecided:
		a.decided(g)
	case *tools.RequestedBody:
		a.requested(g, body)
	case *tools.DispatchedBody:
		a.dispatched(g, body)
	case *tools.ActionBody:
		a.action(g, body)
	case *memory.Access:
		a.access(g, body)
	case *delegation.DelegationAccepted:
		a.accepted(g, body)
	case *delegation.DelegationOver:
		if c := g.call(a.record.Tick, body.Call); c != nil {
			c.over = true
		}
	case *delegation.ChildResult:
		a.found(Result, "a child's result is told before the child is TERMINATED")
		a.childOver()
	case *delegation.TokenIssued:
		a.issued(g, body)
	case *delegation.TokenRevoked:
		a.tokenRevoked(g, body)
	case *permissions.Assigned:
		a.assigned(g, body)
	case *permissions.Revoked:
		a.grantRevoked(g, body)
	default:
		a.judgeKind(g)
	}
}

// judgeKind looks at records that say all that matters here by their kind.
func (a *Auditor) judgeKind(g *agent) {
	switch a.record.Kind {
	case bus.InstructionQueued:
		g.queued++
	case bus.Emitted:
		if g.tick.phase != running || a.record.Tick != g.tick.seq {
			a.found(Step, "something is emitted outside of a tick")
		}
	case bus.TickOverflow:
		a.overflow(g)
	case bus.TickRestored:
		a.restored(g)
	case bus.EventDelivered:
		a.eventDelivered(g)
	case bus.ChildrenRevoked:
		a.report.Revoked++
	case bus.AgentArchived:
		a.found(Transition, "the agent is %s and becomes a tombstone: only one that is TERMINATED does", g.state())
	}
}
