package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const handled = `{"kind":"CALL","payload":{"tool":"echo","handle":true}}`

const post = `{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"POST","url":"http://h/x"},"handle":true}}`

// TO-1: kernel tools are answered inside Apply: nothing reaches the outbox, and
// the answer is recorded like any other.
func TestKernelToolsAnswerAtOnce(t *testing.T) {
	s := kerneltest.New(t, 2)
	s.Wall += 42
	id := task(s, `{"kind":"CALL","payload":{"tool":"clock.now"}}`, nil)
	require.Empty(t, s.Pending)
	require.Zero(t, s.Count(bus.CallRequested))
	require.Equal(t, 1, s.Count(bus.ActionExecuted))
	require.Equal(t, 1, s.Count(bus.ResultDelivered))
	require.Equal(t, fmt.Sprint(kerneltest.Start+42), jsonOf(s, id))
	s.Check()
}

// TO-1: timer.sleep ends with the first event at or after its time.
func TestSleep(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := task(s, sleep100, nil)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Pass(99)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Pass(1)
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Equal(t, "null", jsonOf(s, id))
	s.Check()
}

// EV-10, TO-1: random.int stays within its bounds, both included, reaches all
// of them, and is fixed by seed, agent, tick and call.
func TestRandomInt(t *testing.T) {
	draw := func(seed byte, agent int, args string) []any {
		s := kerneltest.New(t, 1, func(c *config.Config) { c.Seed[0] = seed })
		id := s.Start(event.Define{ID: kerneltest.AgentID(agent), Program: kerneltest.JSON(t,
			`{"kind":"MAP","payload":{"over":"${range(200)}","as":"i","do":{"kind":"CALL","payload":{"tool":"random.int","args":`+args+`}}}}`)}, nil)
		return s.Row(id).Execution.Result.Value.ToGo().([]any)
	}
	seen := make(map[int64]int)
	for _, n := range draw(1, 1, `{"min":-2,"max":3}`) {
		seen[n.(int64)]++
	}
	require.Len(t, seen, 6)
	for n := int64(-2); n <= 3; n++ {
		assert.Greater(t, seen[n], 10, "%d is drawn too seldom", n)
	}
	const wide = `{"min":-9007199254740992,"max":9007199254740992}`
	first := draw(1, 1, wide)
	require.Equal(t, first, draw(1, 1, wide), "the same everywhere")
	require.NotEqual(t, first, draw(2, 1, wide), "another seed")
	require.NotEqual(t, first, draw(1, 2, wide), "another agent")
	distinct := make(map[any]bool)
	for _, n := range first {
		distinct[n] = true
	}
	require.Len(t, distinct, len(first), "another call")
	for _, n := range draw(1, 1, `{"min":5,"max":5}`) {
		require.EqualValues(t, 5, n)
	}
}

// EV-10: uuid.new is a UUIDv5 of (agent, tick, call): no two calls get the same.
func TestUUIDs(t *testing.T) {
	program := `{"kind":"MAP","payload":{"over":"${range(20)}","as":"i","do":{"kind":"CALL","payload":{"tool":"uuid.new"}}}}`
	s := kerneltest.New(t, 2)
	seen := make(map[string]bool)
	for range 2 {
		id := service(s, program, nil)
		s.Must(event.AgentSubmit, event.Submit{Agent: id})
	}
	for _, r := range s.All() {
		if b, ok := r.Content.(*execution.DeliveredBody); ok {
			text, ok := b.Answer.Value.Text()
			require.True(t, ok)
			require.Len(t, text, 36)
			require.Equal(t, byte('5'), text[14], "version 5")
			require.False(t, seen[text], "twice")
			seen[text] = true
		}
	}
	require.Len(t, seen, 80)
	s.Check()
}

