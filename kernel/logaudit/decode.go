package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// unread is the body of kinds that no rule looks into: that they are there, and
// of whom, is all that matters here.
type unread struct{}

// AppendTo writes nothing: nobody writes what was not read.
func (unread) AppendTo(dst []byte) []byte { return dst }

// booted is the body of KernelBooted.
type booted struct{ config.Config }

// AppendTo writes the body's log form.
func (b *booted) AppendTo(dst []byte) []byte { return append(dst, event.Encode(&b.Config)...) }

// decode reads a record's body; nil when it is malformed, unread where no rule
// wants it. known is false for a kind that there is not.
func decode(kind bus.Kind, raw []byte) (body bus.Body, known bool) {
	if kind <= bus.Last && bodies[kind] != nil {
		body, ok := bodies[kind](raw)
		if !ok {
			return nil, true
		}
		return body, true
	}
	if body, wanted := authority.Decode(kind, raw); wanted {
		return body, true
	}
	switch kind {
	case bus.Duplicate, bus.Quarantine, bus.LogArchived, bus.RetryScheduled, bus.SnapshotTaken, bus.SnapshotDropped,
		bus.TeardownFailed, bus.TickScheduled, bus.TickFrozen, bus.EventDelivered, bus.Emitted, bus.MessageQueued, bus.MessageTaken,
		bus.ReceiveStarted, bus.TickRestored, bus.QueueAllocated, bus.QueueReleased, bus.FaultReclassified,
		bus.TimerSet, bus.DelegationRejected, bus.ParentTerminated, bus.RequestCancelled,
		bus.CascadeMoved, bus.MemoryForked, bus.MemoryRestored, bus.MemoryReleased, bus.Audit, bus.TickOverflow, bus.InstructionQueued,
		bus.BudgetBlocked, bus.BudgetOutlived, bus.RunPauseRequested, bus.RunArchived:
		return unread{}, true
	}
	return nil, false
}

// bodies reads the bodies that the rules look into, by kind; package authority
// reads its own.
var bodies = [bus.Last + 1]func([]byte) (bus.Body, bool){
	bus.Event:                 body(event.DecodeRecorded),
	bus.Outcome:               body(event.DecodeOutcome),
	bus.KernelBooted:          decodeBooted,
	bus.ClusterRestored:       body(event.DecodeRestored),
	bus.KernelUpgraded:        body(event.DecodeUpgraded),
	bus.TreeHead:              body(logging.DecodeTreeHead),
	bus.InvalidTransition:     body(lifecycle.DecodeRejection),
	bus.SuspendRequested:      body(lifecycle.DecodeSuspendRequested),
	bus.TickStarted:           body(execution.DecodeStarted),
	bus.Step:                  body(execution.DecodeStep),
	bus.TickCompleted:         body(execution.DecodeCompleted),
	bus.TickPendingTool:       body(execution.DecodePending),
	bus.TickPendingDelegation: body(execution.DecodePending),
	bus.Forked:                body(identity.DecodeForked),
	bus.TickForked:            body(execution.DecodeForked),
	bus.TickFailed:            body(execution.DecodeFailed),
	bus.ResultDelivered:       body(execution.DecodeDelivered),
	bus.Allow:                 body(permissions.DecodeEvaluation),
	bus.Deny:                  body(permissions.DecodeEvaluation),
	bus.Escalated:             body(permissions.DecodeEscalated),
	bus.EscalationOffered:     body(permissions.DecodeEscalationOffered),
	bus.EscalationDecided:     body(permissions.DecodeEscalationDecided),
	bus.CallRequested:         body(tools.DecodeRequested),
	bus.CallDispatched:        body(tools.DecodeDispatched),
	bus.ActionExecuted:        body(tools.DecodeAction),
	bus.ActionFailed:          body(tools.DecodeAction),
	bus.DelegationAccepted:    body(delegation.DecodeDelegationAccepted),
	bus.DelegationOver:        body(delegation.DecodeDelegationOver),
	bus.ChildResult:           body(delegation.DecodeChildResult),
	bus.ChildFailure:          body(delegation.DecodeChildResult),
	bus.MemoryAccess:          body(memory.DecodeAccess),
	bus.OperatorOrdered:       body(event.DecodeOrdered),
	bus.KernelSuspended:       body(estop.DecodeOrder),
	bus.KernelResumed:         body(estop.DecodeOrder),
	bus.TimerCleared:          body(timers.DecodeCleared),
	bus.StaleResult:           body(tools.DecodeStale),
	bus.ToolRegistered:        body(tools.DecodeRegistered),
	bus.ToolDeregistered:      body(tools.DecodeDeregistered),
	bus.BudgetOpened:          body(budgets.DecodeOpened),
	bus.BudgetChanged:         body(budgets.DecodeChanged),
	bus.BudgetReserved:        body(budgets.DecodeReserved),
	bus.BudgetWaiting:         body(budgets.DecodeWaiting),
	bus.BudgetSettled:         body(budgets.DecodeSettled),
	bus.BudgetOverrun:         body(budgets.DecodeOverrun),
	bus.BudgetWarning:         body(budgets.DecodeMark),
	bus.BudgetExceeded:        body(budgets.DecodeMark),
	bus.BudgetClock:           body(budgets.DecodeClock),
	bus.RunDefined:            body(runs.DecodeDefined),
	bus.RunPlanned:            body(runs.DecodePlanned),
	bus.RunTransition:         body(runs.DecodeEvent),
	bus.InvalidRunTransition:  body(runs.DecodeRejection),
	bus.RunTaskStarted:        body(runs.DecodeTask),
	bus.RunTaskCompleted:      body(runs.DecodeTask),
	bus.RunTaskFailed:         body(runs.DecodeTaskFailed),
	bus.AgentLogWarning:       body(logsize.DecodeMark),
	bus.AgentLogExceeded:      body(logsize.DecodeMark),
	bus.AuthBootstrapped:      body(principals.DecodeBootstrapped),
	bus.PrincipalPut:          body(principals.DecodePrincipal),
	bus.PrincipalDeleted:      body(principals.DecodeDeleted),
	bus.RolePut:               body(principals.DecodeRole),
	bus.RoleDeleted:           body(principals.DecodeDeleted),
	bus.CredentialPut:         body(principals.DecodeCredential),
	bus.CredentialRevoked:     body(principals.DecodeRevoked),
	bus.CredentialsForgotten:  body(principals.DecodeForgotten),
}

// body lifts a typed decoder to the table's type.
func body[T bus.Body](decode func([]byte) (T, bool)) func([]byte) (bus.Body, bool) {
	return func(raw []byte) (bus.Body, bool) {
		b, ok := decode(raw)
		return b, ok
	}
}

func decodeBooted(raw []byte) (bus.Body, bool) {
	c, ok := event.DecodeBody[config.Config](raw)
	if !ok {
		return nil, false
	}
	return &booted{*c}, true
}
