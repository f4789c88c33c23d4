package kernel_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/recovery"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// EV-11: the golden list of record kinds: numbers, names, whether some module
// keeps them, and how many flows react. Numbers are part of the log: append,
// never change or reuse one.
func TestRecordKinds(t *testing.T) {
	golden := `
1 EVENT kept 0
2 OUTCOME kept 0
3 DUPLICATE told 0
4 KERNEL_BOOTED kept 0
5 QUARANTINED told 0
6 TREE_HEAD kept 0
7 LOG_ARCHIVED kept 0
8 CLUSTER_RESTORED kept 0
9 KERNEL_UPGRADED kept 0
10 INTERNED kept 0
11 RELEASED kept 0
20 AGENT_DEFINED kept 0
21 LIFECYCLE kept 9
22 INVALID_TRANSITION told 0
23 AGENT_ARCHIVED kept 0
24 FAULT_RECLASSIFIED kept 0
25 RETRY_SCHEDULED kept 0
26 SUSPEND_REQUESTED kept 0
27 SNAPSHOT_TAKEN kept 0
28 SNAPSHOT_DROPPED kept 0
29 TEARDOWN_INCOMPLETE kept 0
30 INSTRUCTION_QUEUED kept 1
31 TICK_SCHEDULED kept 0
32 TICK_FROZEN kept 0
33 TICK_STARTED kept 0
34 STEP told 0
35 TICK_COMPLETED kept 3
36 TICK_PENDING_TOOL kept 1
37 TICK_PENDING_DELEGATION kept 1
38 TICK_FAILED kept 4
39 TICK_OVERFLOW told 0
40 RESULT_DELIVERED kept 1
41 TICK_RESTORED kept 0
42 QUEUE_RELEASED kept 0
43 QUEUE_ALLOCATED kept 0
45 EMITTED kept 0
46 EVENT_DELIVERED kept 0
47 MESSAGE_QUEUED kept 1
48 MESSAGE_TAKEN kept 0
49 RECEIVE_STARTED kept 0
50 GRANTS_ASSIGNED kept 0
51 ALLOW told 0
52 DENY told 0
53 ESCALATED kept 1
54 ESCALATION_OFFERED kept 0
55 ESCALATION_DECIDED kept 0
56 GRANT_REVOKED kept 0
60 CALL_REQUESTED kept 0
61 CALL_DISPATCHED kept 0
62 ACTION_EXECUTED kept 1
63 ACTION_FAILED kept 1
64 STALE_RESULT told 0
70 TIMER_SET kept 0
71 TIMER_CLEARED kept 0
80 TOKEN_ISSUED kept 0
81 TOKEN_REVOKED kept 0
82 CHILDREN_REVOKED kept 0
83 DELEGATION_ACCEPTED kept 0
84 DELEGATION_REJECTED told 0
85 CHILD_RESULT kept 1
86 CHILD_FAILURE kept 1
87 DELEGATION_OVER kept 0
88 PARENT_TERMINATED told 0
89 REQUEST_CANCELLED kept 0
90 CASCADE_MOVED kept 0
100 MEMORY_ACCESS kept 0
101 MEMORY_RESTORED kept 0
102 MEMORY_RELEASED kept 0
110 AUDIT kept 0
111 AGENT_LOG_WARNING kept 0
112 AGENT_LOG_EXCEEDED kept 0
120 FORKED kept 0
121 TICK_FORKED kept 1
122 MEMORY_FORKED kept 0
130 KERNEL_SUSPENDED kept 0
131 KERNEL_RESUMED kept 0
140 RUN_DEFINED kept 0
141 RUN_PLANNED kept 0
142 RUN_TRANSITION kept 2
143 INVALID_RUN_TRANSITION told 0
144 RUN_TASK_STARTED kept 0
145 RUN_TASK_COMPLETED kept 1
146 RUN_TASK_FAILED kept 0
147 RUN_PAUSE_REQUESTED kept 0
148 RUN_ARCHIVED kept 0
160 BUDGET_OPENED kept 0
161 BUDGET_CHANGED kept 2
162 BUDGET_RESERVED kept 0
163 BUDGET_WAITING kept 0
164 BUDGET_BLOCKED kept 0
165 BUDGET_SETTLED kept 1
166 BUDGET_OUTLIVED kept 0
167 BUDGET_OVERRUN told 0
168 BUDGET_WARNING kept 2
169 BUDGET_EXCEEDED kept 2
170 BUDGET_CLOCK kept 0
180 TOOL_REGISTERED kept 0
181 TOOL_DEREGISTERED kept 0
`
	var found strings.Builder
	found.WriteByte('\n')
	for _, k := range kernel.Kinds() {
		word := "told"
		if kernel.HasApplier(k) {
			word = "kept"
		}
		fmt.Fprintf(&found, "%d %s %s %d\n", k, kernel.KindName(k), word, kernel.Reactions(k))
	}
	require.Equal(t, golden+authRecords, found.String())
	require.Equal(t, "UNKNOWN_RECORD", kernel.KindName(65))
	require.Equal(t, "UNKNOWN_RECORD", kernel.KindName(bus.Last+1))
}

