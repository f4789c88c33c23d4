package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/recovery"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// route says what becomes of one kind of record: how its body is read back
// from the log, which owner takes it in, what of that is its agent's alone,
// which interned bodies it names, and which flows react, in order.
type route struct {
	name   string
	decode func([]byte) (bus.Body, bool)
	slice  sliced
	part   func(x *Slice, at bus.At, r bus.Record) // where slice is partly or everyones
	apply  func(s *state.State, at bus.At, r bus.Record)
	names  func(b bus.Body, use func(body uint32))
	react  []reaction
}

// sliced says what apply writes, as one agent's Slice needs to know. It stands
// for every kind that has an apply.
type sliced uint8

const (
	_         sliced = iota
	whole            // the row of the record's agent, entries under its number, and counters
	partly           // that, and what is other agents': part does the agent's own
	everyones        // … of records that belong to no agent, too
	elsewhere        // nothing that is the agent's alone
)

type reaction func(v flows.View, made bus.Record, out *bus.Batch)

// routes is the routing table (EV-5), indexed by kind. A kind without apply
// tells the log something that no table keeps.
var routes = [bus.Last + 1]route{
	bus.Event: {name: "EVENT", decode: body(event.DecodeRecorded), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Sessions.ApplyEvent(at, r.Body.(*event.Recorded).Event, s.Config)
	}},
	bus.Outcome: {name: "OUTCOME", decode: body(event.DecodeOutcome), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Sessions.ApplyOutcome(at, s.Log.Position, r.Body.(*event.Outcome), s.Config)
	}},
	bus.Duplicate:  {name: "DUPLICATE", decode: body(event.DecodeAgain)},
	bus.Quarantine: {name: "QUARANTINED", decode: body(execution.DecodeEmpty)},
	bus.ClusterRestored: {name: "CLUSTER_RESTORED", decode: body(event.DecodeRestored), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		c := *s.Config // published states share it
		c.ClusterID = r.Body.(*event.Restored).To
		s.Config = &c
	}},
	bus.KernelUpgraded: {name: "KERNEL_UPGRADED", decode: body(event.DecodeUpgraded), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		b := r.Body.(*event.Upgraded)
		c := *s.Config // published states share it
		c.Version, c.VersionSeq, c.LogWarnBytes, c.LogErrorBytes = b.Version, at.Seq, b.LogWarnBytes, b.LogErrorBytes
		s.Config = &c
	}},
	bus.TreeHead: {name: "TREE_HEAD", decode: body(logging.DecodeTreeHead), slice: elsewhere, apply: func(s *state.State, _ bus.At, _ bus.Record) {
		s.Log.ApplyTreeHead()
	}},
	bus.LogArchived: {name: "LOG_ARCHIVED", decode: body(logging.DecodeArchived), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Log.ApplyArchived(at.Index, r.Body.(*logging.Archived))
	}},
	bus.KernelBooted: {name: "KERNEL_BOOTED", decode: body(decodeConfig), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Config = &r.Body.(*booted).Config
	}},

	bus.Interned: {name: "INTERNED", decode: body(interning.DecodeGained), slice: everyones, part: gains, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Interned.ApplyGained(r.Body.(*interning.Gained), logging.PointerTo(s.Log.Position))
	}},
	bus.Released: {name: "RELEASED", decode: body(interning.DecodeLost), slice: partly, part: losses, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Interned.ApplyLost(r.Body.(*interning.Lost))
	}},

	bus.AgentDefined: {name: "AGENT_DEFINED", decode: body(identity.DecodeDefined), slice: partly, part: defined, names: namesOfDefined, apply: func(s *state.State, at bus.At, r bus.Record) {
		no, row := s.Agents.Append()
		if no != r.Agent {
			panic("kernel: agents are numbered densely")
		}
		s.Identity.Apply(&row.Identity, no, at, r.Body.(*identity.Defined))
	}},
	bus.Lifecycle: {name: "LIFECYCLE", decode: body(lifecycle.DecodeEvent), slice: partly, part: ownStep, apply: func(s *state.State, at bus.At, r bus.Record) {
		row := s.Agents.Edit(r.Agent)
		row.Lifecycle.Apply(at, r.Body.(*lifecycle.Event))
		if parent := row.Delegation.Parent; parent != 0 && row.Lifecycle.State == lifecycle.Terminated {
			s.Agents.Edit(parent).Delegation.ApplyChildOver()
		}
	}, react: []reaction{
		flows.Suspend, flows.Faulted, flows.Teardown, flows.Release, flows.ChildOver, flows.Waits, flows.Work, flows.Schedule, flows.RunAgent,
	}},
	bus.FaultReclassified: {name: "FAULT_RECLASSIFIED", decode: body(lifecycle.DecodeReclassified), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		row := s.Agents.Edit(r.Agent)
		row.Lifecycle.ApplyReclassified()
		row.Recovery.ApplyReclassified()
	}},
	bus.RetryScheduled: {name: "RETRY_SCHEDULED", decode: body(recovery.DecodeScheduled), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Recovery.ApplyScheduled(r.Tick, r.Body.(*recovery.Scheduled))
	}},
	bus.SuspendRequested: {name: "SUSPEND_REQUESTED", decode: body(lifecycle.DecodeSuspendRequested), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Lifecycle.ApplySuspendRequested(r.Body.(*lifecycle.SuspendRequested))
	}},
	bus.SnapshotTaken: {name: "SNAPSHOT_TAKEN", decode: body(memory.DecodeSnapshotted), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Memory.ApplySnapshotted(at, r.Body.(*memory.Snapshotted))
	}},
	bus.SnapshotDropped: {name: "SNAPSHOT_DROPPED", decode: body(execution.DecodeEmpty), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Memory.ApplySnapshotDropped()
	}},
	bus.TeardownFailed: {name: "TEARDOWN_INCOMPLETE", decode: body(execution.DecodeEmpty), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyTorn(&s.Agents.Edit(r.Agent).Execution)
	}},
	bus.InvalidTransition: {name: "INVALID_TRANSITION", decode: body(lifecycle.DecodeRejection)},
	bus.AgentArchived: {name: "AGENT_ARCHIVED", decode: body(execution.DecodeEmpty), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		row := s.Agents.Edit(r.Agent)
		row.Identity.ApplyArchived()
		row.Execution.ApplyArchived()
		row.Permissions.ApplyArchived()
		row.Mailbox.ApplyReleased()
	}},

	bus.InstructionQueued: {name: "INSTRUCTION_QUEUED", decode: body(execution.DecodeInstruction), slice: whole, names: namesOfInstruction, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyQueued(&s.Agents.Edit(r.Agent).Execution, r.Body.(*execution.InstructionBody))
	}, react: []reaction{flows.Schedule}},
	bus.TickScheduled: {name: "TICK_SCHEDULED", decode: body(execution.DecodePlace), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyScheduled(&s.Agents.Edit(r.Agent).Execution, r.Agent, r.Body.(*execution.PlaceBody))
	}},
	bus.TickFrozen: {name: "TICK_FROZEN", decode: body(execution.DecodePlace), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyFrozen(&s.Agents.Edit(r.Agent).Execution)
	}},
	bus.TickStarted: {name: "TICK_STARTED", decode: body(execution.DecodeStarted), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Running.ApplyStarted(&s.Agents.Edit(r.Agent).Execution, at, r.Tick, r.Body.(*execution.StartedBody))
	}},
	bus.Step: {name: "STEP", decode: body(execution.DecodeStep)},
	bus.TickCompleted: {name: "TICK_COMPLETED", decode: body(execution.DecodeCompleted), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		row := s.Agents.Edit(r.Agent)
		s.Running.ApplyCompleted(&row.Execution, r.Tick, r.Body.(*execution.CompletedBody))
		row.Memory.ApplyTickOver()
	}, react: []reaction{flows.Finish, flows.Schedule, flows.RunTick}},
	bus.TickPendingTool:       {name: "TICK_PENDING_TOOL", decode: body(execution.DecodePending), slice: whole, apply: takePending, react: []reaction{flows.Gate}},
	bus.TickPendingDelegation: {name: "TICK_PENDING_DELEGATION", decode: body(execution.DecodePending), slice: whole, apply: takePending, react: []reaction{flows.Gate}},
	bus.TickFailed: {name: "TICK_FAILED", decode: body(execution.DecodeFailed), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Running.ApplyFailed(&s.Agents.Edit(r.Agent).Execution, at, r.Tick, r.Body.(*execution.FailedBody))
	}, react: []reaction{flows.Fault, flows.Finish, flows.Schedule, flows.RunTick}},
	bus.TickOverflow: {name: "TICK_OVERFLOW", decode: body(execution.DecodeOverflow)},
	bus.ResultDelivered: {name: "RESULT_DELIVERED", decode: body(execution.DecodeDelivered), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Running.ApplyDelivered(&s.Agents.Edit(r.Agent).Execution, at, r.Body.(*execution.DeliveredBody))
	}, react: []reaction{flows.Schedule}},
	bus.EventDelivered: {name: "EVENT_DELIVERED", decode: body(execution.DecodeEvent), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Running.ApplyEvent(&s.Agents.Edit(r.Agent).Execution, at, r.Body.(*execution.EventBody))
	}},
	bus.Emitted: {name: "EMITTED", decode: body(execution.DecodeEmitted), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyEmitted(&s.Agents.Edit(r.Agent).Execution)
	}},
	bus.MessageQueued: {name: "MESSAGE_QUEUED", decode: body(mailbox.DecodeMessage), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Mailbox.ApplyQueued(r.Body.(*mailbox.Message))
	}, react: []reaction{flows.Deliver}},
	bus.MessageTaken: {name: "MESSAGE_TAKEN", decode: body(mailbox.DecodeReceive), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Mailbox.ApplyTaken()
	}},
	bus.ReceiveStarted: {name: "RECEIVE_STARTED", decode: body(mailbox.DecodeReceive), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Mailbox.ApplyStarted(r.Body.(*mailbox.Receive))
	}},
	bus.TickRestored: {name: "TICK_RESTORED", decode: body(execution.DecodeEmpty), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Running.ApplyRestored(&s.Agents.Edit(r.Agent).Execution, at)
	}},
	bus.QueueAllocated: {name: "QUEUE_ALLOCATED", decode: body(execution.DecodeEmpty), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyAllocated(&s.Agents.Edit(r.Agent).Execution)
	}},
	bus.QueueReleased: {name: "QUEUE_RELEASED", decode: body(execution.DecodeEmpty), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Running.ApplyReleased(&s.Agents.Edit(r.Agent).Execution)
	}},

	bus.GrantsAssigned: {name: "GRANTS_ASSIGNED", decode: body(permissions.DecodeAssigned), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Permissions.Apply(r.Body.(*permissions.Assigned))
	}},
	bus.Allow: {name: "ALLOW", decode: body(permissions.DecodeEvaluation)},
	bus.Deny:  {name: "DENY", decode: body(permissions.DecodeEvaluation)},
	bus.Escalated: {name: "ESCALATED", decode: body(permissions.DecodeEscalated), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Escalations.ApplyEscalated(r.Agent, r.Tick, at, r.Body.(*permissions.Escalated))
	}, react: []reaction{flows.Offer}},
	bus.EscalationOffered: {name: "ESCALATION_OFFERED", decode: body(permissions.DecodeEscalationOffered), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Escalations.ApplyOffered(r.Body.(*permissions.EscalationOffered))
	}},
	bus.EscalationDecided: {name: "ESCALATION_DECIDED", decode: body(permissions.DecodeEscalationDecided), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Escalations.ApplyDecided(r.Body.(*permissions.EscalationDecided))
	}},
	bus.GrantRevoked: {name: "GRANT_REVOKED", decode: body(permissions.DecodeRevoked), slice: whole, names: namesOfRevoked, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Permissions.ApplyRevoked(r.Body.(*permissions.Revoked))
	}},

	bus.TokenIssued: {name: "TOKEN_ISSUED", decode: body(delegation.DecodeTokenIssued), slice: partly, part: ownToken, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Delegation.ApplyIssued(tokensOf(s), r.Agent, at, r.Body.(*delegation.TokenIssued))
		row := s.Agents.Edit(r.Agent)
		if parent := s.Agents.Get(row.Delegation.Parent); parent != nil {
			row.Run = parent.Run // RU-4: a run's whole tree works for it
		}
	}},
	bus.TokenRevoked: {name: "TOKEN_REVOKED", decode: body(delegation.DecodeTokenRevoked), slice: partly, part: ownRevocation, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Delegation.ApplyRevoked(&s.Agents.Edit(r.Agent).Delegation, r.Agent, at, r.Body.(*delegation.TokenRevoked))
	}},
	bus.ChildrenRevoked: {name: "CHILDREN_REVOKED", decode: body(delegation.DecodeChildrenVoided), slice: partly, part: ownVoid, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Delegation.ApplyVoided(&s.Agents.Edit(r.Agent).Delegation, r.Agent, at, r.Body.(*delegation.ChildrenVoided))
	}},
	bus.DelegationAccepted: {name: "DELEGATION_ACCEPTED", decode: body(delegation.DecodeDelegationAccepted), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Delegation.ApplyAccepted(r.Agent, r.Tick, r.Body.(*delegation.DelegationAccepted))
	}},
	bus.DelegationRejected: {name: "DELEGATION_REJECTED", decode: body(delegation.DecodeDelegationRejected)},
	bus.ChildResult:        {name: "CHILD_RESULT", decode: body(delegation.DecodeChildResult), slice: elsewhere, apply: childResult, react: []reaction{flows.Joined}},
	bus.ChildFailure:       {name: "CHILD_FAILURE", decode: body(delegation.DecodeChildResult), slice: elsewhere, apply: childResult, react: []reaction{flows.Joined}},
	bus.DelegationOver: {name: "DELEGATION_OVER", decode: body(delegation.DecodeDelegationOver), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Delegation.ApplyOver(r.Agent, r.Tick, r.Body.(*delegation.DelegationOver))
	}},
	bus.ParentTerminated: {name: "PARENT_TERMINATED", decode: body(delegation.DecodeParentTerminated)},
	bus.RequestCancelled: {name: "REQUEST_CANCELLED", decode: body(delegation.DecodeRequestCancelled), slice: partly, part: ownCancel, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Delegation.ApplyCancelled(r.Agent, at, r.Body.(*delegation.RequestCancelled))
	}},
	bus.CascadeMoved: {name: "CASCADE_MOVED", decode: body(delegation.DecodeCascadeMoved), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Delegation.ApplyMoved(r.Body.(*delegation.CascadeMoved))
	}},

	bus.MemoryAccess: {name: "MEMORY_ACCESS", decode: body(memory.DecodeAccess), slice: partly, part: ownMemory, apply: func(s *state.State, at bus.At, r bus.Record) {
		access := r.Body.(*memory.Access)
		var row *memory.Row
		if access.Owner != 0 && access.Changes() {
			row = &s.Agents.Edit(access.Owner).Memory
		}
		s.Memory.ApplyAccess(row, r.Agent, r.Tick, at, access)
	}},
	bus.MemoryRestored: {name: "MEMORY_RESTORED", decode: body(memory.DecodeRestored), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Memory.ApplyRestored(&s.Agents.Edit(r.Agent).Memory, r.Agent, r.Body.(*memory.Restored))
	}},
	bus.MemoryReleased: {name: "MEMORY_RELEASED", decode: body(memory.DecodeReleased), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Memory.ApplyReleased(&s.Agents.Edit(r.Agent).Memory, r.Agent)
	}},

	bus.Audit: {name: "AUDIT", decode: body(audit.Decode), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Audit.Apply(at, r.Agent, r.Tick, r.Body.(*audit.Body))
	}},

	bus.AgentLogWarning: {name: "AGENT_LOG_WARNING", decode: body(logsize.DecodeMark), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Logged.ApplyWarning()
	}},
	bus.AgentLogExceeded: {name: "AGENT_LOG_EXCEEDED", decode: body(logsize.DecodeMark), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Logged.ApplyExceeded()
	}},

	bus.Forked: {name: "FORKED", decode: body(identity.DecodeForked), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Identity.ApplyForked(r.Body.(*identity.Forked))
	}},
	bus.TickForked: {name: "TICK_FORKED", decode: body(execution.DecodeForked), slice: whole, names: namesOfForked, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Agents.Edit(r.Agent).Execution.ApplyForked(at, r.Body.(*execution.ForkedBody))
	}, react: []reaction{flows.Gate}},
	bus.MemoryForked: {name: "MEMORY_FORKED", decode: body(memory.DecodeForked), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Memory.ApplyForked(&s.Agents.Edit(r.Agent).Memory, r.Agent, r.Tick, r.Body.(*memory.Forked))
	}},

	bus.KernelSuspended: {name: "KERNEL_SUSPENDED", decode: body(estop.DecodeOrder), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Estop.ApplySuspended(at, r.Body.(*estop.Order))
	}},
	bus.KernelResumed: {name: "KERNEL_RESUMED", decode: body(estop.DecodeOrder), slice: elsewhere, apply: func(s *state.State, _ bus.At, _ bus.Record) {
		s.Estop.ApplyResumed()
	}},

	bus.CallRequested: {name: "CALL_REQUESTED", decode: body(tools.DecodeRequested), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Tools.ApplyRequested(r.Agent, r.Tick, at, r.Body.(*tools.RequestedBody))
	}},
	bus.CallDispatched: {name: "CALL_DISPATCHED", decode: body(tools.DecodeDispatched), slice: whole, apply: func(s *state.State, at bus.At, r bus.Record) {
		b := r.Body.(*tools.DispatchedBody)
		s.Tools.ApplyDispatched(r.Agent, r.Tick, at, b)
		s.Budgets.ApplyDispatched(r.Agent, r.Tick, b.Call)
	}},
	bus.ActionExecuted: {name: "ACTION_EXECUTED", decode: body(tools.DecodeAction), slice: whole, apply: resolveCall, react: []reaction{flows.Settle}},
	bus.ActionFailed:   {name: "ACTION_FAILED", decode: body(tools.DecodeAction), slice: whole, apply: resolveCall, react: []reaction{flows.Settle}},
	bus.StaleResult:    {name: "STALE_RESULT", decode: body(tools.DecodeStale)},

	bus.ToolRegistered: {name: "TOOL_REGISTERED", decode: body(tools.DecodeRegistered), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Tools.ApplyRegistered(at, r.Body.(*tools.RegisteredBody))
	}},
	bus.ToolDeregistered: {name: "TOOL_DEREGISTERED", decode: body(tools.DecodeDeregistered), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Tools.ApplyDeregistered(r.Body.(*tools.DeregisteredBody))
	}},

	bus.AuthBootstrapped: {name: "AUTH_BOOTSTRAPPED", decode: body(principals.DecodeBootstrapped), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Principals.ApplyBootstrapped(at, r.Body.(*principals.BootstrappedBody))
	}},
	bus.PrincipalPut: {name: "PRINCIPAL_PUT", decode: body(principals.DecodePrincipal), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Principals.ApplyPrincipal(at, r.Body.(*principals.PrincipalBody))
	}},
	bus.PrincipalDeleted: {name: "PRINCIPAL_DELETED", decode: body(principals.DecodeDeleted), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Principals.ApplyPrincipalDeleted(r.Body.(*principals.DeletedBody))
	}},
	bus.RolePut: {name: "ROLE_PUT", decode: body(principals.DecodeRole), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Principals.ApplyRole(at, r.Body.(*principals.RoleBody))
	}},
	bus.RoleDeleted: {name: "ROLE_DELETED", decode: body(principals.DecodeDeleted), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Principals.ApplyRoleDeleted(r.Body.(*principals.DeletedBody))
	}},
	bus.CredentialPut: {name: "CREDENTIAL_PUT", decode: body(principals.DecodeCredential), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Principals.ApplyCredential(at, r.Body.(*principals.CredentialBody))
	}},
	bus.CredentialRevoked: {name: "CREDENTIAL_REVOKED", decode: body(principals.DecodeRevoked), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Principals.ApplyRevoked(at, r.Body.(*principals.RevokedBody))
	}},
	bus.CredentialsForgotten: {name: "CREDENTIALS_FORGOTTEN", decode: body(principals.DecodeForgotten), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Principals.ApplyForgotten(r.Body.(*principals.ForgottenBody))
	}},

	bus.OperatorOrdered: {name: "OPERATOR_ORDERED", decode: body(event.DecodeOrdered)},

	bus.RunDefined: {name: "RUN_DEFINED", decode: body(runs.DecodeDefined), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Runs.ApplyDefined(r.Agent, at, r.Body.(*runs.DefinedBody))
		s.Agents.Edit(r.Agent).Run = r.Agent
	}},
	bus.RunPlanned: {name: "RUN_PLANNED", decode: body(runs.DecodePlanned), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Runs.ApplyPlanned(r.Agent, r.Body.(*runs.PlannedBody))
	}},
	bus.RunTransition: {name: "RUN_TRANSITION", decode: body(runs.DecodeEvent), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Runs.ApplyTransition(r.Agent, at, r.Body.(*runs.Event))
	}, react: []reaction{flows.RunNext, flows.Work}},
	bus.InvalidRunTransition: {name: "INVALID_RUN_TRANSITION", decode: body(runs.DecodeRejection)},
	bus.RunTaskStarted: {name: "RUN_TASK_STARTED", decode: body(runs.DecodeTask), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Runs.ApplyTaskStarted(r.Agent, at, s.Agents.Get(r.Agent).Execution.LastTick+1, r.Body.(*runs.TaskBody))
	}},
	bus.RunTaskCompleted: {name: "RUN_TASK_COMPLETED", decode: body(runs.DecodeTask), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Runs.ApplyTaskCompleted(r.Agent, at, s.Agents.Get(r.Agent).Execution.Result.Value, r.Body.(*runs.TaskBody))
	}, react: []reaction{flows.RunNext}},
	bus.RunTaskFailed: {name: "RUN_TASK_FAILED", decode: body(runs.DecodeTaskFailed), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Runs.ApplyTaskFailed(r.Agent, at, r.Body.(*runs.TaskFailedBody))
	}},
	bus.RunPauseRequested: {name: "RUN_PAUSE_REQUESTED", decode: body(runs.DecodePause), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Runs.ApplyPause(r.Agent, r.Body.(*runs.PauseBody))
	}},
	bus.RunArchived: {name: "RUN_ARCHIVED", decode: body(execution.DecodeEmpty), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Runs.ApplyArchived(r.Agent)
	}},

	bus.TimerSet: {name: "TIMER_SET", decode: body(timers.DecodeSet), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Timers.ApplySet(&s.Agents.Edit(r.Agent).Timer, r.Body.(*timers.Set))
	}},
	bus.TimerCleared: {name: "TIMER_CLEARED", decode: body(timers.DecodeCleared), slice: whole, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Timers.ApplyCleared(&s.Agents.Edit(r.Agent).Timer, r.Body.(*timers.Cleared))
	}},

	// An agent's history says nothing of budgets that its ticks could see.
	bus.BudgetOpened: {name: "BUDGET_OPENED", decode: body(budgets.DecodeOpened), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Budgets.ApplyOpened(r.Agent, r.Body.(*budgets.Opened))
	}},
	bus.BudgetChanged: {name: "BUDGET_CHANGED", decode: body(budgets.DecodeChanged), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Budgets.ApplyChanged(r.Agent, r.Body.(*budgets.Changed))
	}, react: []reaction{flows.Marks, flows.Reset}},
	bus.BudgetReserved: {name: "BUDGET_RESERVED", decode: body(budgets.DecodeReserved), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Budgets.ApplyReserved(r.Agent, r.Tick, s.Term, r.Body.(*budgets.Reserved))
	}},
	bus.BudgetWaiting: {name: "BUDGET_WAITING", decode: body(budgets.DecodeWaiting), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Budgets.ApplyWaiting(r.Agent, r.Tick, at, r.Body.(*budgets.Waiting))
	}},
	bus.BudgetBlocked: {name: "BUDGET_BLOCKED", decode: body(budgets.DecodeBlocked), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Budgets.ApplyBlocked(r.Agent, r.Tick, r.Body.(*budgets.Blocked))
	}},
	bus.BudgetSettled: {name: "BUDGET_SETTLED", decode: body(budgets.DecodeSettled), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Budgets.ApplySettled(r.Agent, r.Tick, r.Body.(*budgets.Settled))
	}, react: []reaction{flows.Marks}},
	bus.BudgetOutlived: {name: "BUDGET_OUTLIVED", decode: body(budgets.DecodeOutlived), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Budgets.ApplyOutlived(r.Agent, r.Tick, r.Body.(*budgets.Outlived))
	}},
	bus.BudgetOverrun: {name: "BUDGET_OVERRUN", decode: body(budgets.DecodeOverrun)},
	bus.BudgetWarning: {name: "BUDGET_WARNING", decode: body(budgets.DecodeMark), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Budgets.ApplyWarned(r.Agent, r.Body.(*budgets.Mark))
	}, react: []reaction{flows.Reset, flows.RunBudget}},
	bus.BudgetExceeded: {name: "BUDGET_EXCEEDED", decode: body(budgets.DecodeMark), slice: elsewhere, apply: func(s *state.State, _ bus.At, r bus.Record) {
		s.Budgets.ApplyExceeded(r.Agent, r.Body.(*budgets.Mark))
	}, react: []reaction{flows.Reset, flows.RunBudget}},
	bus.BudgetClock: {name: "BUDGET_CLOCK", decode: body(budgets.DecodeClock), slice: elsewhere, apply: func(s *state.State, at bus.At, r bus.Record) {
		s.Budgets.ApplyClock(r.Agent, at, r.Body.(*budgets.Clock))
	}},
}

