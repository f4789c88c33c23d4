package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// force suspends a WAITING agent without waiting for its answers.
func force(s *kerneltest.Sim, id string) event.Outcome {
	s.T.Helper()
	return s.Command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "suspend", Force: true, Reason: "night"})
}

// waits is every kind of wait there is: a program that comes to it, what ends
// it, and what the program gives in the end.
var waits = map[string]struct {
	program string
	answer  func(s *kerneltest.Sim, id string)
	gives   string
}{
	"a call":     {callOf("echo", "{}", true), func(s *kerneltest.Sim, _ string) { s.Answer(true, "there") }, `"value":"there"`},
	"a sleep":    {callOf("timer.sleep", `{"ms":100}`, true), func(s *kerneltest.Sim, _ string) { s.Pass(100) }, `"ok":true`},
	"a message":  {`{"kind":"RECEIVE","payload":{"handle":true}}`, func(s *kerneltest.Sim, id string) { s.Send(id, "hi") }, `"value":"hi"`},
	"a decision": {callOf("uuid.new", "{}", true), func(s *kerneltest.Sim, _ string) { s.Decide(s.Escalation(), true) }, `"ok":true`},
	"children": {delegateTo(`,"handle":true`, kid(callEcho, allowTools, "")), func(s *kerneltest.Sim, _ string) { s.Answer(true, "kid") },
		`"value":"kid"`},
	"several calls": {`{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","handle":true},{"tool":"echo","handle":true}]}}`,
		func(s *kerneltest.Sim, _ string) { s.Answer(true, 1); s.Answer(true, 2) }, `"value":2`},
}

func waiting(s *kerneltest.Sim, program string) string {
	s.T.Helper()
	id := s.Start(event.Define{Program: kerneltest.JSON(s.T, program), Grants: append([]permissions.Grant{grant(permissions.Escalate, "uuid.new")}, freely...)}, nil)
	require.Equal(s.T, lifecycle.Waiting, s.StateOf(id))
	return id
}

// LC-13: suspending a WAITING agent is recorded, and taken right after row 7,
// before the continuation runs, whatever the agent waits for. The answer is
// part of the frozen tick: resumed, it goes on with it.
func TestSuspendWhileWaiting(t *testing.T) {
	for name, wait := range waits {
		s := kerneltest.New(t, 2)
		id := waiting(s, wait.program)
		require.Empty(t, s.Trigger(id, "suspend").Refusal)
		require.Equal(t, []string{"EVENT", "SUSPEND_REQUESTED", "OUTCOME"}, s.Names(), name)
		require.Equal(t, lifecycle.Client, kerneltest.Find[*lifecycle.SuspendRequested](s, bus.SuspendRequested).Caller)
		require.Equal(t, lifecycle.Waiting, s.StateOf(id))
		require.Equal(t, failure.InvalidTransition, s.Trigger(id, "suspend").Refusal.Code, "once")

		wait.answer(s, id)
		require.Equal(t, lifecycle.Resumable, s.StateOf(id), name)
		var words []string
		for _, r := range s.Last() {
			if e, ok := r.Content.(*lifecycle.Event); ok && r.Agent == numberOf(s, id) {
				words = append(words, e.Trigger.String()+" by "+e.Caller.String())
			}
			require.False(t, r.Agent == numberOf(s, id) && r.Name == "TICK_STARTED", name)
		}
		require.Equal(t, []string{"resume by scheduler", "suspend by client"}, words, name)
		require.Equal(t, 1, s.Count(bus.SnapshotTaken), name)
		require.Equal(t, execution.Answered, s.Row(id).Execution.Current.Phase)

		s.Pass(1000)
		require.Empty(t, s.Trigger(id, "resume").Refusal)
		require.Equal(t, 1, s.Count(bus.SnapshotDropped))
		require.Equal(t, lifecycle.Terminated, s.StateOf(id), name)
		require.Contains(t, jsonOf(s, id), wait.gives, name)
		s.Check()
	}
}

