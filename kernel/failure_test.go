package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/recovery"
)

// FA-1: a TRANSIENT fault is recovered by itself after a backoff that doubles,
// from the checkpoint of the tick's last exit, under the same tickSeq and the
// next callIndex; after max_retries it is PERMANENT, and rests.
func TestRetriesToExhaustion(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := startFreely(s, "task", inSeq(letDo("drawn", callOf("random.int", `{"min":1,"max":1000000}`, false)), callOf("echo", `"${drawn}"`, false)))
	drawn := ""
	for retry := uint32(1); retry <= 3; retry++ {
		key := s.Pending[0]
		require.Equal(t, [2]uint64{1, uint64(retry) + 1}, [2]uint64{key.Tick, uint64(key.Call)})
		pending := kerneltest.Find[*execution.PendingBody](s, bus.TickPendingTool)
		for _, r := range s.Last() {
			if b, ok := r.Content.(*execution.PendingBody); ok {
				pending = b // the last one
			}
		}
		asked := string(pending.Requests[0].Args.AppendJSON(nil))
		require.True(t, drawn == "" || drawn == asked, "what the tick had computed is kept")
		drawn = asked

		s.Answer(false, failure.ToolUnreachable)
		require.Equal(t, []string{"resume", "error"}, s.Path())
		require.Equal(t, failure.Transient, s.Row(id).Lifecycle.Fault)
		millis := int64(1000) << (retry - 1)
		require.Equal(t, &recovery.Scheduled{Retry: retry, Millis: millis}, kerneltest.Find[*recovery.Scheduled](s, bus.RetryScheduled))
		s.Pass(millis - 1)
		require.Equal(t, lifecycle.Faulted, s.StateOf(id))
		s.Pass(1)
		require.Equal(t, []string{"recover", "recovery_success", "await_tool"}, s.Path())
		require.Equal(t, lifecycle.FailureHandler, kerneltest.Find[*lifecycle.Event](s, bus.Lifecycle).Caller)
		require.Equal(t, 1, s.Count(bus.TickRestored))
	}
	s.Answer(false, failure.ToolUnreachable)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	row := s.Row(id)
	require.Equal(t, failure.Permanent, row.Lifecycle.Fault)
	require.Equal(t, failure.ToolUnreachable, row.Lifecycle.Code)
	require.Zero(t, s.Count(bus.RetryScheduled))
	for _, r := range s.Last() {
		if e, ok := r.Content.(*lifecycle.Event); ok && e.To == lifecycle.Faulted {
			require.Equal(t, "retried as often as max_retries allows", e.Reason)
		}
	}
	s.Pass(365 * 24 * 3_600_000)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id), "FA-2: a root agent rests")
	s.Check()
}

// FA-1: retries are counted for each tickSeq; the backoff has a greatest.
func TestRetriesBelongToTheTick(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxBackoffMillis = 1500 })
	id := startFreely(s, "service", callEcho)
	waits := func() (millis []int64) {
		for range 3 {
			s.Answer(false, failure.ToolTimeout)
			millis = append(millis, kerneltest.Find[*recovery.Scheduled](s, bus.RetryScheduled).Millis)
			s.Pass(2000)
		}
		s.Answer(true, 1)
		return millis
	}
	require.Equal(t, []int64{1000, 1500, 1500}, waits())
	s.Must(event.AgentSubmit, event.Submit{Agent: id})
	require.Equal(t, []int64{1000, 1500, 1500}, waits(), "another tick, counted afresh")
	require.Equal(t, lifecycle.Active, s.StateOf(id))
	s.Check()
}

// FA-1: a client need not wait for the backoff (row 12).
func TestRecoverBeforeTheBackoff(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "task", callEcho)
	s.Answer(false, failure.ToolUnreachable)
	require.Empty(t, s.Trigger(id, "recover").Refusal)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Pass(1000)
	require.Equal(t, []string{"EVENT"}, s.Names(), "the backoff's timer is gone")
	s.Answer(true, "late")
	require.Equal(t, `"late"`, jsonOf(s, id))
	s.Check()
}