// TO-6: arguments that a kernel tool does not take, and tools that are not
// there, are answers with a code; no evaluation was needed for the latter.
func TestBadCallsAreAnswered(t *testing.T) {
	for call, code := range map[string]failure.Code{
		`"tool":"random.int","args":{"min":2,"max":1}`:                     failure.ToolArgsInvalid,
		`"tool":"random.int","args":{"min":1}`:                             failure.ToolArgsInvalid,
		`"tool":"random.int","args":{"min":1.5,"max":2}`:                   failure.ToolArgsInvalid,
		`"tool":"random.int","args":7`:                                     failure.ToolArgsInvalid,
		`"tool":"timer.sleep"`:                                             failure.ToolArgsInvalid,
		`"tool":"timer.sleep","args":{"ms":-1}`:                            failure.ToolArgsInvalid,
		`"tool":"timer.sleep","args":{"ms":2592000001}`:                    failure.ToolArgsInvalid,
		`"tool":"http.request","args":{"url":"http://h/../x"}`:             failure.ToolArgsInvalid,
		`"tool":"http.request","args":{"method":"STEAL","url":"http://h"}`: failure.ToolArgsInvalid,
		`"tool":"clock.later"`:                                             failure.ToolUnknown,
		`"tool":"agent.kill"`:                                              failure.ToolArgsInvalid,
		`"tool":"agent.kill","args":{"agent":"x"}`:                         failure.ToolArgsInvalid,
		`"tool":"agent.rename","args":{"agent":"x"}`:                       failure.ToolUnknown,
	} {
		s := kerneltest.New(t, 1)
		id := task(s, `{"kind":"CALL","payload":{`+call+`,"handle":true}}`, nil)
		require.Equal(t, lifecycle.Terminated, s.StateOf(id), call)
		require.Contains(t, jsonOf(s, id), `"code":"`+string(code)+`"`, call)
		require.Equal(t, 1, s.Count(bus.ActionFailed))
		s.Check()
	}
}

// TO-2, INV-14: a result is committed and recorded before any tick sees it.
func TestResultIsRecordedBeforeTheTick(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := task(s, callEcho, nil)
	require.Len(t, s.Pending, 1)
	require.Equal(t, tools.Key{Agent: numberOf(s, id), Tick: 1, Call: 1}, s.Pending[0])
	s.Answer(true, "hi")
	require.Equal(t, []string{
		"EVENT", "TIMER_CLEARED", "ACTION_EXECUTED", "RESULT_DELIVERED", "LIFECYCLE", "TICK_SCHEDULED",
		"TICK_STARTED", "STEP", "TICK_COMPLETED", "LIFECYCLE", "LIFECYCLE", "QUEUE_RELEASED", "TIMER_SET",
	}, s.Names())
	require.Equal(t, `"hi"`, jsonOf(s, id))
	st := s.State()
	require.Zero(t, st.Tools.Len())
	s.Check()
}

// TO-4, LC-9: a result is taken once, while its call is pending; a repeated, a
// foreign or an unknown one is STALE_RESULT and changes nothing (INV-19).
func TestStaleResults(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := service(s, callEcho, nil)
	key := s.Pending[0]
	wrong := []tools.Key{
		{Agent: key.Agent, Tick: key.Tick, Call: key.Call + 1},
		{Agent: key.Agent, Tick: key.Tick + 1, Call: key.Call},
		{Agent: key.Agent + 1, Tick: key.Tick, Call: key.Call},
		{},
	}
	stale := func(key tools.Key) {
		t.Helper()
		before := kerneltest.Substance(s.State())
		outcome := s.Result(key, true, 1)
		require.Equal(t, failure.StaleResult, outcome.Refusal.Code)
		require.Equal(t, []string{"EVENT", "STALE_RESULT", "OUTCOME"}, s.Names())
		require.Equal(t, &tools.StaleBody{Call: key.Call, OK: true}, kerneltest.Find[*tools.StaleBody](s, bus.StaleResult))
		require.Equal(t, before, kerneltest.Substance(s.State()))
	}
	for _, key := range wrong {
		stale(key)
	}
	s.Answer(true, 1)
	stale(key)
	s.Kill(id)
	stale(key)
	s.Check()
}

