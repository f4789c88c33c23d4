package kernel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// openTask registers a tool that a person answers, and starts an agent that asks.
func openTask(s *kerneltest.Sim) tools.Key {
	s.T.Helper()
	s.Register(tools.Manifest{Name: "refund.approve", Adapter: "human", TimeoutMillis: 1000})
	return askPerson(s, true)
}

func askPerson(s *kerneltest.Sim, handle bool) tools.Key {
	s.T.Helper()
	program := `{"kind":"CALL","payload":{"tool":"refund.approve"}}`
	if handle {
		program = `{"kind":"CALL","payload":{"tool":"refund.approve","handle":true}}`
	}
	s.Start(event.Define{Mode: "service", Grants: freely, Program: kerneltest.JSON(s.T, program)}, nil)
	key := s.Pending[len(s.Pending)-1]
	s.Pending = s.Pending[:len(s.Pending)-1]
	return key
}

func agentOf(s *kerneltest.Sim, no uint32) string {
	return flows.FormatID(s.State().Agents.Get(no).Identity.ID)
}

func answerTask(s *kerneltest.Sim, key tools.Key, change func(*event.AnswerTask)) event.Outcome {
	s.T.Helper()
	answer := event.AnswerTask{Agent: agentOf(s, key.Agent), Tick: key.Tick, Call: key.Call}
	change(&answer)
	return s.Apply(event.Event{Kind: event.TaskAnswer, Principal: "ann", Body: event.Encode(answer)})
}

// TO-12: a call of a tool that a person answers waits in the outbox, undispatched, until
// somebody answers or rejects it. The answer is a result like any other.
func TestPersonAnswers(t *testing.T) {
	s := kerneltest.New(t, 2)
	key := openTask(s)
	call := outbox(s)[0]
	assert.Zero(t, call.Dispatched)
	assert.Equal(t, kerneltest.Start, call.At)
	require.Empty(t, answerTask(s, key, func(a *event.AnswerTask) { a.Result = kerneltest.Value(t, "yes") }).Refusal)
	assert.Equal(t, []string{"EVENT", "TIMER_CLEARED", "ACTION_EXECUTED", "RESULT_DELIVERED", "LIFECYCLE"}, s.Names()[:5])
	assert.Equal(t, "yes", answerOf(s, agentOf(s, key.Agent))["value"])
	assert.Empty(t, outbox(s))
	assert.Zero(t, s.Count(bus.CallDispatched))

	rejected := askPerson(s, true)
	require.Empty(t, answerTask(s, rejected, func(a *event.AnswerTask) { a.Reject, a.Reason = true, "too dear" }).Refusal)
	answer := answerOf(s, agentOf(s, rejected.Agent))
	assert.Equal(t, "TASK_REJECTED", answer["code"])
	assert.Equal(t, "rejected by ann: too dear", answer["message"])
	assert.Equal(t, failure.Permanent, failure.ClassOf(failure.TaskRejected))
	s.Check()
}

// TO-12: what was answered once, what is no person's to answer, and what is no call are
// refused, and nothing changes; neither does a node's result answer for a person.
func TestPersonsAnswerIsTakenOnce(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxValueBytes = 1024 })
	key := openTask(s)
	echo := service(s, callEcho, nil)
	other := s.Pending[0]
	refused := func(outcome event.Outcome, code failure.Code, field string) {
		t.Helper()
		assert.Equal(t, code, outcome.Refusal.Code)
		assert.Equal(t, field, outcome.Refusal.Field)
	}
	nothing := func(*event.AnswerTask) {}
	before := kerneltest.Substance(s.State())
	refused(answerTask(s, other, nothing), failure.StaleResult, "task")
	refused(answerTask(s, key, func(a *event.AnswerTask) { a.Call++ }), failure.StaleResult, "task")
	refused(answerTask(s, key, func(a *event.AnswerTask) { a.Agent = kerneltest.AgentID(99) }), failure.NotFound, "agent")
	refused(answerTask(s, key, func(a *event.AnswerTask) { a.Reject, a.Reason = true, "a\x00b" }), failure.InvalidArgument, "reason")
	refused(answerTask(s, key, func(a *event.AnswerTask) { a.Result = kerneltest.Value(t, strings.Repeat("x", 2000)) }), failure.InvalidValue, "result")
	refused(s.Result(key, true, 1), failure.StaleResult, "call")
	refused(s.Dispatch(key), failure.StaleResult, "call")
	assert.Equal(t, before, kerneltest.Substance(s.State()))

	require.Empty(t, answerTask(s, key, nothing).Refusal, "nothing is null")
	before = kerneltest.Substance(s.State())
	refused(answerTask(s, key, nothing), failure.StaleResult, "task")
	assert.Equal(t, 1, s.Count(bus.StaleResult))
	assert.Equal(t, before, kerneltest.Substance(s.State()))
	s.Kill(echo)
	s.Check()
}

// TO-12: a value that is none is the failure that it is, whoever hands it in.
func TestPersonsAnswerIsJudged(t *testing.T) {
	s := kerneltest.New(t, 1)
	key := openTask(s)
	require.Empty(t, answerTask(s, key, func(a *event.AnswerTask) { a.Result = value.Raw{0xff} }).Refusal)
	assert.Equal(t, "TOOL_RESULT_INVALID", answerOf(s, agentOf(s, key.Agent))["code"])
	s.Check()
}

// TO-12: a task that nobody answers in time is TOOL_TIMEOUT, delivered as a result: it
// is not row 8, which would ask again by itself. Its time is the manifest's, or up to
// max_call_timeout_ms.
func TestNobodyAnswers(t *testing.T) {
	s := kerneltest.New(t, 1)
	key := openTask(s)
	id := agentOf(s, key.Agent)
	s.Pass(1000 + s.State().Config.CallGraceMillis - 1)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Pass(1)
	require.Equal(t, lifecycle.Active, s.StateOf(id))
	assert.Equal(t, "TOOL_TIMEOUT", answerOf(s, id)["code"])
	assert.Equal(t, failure.StaleResult, answerTask(s, key, func(*event.AnswerTask) {}).Refusal.Code)

	unhandled := askPerson(s, false)
	s.Pass(7000)
	assert.Equal(t, lifecycle.Faulted, s.StateOf(agentOf(s, unhandled.Agent)))
	assert.Equal(t, failure.ToolTimeout, codeOf(s, agentOf(s, unhandled.Agent)))
	s.Check()
}

// TO-12, LO-4: the answer's event says who gave it; of a task that was withdrawn there
// is none.
func TestWithdrawnTask(t *testing.T) {
	s := kerneltest.New(t, 1)
	key := openTask(s)
	s.Kill(agentOf(s, key.Agent))
	assert.Empty(t, outbox(s))
	assert.Equal(t, failure.StaleResult, answerTask(s, key, func(*event.AnswerTask) {}).Refusal.Code)

	key = askPerson(s, true)
	answerTask(s, key, func(a *event.AnswerTask) { a.Result = value.True })
	assert.Equal(t, "ann", kerneltest.Find[*event.Recorded](s, bus.Event).Event.Principal)
	assert.Equal(t, value.True, kerneltest.Find[*execution.DeliveredBody](s, bus.ResultDelivered).Answer.Value)
	s.Check()
}