// FA-1: recovery puts persistent memory back to what it was at the checkpoint;
// shared memory stays, for others have seen it. So a compare-and-set on a key
// that must not exist succeeds again on the one, and conflicts on the other.
func TestRecoveryPutsMemoryBack(t *testing.T) {
	const fail = `{"kind":"FAIL","payload":{"message":"no"}}`
	again := func(s *kerneltest.Sim, id string) {
		s.Must(event.AgentReclassify, event.Reclassify{Agent: id, Reason: "it was the weather"})
		s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "recover"})
	}
	s := kerneltest.New(t, 2)
	id := startFreely(s, "task", inSeq(`{"kind":"WRITE","payload":{"key":"kept","value":1}}`, `{"kind":"WRITE","payload":{"key":"k","value":"v","version":0}}`, fail))
	kept := s.State().Memory.Get(numberOf(s, id), "kept").Version
	for range 2 {
		require.Equal(t, failure.ProgramFailed, codeOf(s, id))
		again(s, id)
		require.Equal(t, &memory.Restored{Entries: []memory.Before{{Key: "k"}}}, kerneltest.Find[*memory.Restored](s, bus.MemoryRestored))
		require.Equal(t, failure.ProgramFailed, codeOf(s, id), "the write succeeded again")
		require.Equal(t, kept, s.State().Memory.Get(numberOf(s, id), "kept").Version, "what was written before the checkpoint stays")
	}
	s.Check()

	s = kerneltest.New(t, 2)
	id = startFreely(s, "task", inSeq(`{"kind":"SHARE","payload":{"namespace":"n","key":"k","value":"v","version":0}}`, fail))
	require.Equal(t, failure.ProgramFailed, codeOf(s, id))
	again(s, id)
	require.Zero(t, s.Count(bus.MemoryRestored))
	require.Equal(t, failure.VersionConflict, codeOf(s, id))
	s.Check()
}

// FA-1: over a value that was there before, the value, its version and its
// writer come back.
func TestRecoveryPutsValuesBack(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := startFreely(s, "service", `{"kind":"WRITE","payload":{"key":"k","value":"old"}}`)
	before := *s.State().Memory.Get(numberOf(s, id), "k")
	s.Wall += 5
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, inSeq(
		callOf("memory.delete", `{"key":"k"}`, false), `{"kind":"FAIL","payload":{"message":"no"}}`))})
	require.Nil(t, s.State().Memory.Get(numberOf(s, id), "k"))
	s.Must(event.AgentReclassify, event.Reclassify{Agent: id, Reason: "y"})
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "recover"})
	restored := kerneltest.Find[*memory.Restored](s, bus.MemoryRestored).Entries
	require.Equal(t, []memory.Before{{Key: "k", Existed: true, Value: before.Value, Version: before.Version, Writer: before.Writer, At: before.At}}, restored)
	s.Check()
}

// FA-1: a checkpoint that cannot be restored is row 15, with CHECKPOINT_INVALID.
func TestCheckpointThatCannotBeRestored(t *testing.T) {
	there := true
	lookup := func(name string) (evaluator.Evaluator, bool) {
		if !there && name == "word/1" {
			return nil, false
		}
		return lookupWords(name)
	}
	s := kerneltest.NewWith(t, 1, lookup)
	id := startFreely(s, "task", delegateTo("", kid(`"call"`, allowTools, `,"evaluator":"word/1"`)))
	k := onlyKid(s, id)
	s.Pass(40_000)
	require.Equal(t, lifecycle.Faulted, s.StateOf(k))
	there = false
	s.Replicas[0] = kerneltest.Restore(t, s.State(), lookup)
	s.Pass(1000)
	require.Equal(t, []string{"recover", "recovery_exhausted"}, s.Path()[:2])
	require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, k))
	require.Contains(t, jsonOf(s, id), `"code":"CHECKPOINT_INVALID"`, "its parent is told")
}

// FA-2: a PERMANENT fault of a root agent rests until an operator abandons it or
// calls it TRANSIENT, on record with why; then it can be recovered, and is
// retried by itself as if it were new.
func TestReclassify(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "task", callEcho)
	refused := func(reason string) (failure.Code, string) {
		before := kerneltest.Substance(s.State())
		refusal := s.Command(event.AgentReclassify, event.Reclassify{Agent: id, Reason: reason}).Refusal
		require.Equal(t, before, kerneltest.Substance(s.State()))
		require.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names())
		return refusal.Code, refusal.Field + " " + refusal.Rule
	}
	code, rule := refused("y")
	assert.Equal(t, failure.InvalidState, code)
	assert.Contains(t, rule, "agent the agent is WAITING")
	s.Answer(false, failure.ToolUnreachable)
	code, rule = refused("y")
	assert.Equal(t, failure.InvalidArgument, code)
	assert.Contains(t, rule, "agent the fault is TRANSIENT already")
	s.Pass(1000)
	s.Answer(false, failure.ToolFailed)
	require.Equal(t, failure.Permanent, s.Row(id).Lifecycle.Fault)
	code, rule = refused("")
	assert.Equal(t, failure.InvalidArgument, code)
	assert.Contains(t, rule, "reason must say why")
	require.Equal(t, failure.NotRecoverable, s.Trigger(id, "recover").Refusal.Code)

	s.Must(event.AgentReclassify, event.Reclassify{Agent: id, Reason: "the tool lied"})
	require.Equal(t, []string{"EVENT", "FAULT_RECLASSIFIED", "OUTCOME"}, s.Names())
	require.Equal(t, "the tool lied", kerneltest.Find[*lifecycle.Reclassified](s, bus.FaultReclassified).Reason)
	require.Equal(t, failure.Transient, s.Row(id).Lifecycle.Fault)
	s.Pass(60_000)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id), "whoever reclassifies recovers, too")
	require.Empty(t, s.Trigger(id, "recover").Refusal)
	s.Answer(false, failure.ToolUnreachable)
	require.Equal(t, &recovery.Scheduled{Retry: 1, Millis: 1000}, kerneltest.Find[*recovery.Scheduled](s, bus.RetryScheduled))
	s.Pass(1000)
	s.Answer(true, "at last")
	require.Equal(t, `"at last"`, jsonOf(s, id))
	s.Check()
}