// LC-13: with force the calls are resolved as WITHDRAWN first, in the same
// event; what comes of them later is stale, and the program sees the code.
func TestForcedSuspend(t *testing.T) {
	for name, wait := range waits {
		s := kerneltest.New(t, 2)
		id := waiting(s, wait.program)
		pending := s.Pending
		require.Empty(t, force(s, id).Refusal, name)
		require.Equal(t, lifecycle.Resumable, s.StateOf(id), name)
		path := s.Path()
		require.Equal(t, []string{"resume", "suspend"}, path[:2], name)
		for _, key := range pending {
			require.Equal(t, failure.StaleResult, s.Result(key, true, "late").Refusal.Code, name)
		}
		st := s.State()
		require.Zero(t, st.Tools.Len()+st.Escalations.Len(), name)
		for _, k := range kidsOf(s, id) {
			require.Equal(t, lifecycle.Terminated, s.StateOf(k), "nobody waits for it any more")
		}
		s.Pass(1000)
		require.Equal(t, lifecycle.Resumable, s.StateOf(id), "no timer of its wait is left")
		require.Empty(t, s.Trigger(id, "resume").Refusal)
		require.Equal(t, lifecycle.Terminated, s.StateOf(id))
		require.Equal(t, strings.Count(wait.program, `"handle":true`), strings.Count(jsonOf(s, id), `"code":"WITHDRAWN"`), name)
		s.Check()
	}
}

// LC-13: who was asked to suspend, and is still WAITING, can be forced to: the
// request is used up with it, and when the agent waits again it is not suspended.
func TestForcedAfterAsked(t *testing.T) {
	for name, wait := range waits {
		s := kerneltest.New(t, 2)
		id := waiting(s, inSeq(wait.program, `{"kind":"RECEIVE","payload":{}}`))
		require.Empty(t, s.Trigger(id, "suspend").Refusal)
		require.Equal(t, failure.InvalidTransition, s.Trigger(id, "suspend").Refusal.Code, name)
		require.Empty(t, force(s, id).Refusal, name)
		require.Equal(t, []string{"resume", "suspend"}, s.Path()[:2], name)
		require.Equal(t, 1, s.Count(bus.SuspendRequested), name)
		require.Equal(t, 1, s.Count(bus.SnapshotTaken), name)
		require.Equal(t, lifecycle.Resumable, s.StateOf(id), name)
		require.Zero(t, s.Row(id).Lifecycle.Suspending, name)
		require.Zero(t, s.State().Tools.Len()+s.State().Escalations.Len(), name)
		require.Equal(t, failure.InvalidTransition, force(s, id).Refusal.Code, "only once")
		s.Check()

		require.Empty(t, s.Trigger(id, "resume").Refusal)
		require.Equal(t, lifecycle.Waiting, s.StateOf(id), name)
		s.Send(id, "on")
		require.Equal(t, lifecycle.Terminated, s.StateOf(id), name)
		s.Check()
	}
}

// LC-13: the request on record is the last one: a client's, then a parent's by
// force, is the parent's.
func TestParentForcesWhatAClientAskedFor(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := waiting(s, callEcho)
	require.Empty(t, s.Trigger(id, "suspend").Refusal)
	s.Commit(event.Event{Kind: event.AgentTrigger, Body: event.Encode(event.Trigger{Agent: id, Trigger: "suspend", Force: true})},
		kernel.TriggerAs(lifecycle.Parent))
	require.Equal(t, lifecycle.Resumable, s.StateOf(id))
	row := s.Row(id).Lifecycle
	last := row.Last[(row.Count-1)%lifecycle.Kept]
	require.Equal(t, lifecycle.Parent, last.Caller)
}

// LC-13: of several calls at once those that have their answers keep them.
func TestForcedSuspendKeepsAnswers(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := waiting(s, waits["several calls"].program)
	s.Answer(true, "first")
	require.Empty(t, force(s, id).Refusal)
	require.Equal(t, failure.Withdrawn, kerneltest.Find[*tools.ActionBody](s, bus.ActionFailed).Code)
	require.Empty(t, s.Trigger(id, "resume").Refusal)
	require.Regexp(t, `"first".*"WITHDRAWN"`, jsonOf(s, id))
	s.Check()
}