// sample is one record body with nothing left at its zero value.
type sample struct {
	kind bus.Kind
	body bus.Body
}

func samples() []sample {
	args, checkpoint := value.Raw("\xa1\x61a\x01"), []byte{0x83, 1, 2, 3}
	fault := failure.Failure{Code: failure.EvalFailure, Message: "no such name: x", Node: 3, Line: 1, Column: 300}
	cost, limits := budgets.Amounts{Tokens: 300, USDMicros: 70_000}, budgets.Limits{Tokens: 1 << 40, USDMicros: 1 << 50, WallMillis: 70_000, WarnPercent: 80}
	answer := execution.Answer{Call: 2, OK: true, Value: args}
	id := [16]byte{1, 2, 3, 4, 5, 6, 0x77, 8, 0x89, 10, 11, 12, 13, 14, 15, 16}
	e := &event.Event{
		Kind: event.AgentKill, Wall: kerneltest.Start, Principal: "ann",
		Session: event.Session{ID: id, Seq: 300, Floor: 299}, Body: event.Encode(event.Kill{Agent: "x", Reason: "y"}),
	}
	keyed := &event.Event{Kind: event.Pulse, Wall: -5, Principal: "node:n1", IdempotencyKey: "k"}
	return []sample{
		{bus.Event, &event.Recorded{Event: e}},
		{bus.Event, &event.Recorded{Event: keyed}},
		{bus.Outcome, &event.Outcome{
			Refusal: failure.Refusal{Code: failure.InvalidArgument, Field: "id", Rule: "must be", Hint: "try"},
			Agent:   id, State: 8, Index: 1 << 40, Seq: 1<<64 - 1, Version: 300,
		}},
		{bus.Duplicate, &event.Again{Index: 300}},
		{bus.KernelBooted, kernel.BootedBody(kerneltest.Config(kerneltest.Version1))},
		{bus.KernelBooted, kernel.BootedBody(kerneltest.Config())},
		{bus.KernelUpgraded, &event.Upgraded{Version: 2, LogWarnBytes: 300, LogErrorBytes: 70_000}},
		{bus.Quarantine, execution.Empty{}},
		{bus.ClusterRestored, &event.Restored{From: "old", To: "new", Index: 300, Chain: [32]byte{1, 31: 2}}},
		{bus.TreeHead, &logging.TreeHead{Size: 300, Root: [32]byte{1, 31: 2}}},
		{bus.LogArchived, &logging.Archived{Segments: 300, Before: 1 << 40}},
		{bus.KernelSuspended, &estop.Order{By: "ann", Reason: "why"}},
		{bus.KernelResumed, &estop.Order{By: "bob"}},
		{bus.Interned, &interning.Gained{Entries: []interning.GainedEntry{
			{No: 1, Class: interning.Program, Block: 300}, {No: 300, Class: interning.Env, New: true, Body: []byte("\xa0")},
		}}},
		{bus.Released, &interning.Lost{Numbers: []uint32{1, 1<<32 - 1}}},
		{bus.AgentDefined, &identity.Defined{
			ID: id, Name: "bo", Evaluator: "std/1", Mode: identity.Service, Program: 1, Grants: 2, Labels: 3, Env: 4,
			Teardown: 5, Input: 8, MaxDepth: 6, TTLMillis: 700,
		}},
		{bus.Lifecycle, &lifecycle.Event{
			From: lifecycle.Active, To: lifecycle.Faulted, Trigger: lifecycle.Error, Caller: lifecycle.Kernel,
			Code: failure.EvalFailure, Class: failure.Permanent, Reason: "because",
		}},
		{bus.InvalidTransition, &lifecycle.Rejection{From: lifecycle.Terminated, Trigger: lifecycle.Breach, Caller: lifecycle.Client}},
		{bus.AgentArchived, execution.Empty{}},
		{bus.InstructionQueued, &execution.InstructionBody{Program: 7, Input: args}},
		{bus.TickScheduled, &execution.PlaceBody{Place: 1 << 50}},
		{bus.TickFrozen, &execution.PlaceBody{Place: 5}},
		{bus.TickStarted, &execution.StartedBody{Program: 7, Run: 2, BusSeqAt: 1 << 33, Teardown: true}},
		{bus.Step, execution.StepBody{Node: 4095}},
		{bus.TickCompleted, &execution.CompletedBody{Steps: 9, Value: args}},
		{bus.TickPendingTool, &execution.PendingBody{
			Steps: 9, First: 2, Requests: []execution.Request{{Tool: "echo", Args: args, Timeout: 86_400_000}}, Checkpoint: checkpoint,
		}},
		{bus.TickPendingDelegation, &execution.PendingBody{
			Steps: 9, First: 2, Requests: []execution.Request{}, Decision: &execution.Decision{Escalation: 300, Approve: true, Reason: "y"}, Checkpoint: checkpoint,
		}},
		{bus.TickFailed, &execution.FailedBody{Steps: 9, Failure: fault}},
		{bus.TickOverflow, &execution.OverflowBody{Steps: 10_000}},
		{bus.ResultDelivered, &execution.DeliveredBody{Answer: answer}},
		{bus.ResultDelivered, &execution.DeliveredBody{Answer: execution.Answer{Call: 1, Code: failure.ToolFailed, Message: "no"}}},
		{bus.TickRestored, execution.Empty{}},
		{bus.QueueReleased, execution.Empty{}},
		{bus.QueueAllocated, execution.Empty{}},
		{bus.GrantsAssigned, &permissions.Assigned{Grants: 2}},
		{bus.Allow, &permissions.Evaluation{Action: "tool.call", Resource: "echo", Grants: 2, Grant: 255, Level: 3}},
		{bus.Deny, &permissions.Evaluation{Action: "tool.call", Resource: "echo", Grants: 2, Grant: permissions.DefaultDeny}},
		{bus.CallRequested, &tools.RequestedBody{
			Call: 2, Tool: "http.request", Args: args, Resource: "http.request/GET/h", Idempotent: true, Deadline: kerneltest.Start, Timer: 9,
		}},
		{bus.CallDispatched, &tools.DispatchedBody{Call: 2, Node: "n1", Term: 3}},
		{bus.ActionExecuted, &tools.ActionBody{Call: 2, Tool: "echo", Millis: 17}},
		{bus.ActionFailed, &tools.ActionBody{Call: 2, Tool: "echo", Code: failure.ToolTimeout, Message: "late", Millis: -1}},
		{bus.StaleResult, &tools.StaleBody{Call: 2, OK: true}},
		{bus.ActionExecuted, &tools.ActionBody{Call: 2, Tool: "echo", Millis: 17, Usage: tools.Usage{Metered: true, Tokens: 300, USDMicros: 70_000}}},
		{bus.StaleResult, &tools.StaleBody{Call: 2, OK: true, Usage: tools.Usage{Metered: true, Tokens: 300}}},
		{bus.ToolRegistered, &tools.RegisteredBody{Manifest: &manifest}},
		{bus.ToolDeregistered, &tools.DeregisteredBody{Name: "crm.get", Revision: 300, Reason: "y"}},
		{bus.BudgetOpened, &budgets.Opened{Above: 300, Limits: limits}},
		{bus.BudgetChanged, &budgets.Changed{Limits: limits, Reason: "y"}},
		{bus.BudgetReserved, &budgets.Reserved{Call: 2, Account: 300, Cost: cost, Started: true, Deadline: kerneltest.Start}},
		{bus.BudgetWaiting, &budgets.Waiting{
			Call: 2, Account: 300, Tool: "http.request", Args: args, Resource: "http.request/GET/h", Idempotent: true, Cost: cost,
			Deadline: kerneltest.Start, Timer: 9,
		}},
		{bus.BudgetBlocked, &budgets.Blocked{Call: 2, Account: 300}},
		{bus.BudgetSettled, &budgets.Settled{Call: 2, Used: cost, How: budgets.Assumed}},
		{bus.BudgetOutlived, &budgets.Outlived{Call: 2, Timer: 300}},
		{bus.BudgetOverrun, &budgets.Overrun{Call: 2, Beyond: cost}},
		{bus.BudgetWarning, &budgets.Mark{Kind: budgets.Tokens, Limit: 1000, Used: 800, Reserved: 70}},
		{bus.BudgetExceeded, &budgets.Mark{Kind: budgets.USDMicros, Limit: 1000, Used: 800, Reserved: 70, Wanted: 300}},
		{bus.BudgetClock, &budgets.Clock{Running: true, Deadline: kerneltest.Start, Timer: 9}},
		{bus.TimerSet, &timers.Set{Timer: timers.Timer{
			Deadline: kerneltest.Start, ID: 9, Purpose: timers.CallDeadline, Agent: 4, Tick: 5, Call: 2,
		}}},
		{bus.TimerCleared, &timers.Cleared{Deadline: kerneltest.Start, ID: 9, Fired: true}},
		{bus.FaultReclassified, &lifecycle.Reclassified{Reason: "y"}},
		{bus.RetryScheduled, &recovery.Scheduled{Retry: 2, Millis: 4000}},
		{bus.SuspendRequested, &lifecycle.SuspendRequested{Caller: lifecycle.Parent, Reason: "y"}},
		{bus.SnapshotTaken, &memory.Snapshotted{Tick: 3, Checksum: [32]byte{1, 2}}},
		{bus.SnapshotDropped, execution.Empty{}},
		{bus.TeardownFailed, execution.Empty{}},
		{bus.EventDelivered, &execution.EventBody{Event: args}},
		{bus.Emitted, &execution.EmittedBody{Value: args}},
		{bus.MessageQueued, &mailbox.Message{Value: args}},
		{bus.MessageTaken, &mailbox.Receive{Call: 2}},
		{bus.ReceiveStarted, &mailbox.Receive{Call: 2, Limited: true}},
		{bus.Escalated, &permissions.Escalated{
			Call: 2, Tool: "echo", Args: args, Timeout: 5, Action: "tool.call", Resource: "echo", Digest: [32]byte{9}, Handler: 1,
			Deadline: kerneltest.Start, Timer: 9, Grants: 2, Grant: 1, Level: 1,
		}},
		{bus.EscalationOffered, &permissions.EscalationOffered{ID: 300, Handler: 1}},
		{bus.EscalationDecided, &permissions.EscalationDecided{ID: 300, Approved: true, By: "ann", Code: failure.Withdrawn, Reason: "y"}},
		{bus.GrantRevoked, &permissions.Revoked{Grant: 1, Grants: 3, Reason: "y"}},
		{bus.TokenIssued, &delegation.TokenIssued{
			Token: id, Parent: 1, Grants: 2, Depth: 3, Expires: kerneltest.Start, Timer: 9, Tick: 5, Call: 2, Position: 1,
		}},
		{bus.TokenRevoked, &delegation.TokenRevoked{
			Code: failure.TokenRevoked, Reason: "y", Token: id, Parent: 1, Grants: 2, Depth: 3, Expires: kerneltest.Start, Cascade: true, Cursor: true,
		}},
		{bus.ChildrenRevoked, &delegation.ChildrenVoided{Code: failure.TokenRevoked}},
		{bus.DelegationAccepted, &delegation.DelegationAccepted{
			Call: 2, First: 4, Count: 3, FailFast: true, Handler: true, Detached: true, Deadline: kerneltest.Start, Timer: 9,
		}},
		{bus.DelegationRejected, &delegation.DelegationRejected{Call: 2, Code: failure.Rejected, Field: "children[0].grants[1]", Rule: "widens"}},
		{bus.ChildResult, &delegation.ChildResult{Parent: 1, Tick: 5, Call: 2, Position: 1, OK: true}},
		{bus.ChildFailure, &delegation.ChildResult{
			Parent: 1, Tick: 5, Call: 2, Position: 1, Code: failure.Killed, Class: failure.Permanent, Message: "m",
		}},
		{bus.DelegationOver, &delegation.DelegationOver{Call: 2}},
		{bus.ParentTerminated, &delegation.ParentTerminated{Parent: 300}},
		{bus.RequestCancelled, &delegation.RequestCancelled{Tick: 5, Call: 2, Code: failure.Killed}},
		{bus.CascadeMoved, &delegation.CascadeMoved{At: 300, Done: true}},
		{bus.MemoryAccess, &memory.Access{
			Op: memory.OpWrite, Scope: memory.ScopePersistent, Owner: 4, Key: "a/b", Found: true, Version: 300, Value: args, Call: 2, Run: 1,
		}},
		{bus.MemoryAccess, &memory.Access{Op: memory.OpRead, Scope: memory.ScopeShared, Namespace: "n", Key: "k", Call: 2, Run: 1}},
		{bus.MemoryRestored, &memory.Restored{Entries: []memory.Before{
			{Key: "a"}, {Key: "b", Existed: true, Value: args, Version: 300, Writer: 4, At: kerneltest.Start},
		}}},
		{bus.MemoryReleased, &memory.Released{Keys: 2, Bytes: 300}},
		{bus.Forked, &identity.Forked{Origin: identity.Origin{ID: id, Seq: 300, Head: [32]byte{1, 31: 2}}}},
		{bus.TickForked, &execution.ForkedBody{LastTick: 300, Emitted: 3, Tick: &execution.ForkedTick{
			Phase: execution.Pending, Program: 300, Input: args, Runs: 3, Steps: 4, Calls: 6, Exit: 2, First: 5, Checkpoint: checkpoint,
			Requests: []execution.Request{{Tool: "echo"}, {Tool: "echo", Args: args, Timeout: 300}},
			Answers:  []*execution.Answer{{Call: 5, OK: true, Value: args}, nil},
		}}},
		{bus.TickForked, &execution.ForkedBody{LastTick: 3, Tick: &execution.ForkedTick{
			Phase: execution.Pending, Program: 1, Input: args, Runs: 1, Calls: 1, First: 1, Exit: 1, Checkpoint: checkpoint, Orphan: true,
			Requests: []execution.Request{{Tool: execution.Delegate, Args: value.Null}}, Answers: []*execution.Answer{nil},
		}}},
		{bus.TickForked, &execution.ForkedBody{LastTick: 3}},
		{bus.MemoryForked, &memory.Forked{
			Entries: []memory.Before{{Key: "b", Existed: true, Value: args, Version: 300, Writer: 4, At: kerneltest.Start}},
			Run:     2, Undo: []memory.Before{{Key: "a"}},
		}},
		{bus.RunDefined, &runs.DefinedBody{Goal: "be done", Config: args, Seed: "s", Planner: 300, AutoStart: true}},
		{bus.RunPlanned, &runs.PlannedBody{Tasks: []runs.PlannedTask{
			{Name: "a", Program: 7, Input: args}, {Name: "b", Program: 300}, {Name: "c", Program: 1, Uses: []uint32{1, 0}},
		}}},
		{bus.RunTransition, &runs.Event{
			From: runs.Applying, To: runs.Paused, Trigger: runs.Pause, Cause: runs.Governance, Code: failure.Killed, Forced: true, Reason: "y",
		}},
		{bus.InvalidRunTransition, &runs.Rejection{From: runs.Killed, Trigger: runs.Resume, Cause: runs.RunawayCost}},
		{bus.RunTaskStarted, &runs.TaskBody{Task: 300}},
		{bus.RunTaskCompleted, &runs.TaskBody{Task: 3}},
		{bus.RunTaskFailed, &runs.TaskFailedBody{Task: 300, Code: failure.Killed, Message: "m"}},
		{bus.RunPauseRequested, &runs.PauseBody{Cause: runs.Budget, Reason: "y"}},
		{bus.RunArchived, execution.Empty{}},
		{bus.Audit, &audit.Body{Root: 1, Invariant: "INV-03", Kind: 33, Rule: "r"}},
		{bus.AgentLogWarning, &logsize.Mark{Bytes: 300, Limit: 299}}, {bus.AgentLogExceeded, &logsize.Mark{Bytes: 70_000, Limit: 3}},
	}
}