// LC-9, TO-4: result and deadline of one wait, in both orders: the first in
// log order wins. A deadline that has come wins over the result that the same
// event brings.
func TestResultAgainstDeadline(t *testing.T) {
	wait := func(s *kerneltest.Sim) int64 {
		return s.State().Config.DefaultCallTimeoutMillis + s.State().Config.CallGraceMillis
	}

	s := kerneltest.New(t, 1)
	id := service(s, callEcho, nil)
	s.Wall += wait(s) - 1
	require.Empty(t, s.Answer(true, 1).Refusal, "in time")
	s.Pass(1)
	require.Equal(t, []string{"EVENT"}, s.Names(), "its timer is gone")
	require.Equal(t, lifecycle.Active, s.StateOf(id))

	s = kerneltest.New(t, 1)
	id = service(s, callEcho, nil)
	s.Wall += wait(s)
	require.Equal(t, failure.StaleResult, s.Answer(true, 1).Refusal.Code, "timers come first")
	require.Equal(t, []string{"timeout"}, s.Path())
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	require.Equal(t, failure.Transient, s.Row(id).Lifecycle.Fault)
	require.Equal(t, failure.WaitTimeout, codeOf(s, id))
	require.Nil(t, s.Row(id).Execution.Current.Checkpoint, "row 8 destroys it")
	require.NotNil(t, s.Row(id).Execution.Current.Recovery, "and not recovery's")
	s.Check()
}

// LC-12: the wait for a call has the call's own time, or the default, never
// more than the configured most, and the grace in which its runner may still
// hand in.
func TestDeadlines(t *testing.T) {
	for timeout, want := range map[string]int64{
		``:                        30_000 + 5_000,
		`,"timeout_ms":1`:         1 + 5_000,
		`,"timeout_ms":86400000`:  86_400_000 + 5_000,
		`,"timeout_ms":"${2000}"`: 2_000 + 5_000,
	} {
		s := kerneltest.New(t, 1)
		service(s, `{"kind":"CALL","payload":{"tool":"echo"`+timeout+`}}`, nil)
		require.Equal(t, kerneltest.Start+want, kerneltest.Find[*tools.RequestedBody](s, bus.CallRequested).Deadline, timeout)
	}
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxCallTimeoutMillis = 60_000 })
	service(s, `{"kind":"CALL","payload":{"tool":"echo","timeout_ms":86400000}}`, nil)
	require.Equal(t, kerneltest.Start+60_000+5_000, kerneltest.Find[*tools.RequestedBody](s, bus.CallRequested).Deadline)
}

// TO-4: what may be run again has its request in the log as its dispatch; what
// may not is dispatched first, once; unresolved at its deadline it is
// OUTCOME_UNKNOWN, delivered as a result, and never row 8.
func TestDispatch(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := task(s, post, nil)
	request := kerneltest.Find[*tools.RequestedBody](s, bus.CallRequested)
	require.False(t, request.Idempotent)
	key := s.Pending[0]
	require.Empty(t, s.Dispatch(key).Refusal)
	require.Equal(t, []string{"EVENT", "CALL_DISPATCHED"}, s.Names())
	require.Equal(t, &tools.DispatchedBody{Call: 1, Node: "test", Term: 1}, kerneltest.Find[*tools.DispatchedBody](s, bus.CallDispatched))
	s.Term = 2
	require.Equal(t, failure.AlreadyExists, s.Dispatch(key).Refusal.Code, "never twice")
	require.Equal(t, failure.StaleResult, s.Dispatch(tools.Key{Agent: 9}).Refusal.Code)
	s.Pass(35_000)
	require.Equal(t, []string{"resume", "complete", "teardown_ok"}, s.Path())
	require.Contains(t, jsonOf(s, id), `"code":"OUTCOME_UNKNOWN"`)
	require.Equal(t, failure.StaleResult, s.Result(key, true, 1).Refusal.Code, "too late")
	s.Check()
}

// TO-4: the old leader may still hand its result in while the call is pending.
func TestOldLeadersResult(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := task(s, post, nil)
	s.Dispatch(s.Pending[0])
	s.Term = 5
	s.Node(event.LeaderStarted, event.Leader{Node: "other", Term: 5})
	require.Empty(t, s.Answer(true, "late but there").Refusal)
	require.Contains(t, jsonOf(s, id), `"value":"late but there"`)
	s.Check()
}