func takePending(s *state.State, at bus.At, r bus.Record) {
	s.Running.ApplyPending(&s.Agents.Edit(r.Agent).Execution, at, r.Body.(*execution.PendingBody))
}

func childResult(s *state.State, _ bus.At, r bus.Record) {
	s.Delegation.ApplyResult(r.Body.(*delegation.ChildResult))
}

// tokensOf gives the delegation module its part of agents' rows, for writing.
func tokensOf(s *state.State) func(no uint32) *delegation.Row {
	return func(no uint32) *delegation.Row { return &s.Agents.Edit(no).Delegation }
}

func resolveCall(s *state.State, _ bus.At, r bus.Record) {
	b := r.Body.(*tools.ActionBody)
	s.Tools.ApplyAction(r.Agent, r.Tick, b)
	s.Budgets.ApplyResolved(r.Agent, r.Tick, b.Call)
}

// KindName returns the specification's name of a record kind.
func KindName(k bus.Kind) string {
	if k <= bus.Last && routes[k].name != "" {
		return routes[k].name
	}
	return "UNKNOWN_RECORD"
}

// DecodeRecordBody reads the body of a record of that kind from the log.
func DecodeRecordBody(k bus.Kind, raw []byte) (bus.Body, bool) {
	if k > bus.Last || routes[k].decode == nil {
		return nil, false
	}
	return routes[k].decode(raw)
}

// body lifts a typed decoder to the table's type.
func body[T bus.Body](decode func([]byte) (T, bool)) func([]byte) (bus.Body, bool) {
	return func(raw []byte) (bus.Body, bool) {
		b, ok := decode(raw)
		return b, ok
	}
}

// booted is the body of a KernelBooted record.
type booted struct{ config.Config }

// AppendTo writes the body's log form: the configuration's canonical CBOR.
func (b *booted) AppendTo(dst []byte) []byte { return append(dst, event.Encode(&b.Config)...) }

func decodeConfig(raw []byte) (*booted, bool) {
	c, ok := event.DecodeBody[config.Config](raw)
	if !ok {
		return nil, false
	}
	return &booted{*c}, true
}