// EV-11: every kind of record has a decoder, and its body is read back as it
// was written, whole or not at all.
func TestRecordBodiesRoundTrip(t *testing.T) {
	covered := make(map[bus.Kind]bool)
	for _, one := range append(samples(), authSamples()...) {
		covered[one.kind] = true
		name := kernel.KindName(one.kind)
		raw := one.body.AppendTo(nil)
		back, ok := kernel.DecodeRecordBody(one.kind, raw)
		require.True(t, ok, name)
		assert.Equal(t, one.body, back, name)
		assert.Equal(t, raw, back.AppendTo(nil), name)
		assert.Equal(t, "before"+string(raw), string(one.body.AppendTo([]byte("before"))), name)
		_, ok = kernel.DecodeRecordBody(one.kind, append(bytes.Clone(raw), 0))
		assert.False(t, ok, "%s with a byte after it", name)
		for cut := range raw {
			_, ok = kernel.DecodeRecordBody(one.kind, raw[:cut])
			assert.False(t, ok, "%s cut to %d of %d bytes", name, cut, len(raw))
		}
	}
	for _, k := range kernel.Kinds() {
		assert.True(t, covered[k], "%s has no sample", kernel.KindName(k))
	}
	_, ok := kernel.DecodeRecordBody(65, nil)
	require.False(t, ok, "a kind that is not there")
	_, ok = kernel.DecodeRecordBody(bus.Last+1, nil)
	require.False(t, ok)
}