// LC-13: what ends the wait otherwise ends the wish too: a timeout, a kill, a
// revocation. After a recovery it has to be asked for again.
func TestSuspensionThatDoesNotHappen(t *testing.T) {
	for name, test := range map[string]struct {
		end   func(s *kerneltest.Sim, id string)
		state lifecycle.State
	}{
		"timeout": {func(s *kerneltest.Sim, _ string) { s.Pass(40_000) }, lifecycle.Faulted},
		"kill":    {func(s *kerneltest.Sim, id string) { s.Kill(id) }, lifecycle.Terminated},
		"revoke":  {func(s *kerneltest.Sim, id string) { s.Revoke(id) }, lifecycle.Terminated},
	} {
		s := kerneltest.New(t, 1)
		id := waiting(s, callEcho)
		require.Empty(t, s.Trigger(id, "suspend").Refusal)
		test.end(s, id)
		require.Equal(t, test.state, s.StateOf(id), name)
		require.Zero(t, s.Row(id).Lifecycle.Suspending)
		if test.state == lifecycle.Faulted {
			s.Pass(1000)
			require.Equal(t, lifecycle.Waiting, s.StateOf(id), "recovered, and not suspended")
		}
		s.Check()
	}
}

// LC-13, PE-3: a parent that decides for its children while it is asked to
// suspend does so after it has been resumed.
func TestSuspendBeforeTheHandler(t *testing.T) {
	s := kerneltest.New(t, 1)
	program := handling(giving(`true`), kid(inSeq(callOf("timer.sleep", `{"ms":10}`, false), callEcho),
		`{"effect":"ESCALATE","action":"tool.call","resource":"echo"},`+allowTools, ""))
	id := startFreely(s, "task", program)
	require.Empty(t, s.Trigger(id, "suspend").Refusal)
	s.Pass(10)
	require.Equal(t, []lifecycle.State{lifecycle.Resumable, lifecycle.Waiting}, statesOf(s, id, onlyKid(s, id)))
	require.Equal(t, 1, s.Count(bus.EventDelivered))
	s.Check()
	require.Empty(t, s.Trigger(id, "resume").Refusal)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.Len(t, s.Pending, 1, "approved")
	s.Answer(true, "x")
	require.Contains(t, jsonOf(s, id), `"x"`)
	s.Check()
}

// LC-12, LC-13: a suspended agent expires; what it was frozen in is given up,
// and its children with it (row 10).
func TestFrozenAgentExpires(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.ResumableTTLMillis = 500 })
	slow := inSeq(callOf("echo", "{}", false), giving(`true`))
	id := startFreely(s, "task", handling(slow, askingKid(callEcho)))
	require.Empty(t, s.Trigger(id, "suspend").Refusal)
	s.Answer(true, nil)
	require.Equal(t, lifecycle.Resumable, s.StateOf(id))
	s.Pass(500)
	require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, onlyKid(s, id)))
	require.Equal(t, 1, s.Count(bus.SnapshotDropped))
	require.Zero(t, s.State().Escalations.Len())
	s.Check()
}

// ME-3: the frozen tick is part of the snapshot: an answer that is not what was
// frozen stops the node.
func TestDamagedFrozenTickStopsTheNode(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := waiting(s, waits["a call"].program)
	require.Empty(t, s.Trigger(id, "suspend").Refusal)
	s.Answer(true, "there")
	s.Commit(event.Event{Kind: event.Pulse}, kernel.Inject(bus.Record{
		Kind: bus.ResultDelivered, Agent: numberOf(s, id), Tick: 1,
		Body: &execution.DeliveredBody{Answer: execution.Answer{Call: 1, OK: true, Value: kerneltest.Value(t, "elsewhere")}},
	}))
	require.PanicsWithValue(t, fmt.Sprintf("flows: the snapshot of agent %s does not have the checksum of its suspension: "+
		"this replica's state is damaged; seed the node again", id), func() { s.Trigger(id, "resume") })
}

// Only suspend can be forced.
func TestForceIsForSuspend(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := bring(s, lifecycle.Resumable)
	outcome := s.Command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "resume", Force: true})
	require.Equal(t, "force", outcome.Refusal.Field)
	require.Equal(t, lifecycle.Resumable, s.StateOf(id))
}