// FA-2: a delegated child whose fault is PERMANENT is abandoned, its children's
// tokens revoked, its parent told, in one event and in this order.
func TestPermanentFaultOfAChild(t *testing.T) {
	s := kerneltest.New(t, 1)
	low := kid(callOf("timer.sleep", `{"ms":60000}`, false), allowTools, "")
	mid := inSeq(delegateTo(`,"detach":true`, low), callEcho)
	id := startFreely(s, "task", delegateTo("", kid(mid, allowTools+`,`+allowAgents, `,"max_depth":1`)))
	k := onlyKid(s, id)
	s.Answer(false, failure.ToolFailed)
	var told []string
	for _, r := range s.Last() {
		switch b := r.Content.(type) {
		case *lifecycle.Event:
			if r.Agent == numberOf(s, k) {
				told = append(told, b.Trigger.String())
			}
		default:
			if r.Name == "CHILDREN_REVOKED" || r.Name == "CHILD_FAILURE" || r.Name == "TOKEN_REVOKED" {
				told = append(told, r.Name)
			}
		}
	}
	require.Equal(t, []string{"resume", "error", "CHILDREN_REVOKED", "abandon", "CHILD_FAILURE", "TOKEN_REVOKED"}, told)
	require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, k, onlyKid(s, k)))
	require.Contains(t, jsonOf(s, id), `"TOOL_FAILED"`)
	s.Check()
}

// FA-3: a policy violation of a child is its outcome, and its parent gets it;
// the parent itself goes on.
func TestPolicyViolationOfAChild(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "task", delegateTo("", kid(callEcho, "", "")))
	require.Equal(t, 1, s.Count(bus.ChildFailure))
	require.Contains(t, jsonOf(s, id), `"class":"POLICY_VIOLATION"`)
	s.Check()
}

// FA-4: a breach in a child ends it past FAULTED, names the root of its tree on
// the audit log, and reaches its parent as the failure that it is.
func TestBreachOfAChild(t *testing.T) {
	s := words(t)
	id := startFreely(s, "task", delegateTo("", kid(`"breach"`, "", `,"evaluator":"word/1"`)))
	k := onlyKid(s, id)
	entry := kerneltest.Find[*audit.Body](s, bus.Audit)
	require.Equal(t, numberOf(s, id), entry.Root)
	require.Equal(t, "EVALUATOR", entry.Invariant)
	var taken []string
	for _, r := range s.Last() {
		if e, ok := r.Content.(*lifecycle.Event); ok && r.Agent == numberOf(s, k) {
			taken = append(taken, e.Trigger.String())
		}
	}
	require.Equal(t, []string{"spawn", "activate", "breach"}, taken)
	require.Contains(t, jsonOf(s, id), `"class":"INVARIANT_BREACH"`)
	st := s.State()
	require.EqualValues(t, 1, st.Audit.Count)
	s.Check()
}

// FA-5: what ends a tick or answers a call has the class that the table gives
// its code, wherever it came from.
func TestClassesReachTheLifecycle(t *testing.T) {
	for code, state := range map[failure.Code]lifecycle.State{
		failure.ToolTimeout: lifecycle.Faulted, failure.ToolUnreachable: lifecycle.Faulted, failure.ToolFailed: lifecycle.Faulted,
		failure.ToolCrashed: lifecycle.Faulted, failure.OutcomeUnknown: lifecycle.Faulted, failure.Withdrawn: lifecycle.Faulted,
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", callEcho)
		s.Answer(false, code)
		require.Equal(t, state, s.StateOf(id), string(code))
		require.Equal(t, failure.ClassOf(code), s.Row(id).Lifecycle.Fault, string(code))
		retried := failure.ClassOf(code) == failure.Transient
		require.Equal(t, retried, s.Count(bus.RetryScheduled) == 1, string(code))
	}
}
