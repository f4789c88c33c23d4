package recordjson

import (
	"maps"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
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
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// samples has one body of every kind there is.
func samples() map[bus.Kind]bus.Body {
	all := agentSamples()
	for _, more := range []map[bus.Kind]bus.Body{logSamples(), principalSamples(), tickSamples(), authoritySamples(), treeSamples(), memorySamples(), budgetSamples(), runSamples()} {
		maps.Copy(all, more)
	}
	return all
}

func budgetSamples() map[bus.Kind]bus.Body {
	cost, limits := budgets.Amounts{Tokens: 3, USDMicros: 4}, budgets.Limits{Tokens: 5, WallMillis: 6, WarnPercent: 80}
	return map[bus.Kind]bus.Body{
		bus.BudgetOpened:   &budgets.Opened{Above: 1, Limits: limits},
		bus.BudgetChanged:  &budgets.Changed{Limits: limits, Reason: "r"},
		bus.BudgetReserved: &budgets.Reserved{Call: 1, Account: 1, Cost: cost, Started: true, Deadline: 9},
		bus.BudgetWaiting:  &budgets.Waiting{Call: 1, Account: 1, Tool: "echo", Args: value.Null, Resource: "echo", Cost: cost, Deadline: 9, Timer: 8},
		bus.BudgetBlocked:  &budgets.Blocked{Call: 1, Account: 1},
		bus.BudgetSettled:  &budgets.Settled{Call: 1, Used: cost, How: budgets.Reported},
		bus.BudgetOutlived: &budgets.Outlived{Call: 1, Timer: 8},
		bus.BudgetOverrun:  &budgets.Overrun{Call: 1, Beyond: cost},
		bus.BudgetWarning:  &budgets.Mark{Kind: budgets.Tokens, Limit: 5, Used: 4},
		bus.BudgetExceeded: &budgets.Mark{Kind: budgets.WallMillis, Limit: 5, Used: 4, Reserved: 1, Wanted: 1},
		bus.BudgetClock:    &budgets.Clock{Running: true, Deadline: 9, Timer: 8},
	}
}

func runSamples() map[bus.Kind]bus.Body {
	return map[bus.Kind]bus.Body{
		bus.RunDefined:           &runs.DefinedBody{Goal: "g", Config: value.Null, Seed: "s", Planner: 1, AutoStart: true},
		bus.RunPlanned:           &runs.PlannedBody{Tasks: []runs.PlannedTask{{Name: "a", Program: 1}, {Name: "b", Program: 1, Input: value.Null, Uses: []uint32{0}}}},
		bus.RunTransition:        &runs.Event{From: runs.Applying, To: runs.Paused, Trigger: runs.Pause, Cause: runs.Budget, Code: failure.Killed, Forced: true, Reason: "r"},
		bus.InvalidRunTransition: &runs.Rejection{From: runs.Killed, Trigger: runs.Resume, Cause: runs.Operator},
		bus.RunTaskStarted:       &runs.TaskBody{Task: 1},
		bus.RunTaskCompleted:     &runs.TaskBody{Task: 1},
		bus.RunTaskFailed:        &runs.TaskFailedBody{Task: 1, Code: failure.Killed, Message: "m"},
		bus.RunPauseRequested:    &runs.PauseBody{Cause: runs.Operator, Reason: "r"},
		bus.RunArchived:          execution.Empty{},
	}
}

func principalSamples() map[bus.Kind]bus.Body {
	return map[bus.Kind]bus.Body{
		bus.AuthBootstrapped: &principals.BootstrappedBody{By: "client"},
		bus.PrincipalPut:     &principals.PrincipalBody{Name: "ann", Kind: "person", Roles: []string{"reader"}, By: "admin#t"},
		bus.PrincipalDeleted: &principals.DeletedBody{Name: "ann", By: "admin#t", Reason: "r"},
		bus.RolePut: &principals.RoleBody{
			Name: "quiet", Description: "d", Grants: []permissions.Grant{{Effect: permissions.Deny, Action: "agent.*", Resource: "**"}}, By: "admin#t",
		},
		bus.RoleDeleted:          &principals.DeletedBody{Name: "quiet", By: "admin#t"},
		bus.CredentialPut:        &principals.CredentialBody{ID: "abcdefgh", Principal: "ann", Hash: [32]byte{1}, NotAfter: 5, By: "admin#t"},
		bus.CredentialRevoked:    &principals.RevokedBody{ID: "cert:1f", NotAfter: 5, By: "admin#t", Reason: "r"},
		bus.CredentialsForgotten: &principals.ForgottenBody{IDs: []string{"abcdefgh"}},
		bus.OperatorOrdered:      &event.Ordered{By: "ann#t", Order: event.Order{Action: "node.pause", Resource: "n1", Detail: "d"}},
	}
}

func logSamples() map[bus.Kind]bus.Body {
	c := config.Default()
	booted, _ := kernel.DecodeRecordBody(bus.KernelBooted, event.Encode(&c))
	return map[bus.Kind]bus.Body{
		bus.Event:           &event.Recorded{Event: &event.Event{Kind: event.Pulse, Principal: "node:n1", IdempotencyKey: "k"}},
		bus.Outcome:         &event.Outcome{Refusal: failure.Refusal{Code: failure.NotFound, Field: "agent"}, Agent: [16]byte{1}, Index: 1, Seq: 2},
		bus.Duplicate:       &event.Again{Index: 7},
		bus.KernelBooted:    booted,
		bus.Quarantine:      execution.Empty{},
		bus.ClusterRestored: &event.Restored{From: "old", To: "new", Index: 7, Chain: [32]byte{1}},
		bus.AgentLogWarning: &logsize.Mark{Bytes: 11, Limit: 10}, bus.AgentLogExceeded: &logsize.Mark{Bytes: 21, Limit: 20},
		bus.KernelUpgraded:  &event.Upgraded{Version: 2, LogWarnBytes: 10, LogErrorBytes: 20},
		bus.TreeHead:        &logging.TreeHead{Size: 300, Root: [32]byte{1}},
		bus.KernelSuspended: &estop.Order{By: "client", Reason: "r"},
		bus.KernelResumed:   &estop.Order{By: "client"},
		bus.LogArchived:     &logging.Archived{Segments: 3, Before: 700},
		bus.Interned: &interning.Gained{Entries: []interning.GainedEntry{
			{No: 1, Class: interning.Labels, New: true, Body: event.Encode(map[string]string{"team": "red"})},
			{No: 2, Class: interning.Env, Block: 301},
		}},
		bus.Released:     &interning.Lost{Numbers: []uint32{4}},
		bus.TimerSet:     &timers.Set{Timer: timers.Timer{Deadline: 5, ID: 1, Purpose: timers.SleepOver, Agent: 1, Tick: 1, Call: 1}},
		bus.TimerCleared: &timers.Cleared{Deadline: 5, ID: 1, Fired: true},
		bus.Audit:        &audit.Body{Root: 1, Invariant: "INV-03", Kind: uint16(bus.Allow), Rule: "r"},
	}
}

func agentSamples() map[bus.Kind]bus.Body {
	return map[bus.Kind]bus.Body{
		bus.AgentDefined: &identity.Defined{
			ID: identity.ID{1}, Name: "a", Evaluator: "std/1", Mode: identity.Service, Program: 1, Teardown: 2, Input: 3, MaxDepth: 3, TTLMillis: 4,
		},
		bus.Forked: &identity.Forked{Origin: identity.Origin{ID: identity.ID{1}, Seq: 7, Head: [32]byte{1}}},
		bus.Lifecycle: &lifecycle.Event{
			From: lifecycle.Active, To: lifecycle.Faulted, Trigger: lifecycle.Error, Caller: lifecycle.Kernel,
			Code: failure.EvalFailure, Class: failure.Permanent, Reason: "x",
		},
		bus.InvalidTransition: &lifecycle.Rejection{From: lifecycle.Defined, Caller: lifecycle.Client},
		bus.AgentArchived:     execution.Empty{},
		bus.FaultReclassified: &lifecycle.Reclassified{Reason: "the service is back"},
		bus.RetryScheduled:    &recovery.Scheduled{Retry: 1, Millis: 1000},
		bus.SuspendRequested:  &lifecycle.SuspendRequested{Caller: lifecycle.Client, Reason: "lunch"},
		bus.SnapshotTaken:     &memory.Snapshotted{Tick: 2, Checksum: [32]byte{1}},
		bus.SnapshotDropped:   execution.Empty{},
		bus.TeardownFailed:    execution.Empty{},
	}
}

func tickSamples() map[bus.Kind]bus.Body {
	action := &tools.ActionBody{Call: 1, Tool: "echo", Code: failure.ToolFailed, Message: "no", Millis: 3}
	asks := []execution.Request{{Tool: "echo", Args: value.EmptyMap, Timeout: 5}}
	return map[bus.Kind]bus.Body{
		bus.InstructionQueued: &execution.InstructionBody{Program: 1, Input: value.Null},
		bus.TickScheduled:     &execution.PlaceBody{Place: 5},
		bus.TickFrozen:        &execution.PlaceBody{Place: 5},
		bus.TickStarted:       &execution.StartedBody{Program: 1, Run: 1, BusSeqAt: 3, Teardown: true},
		bus.Step:              execution.StepBody{Node: 0},
		bus.TickCompleted:     &execution.CompletedBody{Steps: 1, Value: value.True},
		bus.TickPendingTool:   &execution.PendingBody{Steps: 1, First: 1, Requests: asks, Checkpoint: []byte{1}},
		bus.TickPendingDelegation: &execution.PendingBody{
			Steps: 1, First: 1, Decision: &execution.Decision{Escalation: 7, Approve: true, Reason: "r"}, Checkpoint: []byte{1},
		},
		bus.TickFailed: &execution.FailedBody{Steps: 1, Failure: failure.Failure{
			Code: failure.EvalFailure, Message: "m", Node: 1, Line: 2, Column: 3,
		}},
		bus.TickOverflow:    &execution.OverflowBody{Steps: 10_000},
		bus.ResultDelivered: &execution.DeliveredBody{Answer: execution.Answer{Call: 1, Code: failure.ToolFailed, Message: "no"}},
		bus.TickRestored:    execution.Empty{},
		bus.TickForked: &execution.ForkedBody{LastTick: 3, Emitted: 1, Tick: &execution.ForkedTick{
			Phase: execution.Pending, Program: 1, Input: value.Null, Runs: 1, Steps: 2, Calls: 2, Exit: 1, First: 1, Checkpoint: []byte{1},
			Requests: []execution.Request{{Tool: "echo"}, {Tool: "echo", Args: value.Null}},
			Answers:  []*execution.Answer{{Call: 1, OK: true, Value: value.Null}, nil},
		}},
		bus.QueueReleased:  execution.Empty{},
		bus.QueueAllocated: execution.Empty{},
		bus.Emitted:        &execution.EmittedBody{Value: value.True},
		bus.EventDelivered: &execution.EventBody{Event: value.EmptyMap},
		bus.CallRequested: &tools.RequestedBody{
			Call: 1, Tool: "echo", Args: value.Null, Resource: "echo", Deadline: 5, Timer: 1,
		},
		bus.CallDispatched:   &tools.DispatchedBody{Call: 1, Node: "n1", Term: 2},
		bus.ActionExecuted:   action,
		bus.ActionFailed:     action,
		bus.StaleResult:      &tools.StaleBody{Call: 1, OK: true},
		bus.ToolRegistered:   &tools.RegisteredBody{Manifest: &tools.Manifest{Name: "crm.get", Adapter: "http", Config: value.EmptyMap}},
		bus.ToolDeregistered: &tools.DeregisteredBody{Name: "crm.get", Revision: 7, Reason: "r"},
	}
}

func authoritySamples() map[bus.Kind]bus.Body {
	evaluated := &permissions.Evaluation{Action: "tool.call", Resource: "echo", Grants: 9, Grant: permissions.DefaultDeny, Level: 1}
	return map[bus.Kind]bus.Body{
		bus.GrantsAssigned: &permissions.Assigned{Grants: 3},
		bus.Allow:          evaluated,
		bus.Deny:           evaluated,
		bus.Escalated: &permissions.Escalated{
			Call: 1, Tool: "echo", Args: value.Null, Timeout: 5, Action: "tool.call", Resource: "echo", Handler: 1, Deadline: 6, Timer: 1, Grants: 9, Level: 1,
		},
		bus.EscalationOffered: &permissions.EscalationOffered{ID: 7, Handler: 1},
		bus.EscalationDecided: &permissions.EscalationDecided{ID: 7, Approved: true, By: "client", Reason: "r"},
		bus.GrantRevoked:      &permissions.Revoked{Grant: 1, Grants: 4, Reason: "r"},
	}
}

func treeSamples() map[bus.Kind]bus.Body {
	child := &delegation.ChildResult{Parent: 1, Tick: 2, Call: 1, Code: failure.Killed, Class: failure.Permanent, Message: "m"}
	return map[bus.Kind]bus.Body{
		bus.TokenIssued:        &delegation.TokenIssued{Token: [16]byte{1}, Parent: 1, Grants: 2, Depth: 3, Expires: 4, Timer: 5, Tick: 6, Call: 7},
		bus.TokenRevoked:       &delegation.TokenRevoked{Code: failure.TokenRevoked, Reason: "r", Token: [16]byte{1}, Parent: 1, Cascade: true, Cursor: true},
		bus.ChildrenRevoked:    &delegation.ChildrenVoided{Code: failure.TokenRevoked},
		bus.DelegationAccepted: &delegation.DelegationAccepted{Call: 1, First: 1, Count: 2, FailFast: true, Handler: true, Deadline: 5, Timer: 6},
		bus.DelegationRejected: &delegation.DelegationRejected{Call: 1, Code: failure.Rejected, Field: "children[0]", Rule: "r"},
		bus.ChildResult:        child,
		bus.ChildFailure:       child,
		bus.DelegationOver:     &delegation.DelegationOver{Call: 1},
		bus.ParentTerminated:   &delegation.ParentTerminated{Parent: 1},
		bus.RequestCancelled:   &delegation.RequestCancelled{Tick: 2, Call: 1, Code: failure.Killed},
		bus.CascadeMoved:       &delegation.CascadeMoved{At: 1},
	}
}

func memorySamples() map[bus.Kind]bus.Body {
	return map[bus.Kind]bus.Body{
		bus.MemoryAccess: &memory.Access{
			Op: memory.OpWrite, Scope: memory.ScopeShared, Namespace: "n", Key: "k", Found: true, Version: 4, Value: value.True, Call: 1, Run: 1,
		},
		bus.MemoryForked:   &memory.Forked{Entries: []memory.Before{{Key: "k", Existed: true, Value: value.True, Version: 4, Writer: 1, At: 5}}},
		bus.MemoryRestored: &memory.Restored{Entries: []memory.Before{{Key: "k", Existed: true, Value: value.True, Version: 4, Writer: 1, At: 5}, {Key: "l"}}},
		bus.MemoryReleased: &memory.Released{Keys: 1, Bytes: 2},
		bus.MessageQueued:  &mailbox.Message{Value: value.True},
		bus.MessageTaken:   &mailbox.Receive{Call: 1},
		bus.ReceiveStarted: &mailbox.Receive{Call: 1, Limited: true},
	}
}