// TO-4: idempotent by method, or because the program vouches for it.
func TestIdempotent(t *testing.T) {
	for args, want := range map[string]bool{
		`"url":"http://h"`:                                      true,
		`"method":"GET","url":"http://h"`:                       true,
		`"method":"HEAD","url":"http://h"`:                      true,
		`"method":"OPTIONS","url":"http://h"`:                   true,
		`"method":"PUT","url":"http://h"`:                       false,
		`"method":"DELETE","url":"http://h"`:                    false,
		`"method":"POST","url":"http://h","idempotent":true`:    true,
		`"method":"GET","url":"http://h","idempotent":false`:    false,
		`"method":"POST","url":"http://h","idempotent":"sure?"`: false,
	} {
		s := kerneltest.New(t, 1)
		service(s, `{"kind":"CALL","payload":{"tool":"http.request","args":{`+args+`}}}`, nil)
		assert.Equal(t, want, kerneltest.Find[*tools.RequestedBody](s, bus.CallRequested).Idempotent, args)
	}
}

// TO-6, INV-11: what a runner hands in is judged too: a value that is none, or
// too large, is the failure that it is; a code that no call can come to is
// TOOL_FAILED, or a runner could end an agent as killed or breached.
func TestResultsAreJudged(t *testing.T) {
	for name, test := range map[string]struct {
		result event.Result
		code   failure.Code
	}{
		"not canonical":    {event.Result{OK: true, Value: value.Raw{0xf9, 0x3c, 0x00}}, failure.ToolResultInvalid},
		"no value":         {event.Result{OK: true, Value: value.Raw{0xff}}, failure.ToolResultInvalid},
		"too large":        {event.Result{OK: true, Value: value.AppendString(nil, strings.Repeat("x", 2000))}, failure.ToolResultTooLarge},
		"fine":             {event.Result{OK: true, Value: value.Null}, ""},
		"nothing is null":  {event.Result{OK: true}, ""},
		"no code":          {event.Result{}, failure.ToolFailed},
		"a tool's code":    {event.Result{Code: "TOOL_TIMEOUT", Value: value.Null}, failure.ToolTimeout},
		"unclassified":     {event.Result{Code: "INVALID_STATE"}, failure.ToolFailed},
		"a breach":         {event.Result{Code: "INVARIANT_BREACH"}, failure.ToolFailed},
		"a policy":         {event.Result{Code: "PERMISSION_DENIED"}, failure.ToolFailed},
		"made up":          {event.Result{Code: strings.Repeat("X", 100_000)}, failure.ToolFailed},
		"code beside a ok": {event.Result{OK: true, Code: "TOOL_TIMEOUT", Message: "m"}, ""},
	} {
		s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxValueBytes = 1024 })
		id := task(s, handled, nil)
		r := test.result
		r.Agent, r.Tick, r.Call = s.Pending[0].Agent, s.Pending[0].Tick, s.Pending[0].Call
		require.Empty(t, s.Node(event.ToolResult, r).Refusal, name)
		require.Contains(t, jsonOf(s, id), fmt.Sprintf(`"code":"%s"`, test.code), name)
		s.Check()
	}
}

// TO-6: unhandled, a failed call ends the tick with its code and class.
func TestFailedCallUnhandled(t *testing.T) {
	for code, class := range map[failure.Code]failure.Class{
		failure.ToolTimeout: failure.Transient, failure.ToolUnreachable: failure.Transient,
		failure.ToolFailed: failure.Permanent, failure.ToolCrashed: failure.Permanent, failure.OutcomeUnknown: failure.Permanent,
	} {
		s := kerneltest.New(t, 1)
		id := task(s, callEcho, nil)
		s.Answer(false, code)
		require.Equal(t, lifecycle.Faulted, s.StateOf(id))
		require.Equal(t, class, s.Row(id).Lifecycle.Fault, code)
		require.Equal(t, code, codeOf(s, id))
		s.Check()
	}
}

// The outbox is bounded: a call that finds it full is answered.
func TestOutboxIsBounded(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxOutbox = 2 })
	service(s, callEcho, nil)
	service(s, callEcho, nil)
	id := task(s, handled, nil)
	require.Contains(t, jsonOf(s, id), `"code":"TOOL_UNREACHABLE"`)
	require.Len(t, s.Pending, 2)
	s.Answer(true, nil)
	service(s, callEcho, nil)
	require.Len(t, s.Pending, 2)
	s.Check()
}