// The bytes of every kind of record body. A difference means that committed
// logs can no longer be read.
func TestGoldenRecords(t *testing.T) {
	var lines []string
	for _, one := range append(samples(), authSamples()...) {
		lines = append(lines, kernel.KindName(one.kind)+" "+hex.EncodeToString(one.body.AppendTo(nil)))
	}
	golden(t, "records.golden", lines)
}

// manifest has every member.
var manifest = tools.Manifest{
	Name: "crm.get", Version: "2", Description: "d", Adapter: "http", Config: value.EmptyMap, Input: value.True, Output: value.EmptyMap,
	TimeoutMillis: 300, Retry: tools.Retry{MaxAttempts: 3, BackoffMillis: 5, MaxBackoffMillis: 70_000}, Idempotent: true, Concurrency: 2,
	Cost: tools.Cost{Tokens: 300, USDMicros: 70_000}, Secrets: []string{"KEY"}, Segments: []string{"id"},
}

// The bytes of every kind of event, in its envelope.
func TestGoldenEvents(t *testing.T) {
	program := kerneltest.JSON(t, literal)
	define := event.Define{
		ID: kerneltest.AgentID(1), Name: "bo", Evaluator: "std/1", Mode: "service",
		Labels: map[string]string{"b": "2", "a": "1"}, Env: map[string]string{"k": "v"},
		Grants:  []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**", NotAfterMillis: 9}},
		Program: program, Teardown: program, MaxDepth: 3, TTLMillis: 700, Input: value.True,
	}
	bodies := []eventSample{
		{event.KernelBooted, kerneltest.Config(kerneltest.Version1)},
		{event.LeaderStarted, event.Leader{Node: "n1", Term: 3}},
		{event.Pulse, nil},
		{event.Checkpoint, event.Compare{Index: 7, Values: []event.Voter{{Node: "n1", Chain: [32]byte{1}}}}},
		{event.ClusterRestored, event.Restored{From: "old", To: "new", Index: 300, Chain: [32]byte{1}}},
		{event.AgentDefine, define},
		{event.AgentStart, event.Start{Define: define, Input: value.Null, Reason: "why"}},
		{event.AgentTrigger, event.Trigger{Agent: "x", Trigger: "spawn", Reason: "why", Input: value.Null, Force: true}},
		{event.AgentKill, event.Kill{Agent: "x", Reason: "why"}},
		{event.AgentSubmit, event.Submit{Agent: "x", Program: program, Input: value.Null}},
		{event.AgentSend, event.Send{Agent: "x", Message: value.Null}},
		{event.AgentReclassify, event.Reclassify{Agent: "x", Reason: "why"}},
		{event.TokenRevoke, event.RevokeToken{Agent: "x", Reason: "why"}},
		{event.GrantRevoke, event.RevokeGrant{Agent: "x", Grant: 1, Reason: "why"}},
		{event.EscalationDecide, event.Decide{Escalation: 300, Approve: true, Reason: "why"}},
		{event.SharedPut, event.PutShared{Namespace: "n", Key: "k", Value: value.Null, Version: new(uint64)}},
		{event.SharedDelete, event.DeleteShared{Namespace: "n", Key: "k"}},
		{event.LogArchive, event.ArchiveLog{Before: 300}},
		{event.KernelSuspend, event.SuspendKernel{Reason: "why"}}, {event.KernelResume, event.ResumeKernel{Reason: "why"}},
		{event.ToolRegister, event.RegisterTool{Manifest: manifest}},
		{event.ToolDeregister, event.DeregisterTool{Name: "crm.get", Reason: "why"}},
		{event.TaskAnswer, event.AnswerTask{Agent: "x", Tick: 2, Call: 3, Reject: true, Result: value.Null, Reason: "why"}},
		{event.BudgetSet, event.SetBudget{Agent: "x", Tokens: new(uint64), USDMicros: new(uint64), WallMillis: new(int64), WarnPercent: new(uint32), Reason: "why"}},
		{event.AgentDefine, event.Define{Budget: &event.Budget{Tokens: 300, USDMicros: 70_000, WallMillis: 5, WarnPercent: 50}}},
		{event.ToolDispatched, event.Dispatched{Agent: 1, Tick: 2, Call: 3, Node: "n1", Term: 4}},
		{event.ToolResult, event.Result{Agent: 1, Tick: 2, Call: 3, OK: true, Value: value.Null, Code: "c", Message: "m", Millis: 5}},
		{event.ToolResult, event.Result{Agent: 1, Tick: 2, Call: 3, OK: true, Metered: true, Tokens: 300, USDMicros: 5}},
		{event.RunPlan, event.PlanRun{
			Agent: define, Name: "n", Goal: "g", Config: value.Null, Seed: "s", Planner: program, Start: true, Reason: "why",
			Tasks: []event.RunTask{{Name: "a", Program: program, Input: value.Null, Uses: []string{"b"}}},
		}},
		{event.RunStart, event.StartRun{Run: "x", Reason: "why"}},
		{event.RunPause, event.PauseRun{Run: "x", Reason: "why", Trigger: "budget", Force: true}},
		{event.RunResume, event.ResumeRun{Run: "x", Reason: "why", Trigger: "budget"}},
		{event.RunKill, event.KillRun{Run: "x", Reason: "why", Trigger: "security"}},
		{event.AgentFork, event.Fork{
			Define: define, Source: "x", At: 300, Head: [32]byte{1}, LastTick: 3, Emitted: 4,
			Tick: &event.ForkTick{
				Phase: 2, Program: program, Input: value.Null, Runs: 3, Steps: 4, Calls: 6, Exit: 2, First: 5, Checkpoint: []byte{1}, Orphan: true,
				Requests: []event.ForkRequest{
					{Tool: "t", Args: value.Null, Millis: 300},
					{Tool: "t", Answer: &event.ForkAnswer{OK: true, Value: value.Null, Code: "c", Message: "m"}},
				},
			},
			Queue:  []event.ForkInstruction{{Program: program, Input: value.Null}},
			Memory: []event.ForkEntry{{Key: "k", Value: value.Null, Version: 300, Writer: 1, At: kerneltest.Start}},
			Undo:   []event.ForkEntry{{Key: "k", Missing: true}}, Messages: []value.Raw{value.Null},
			Set: []event.ForkSet{{Key: "k", Value: value.Null}}, Submit: &event.ForkInstruction{Input: value.Null},
		}},
	}
	bodies = append(bodies, // at the end: every other one is in a session
		eventSample{event.KernelBooted, kerneltest.Config()},
		eventSample{event.KernelUpgraded, event.Upgraded{Version: 2, LogWarnBytes: 300, LogErrorBytes: 70_000}},
	)
	bodies = append(bodies, authEvents()...)
	var lines []string
	for i, one := range bodies {
		e := event.Event{Kind: one.kind, Wall: kerneltest.Start, Principal: "ann", Proposal: 300}
		if i%2 == 0 {
			e.Session = event.Session{ID: kerneltest.SessionAt(kerneltest.Start, 9), Seq: 300, Floor: 299}
		} else {
			e.IdempotencyKey = "key"
		}
		if one.body != nil {
			e.Body = event.Encode(one.body)
		}
		lines = append(lines, e.Kind.String()+" "+hex.EncodeToString(e.Append(nil)))
	}
	golden(t, "events.golden", lines)
	for k := event.Kind(0); k < 100; k++ {
		require.Equal(t, k.Known(), strings.Contains("\n"+strings.Join(lines, "\n"), "\n"+k.String()+" "), k.String())
	}
}
