package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// asking starts an agent whose calls of echo want a decision.
func asking(s *kerneltest.Sim, mode, program string) string {
	s.T.Helper()
	return s.Start(event.Define{Mode: mode, Program: kerneltest.JSON(s.T, program), Grants: append([]permissions.Grant{
		grant(permissions.Escalate, "echo"), grant(permissions.Escalate, "clock.now"),
	}, freely...)}, nil)
}

// askingKid is a child whose calls of echo want a decision.
func askingKid(program string) string {
	return kid(program, `{"effect":"ESCALATE","action":"tool.call","resource":"echo"},`+allowTools, "")
}

// handling is a DELEGATE of children that ask, with a handler.
func handling(do string, children ...string) string {
	return delegateTo(`,"on_escalation":{"as":"e","do":`+do+`}`, children...)
}

// PE-2, PE-3: ESCALATE before ALLOW: the request is queued, bound to the exact
// call by its digest, and the agent waits; nothing reaches the tool.
func TestEscalationIsQueued(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := asking(s, "task", callEcho)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.Empty(t, s.Pending)
	st := s.State()
	e, ok := st.Escalations.Get(s.Escalation())
	require.True(t, ok)
	require.Equal(t, permissions.CallDigest(numberOf(s, id), 1, 1, "echo", kerneltest.JSON(t, `{"a":1}`)), e.Digest)
	require.Equal(t, []any{"tool.call", "echo", int32(0), uint32(0)}, []any{e.Action, e.Resource, e.Grant, e.Handler})
	require.Equal(t, kerneltest.Start+st.Config.EscalationMillis, e.Deadline)
	escalated := kerneltest.Find[*permissions.Escalated](s, bus.Escalated)
	require.Equal(t, e.Digest, escalated.Digest)
	s.Check()
}

// PE-3: an operator approves: the call is judged again, ALLOWed, and made; its
// own deadline begins then. A kernel tool is answered at once.
func TestApproval(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := asking(s, "task", inSeq(callEcho, callOf("clock.now", "{}", false)))
	s.Wall += 500
	outcome := s.Decide(s.Escalation(), true)
	require.Empty(t, outcome.Refusal)
	require.Equal(t, []string{"EVENT", "TIMER_CLEARED", "ESCALATION_DECIDED", "ALLOW", "CALL_REQUESTED", "TIMER_SET", "OUTCOME"}, s.Names())
	decided := kerneltest.Find[*permissions.EscalationDecided](s, bus.EscalationDecided)
	require.Equal(t, []any{true, "ann", failure.Code("")}, []any{decided.Approved, decided.By, decided.Code})
	require.Equal(t, int32(0), kerneltest.Find[*permissions.Evaluation](s, bus.Allow).Grant, "the grant that asked for it")
	call, ok := s.State().Tools.Get(s.Pending[0])
	require.True(t, ok)
	require.Equal(t, s.Wall+35_000, call.Deadline)
	s.Answer(true, 1)
	require.Empty(t, s.Decide(s.Escalation(), true).Refusal)
	require.Equal(t, fmt.Sprint(s.Wall), jsonOf(s, id))
	s.Check()
}

// PE-3, TO-4: what was approved may be dispatched: authority, asked once more,
// says ESCALATE as before, and the word given holds for this very call.
func TestApprovedCallIsDispatched(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, post), Grants: append([]permissions.Grant{
		grant(permissions.Escalate, "http.request/**"),
	}, freely...)}, nil)
	require.Empty(t, s.Decide(s.Escalation(), true).Refusal)
	require.Empty(t, s.Dispatch(s.Pending[0]).Refusal)
	require.Equal(t, 1, s.Count(bus.CallDispatched))
	s.Check()
}

// PE-3, PE-4: a denial is an answer with PERMISSION_DENIED, and says who denied
// it and why.
func TestDenial(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := asking(s, "task", callOf("echo", "{}", true))
	refused := s.Command(event.EscalationDecide, event.Decide{Escalation: s.Escalation(), Reason: "a\x00b"})
	require.Equal(t, "reason", refused.Refusal.Field)
	s.Must(event.EscalationDecide, event.Decide{Escalation: s.Escalation(), Reason: "too dear"})
	require.JSONEq(t, `{"ok":false,"value":null,"code":"PERMISSION_DENIED","message":"denied by client: too dear"}`, jsonOf(s, id))
	require.Zero(t, s.Count(bus.CallRequested))
	s.Check()
}

// PE-3: no decision within the TTL is DENY; a later one is STALE_RESULT and
// changes nothing.
func TestEscalationTimesOut(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.EscalationMillis = 1000 })
	id := asking(s, "service", callOf("echo", "{}", true))
	number := s.Escalation()
	s.Pass(999)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Pass(1)
	decided := kerneltest.Find[*permissions.EscalationDecided](s, bus.EscalationDecided)
	require.Equal(t, []any{false, "", failure.WaitTimeout}, []any{decided.Approved, decided.By, decided.Code})
	require.Contains(t, jsonOf(s, id), `"code":"PERMISSION_DENIED"`)
	before := kerneltest.Substance(s.State())
	for _, n := range []uint64{number, number + 1, 0} {
		outcome := s.Decide(n, true)
		require.Equal(t, failure.StaleResult, outcome.Refusal.Code)
		require.Equal(t, "escalation", outcome.Refusal.Field)
		require.Equal(t, []string{"EVENT", "STALE_RESULT", "OUTCOME"}, s.Names())
	}
	require.Equal(t, before, kerneltest.Substance(s.State()))
	s.Check()
}

// PE-3, LC-10: revoking what a request rests on withdraws it, whether the agent
// ends or an approval is judged again; and an approval says nothing against a
// DENY.
func TestApprovalIsJudgedAgain(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", delegateTo(`,"detach":true`, kid(callOf("echo", "{}", true), allowTools+
		`,{"effect":"ESCALATE","action":"tool.call","resource":"echo"}`, `,"mode":"service"`)))
	k := onlyKid(s, id)
	number := s.Escalation()
	require.Empty(t, s.RevokeGrant(id, 0).Refusal, "the parent's tool.*")
	require.Empty(t, s.Decide(number, true).Refusal)
	require.Equal(t, 1, s.Count(bus.Deny))
	require.Equal(t, numberOf(s, id), kerneltest.Find[*permissions.Evaluation](s, bus.Deny).Level)
	require.Contains(t, jsonOf(s, k), `"code":"PERMISSION_DENIED"`)
	require.Zero(t, s.Count(bus.CallRequested))
	s.Check()

	s = kerneltest.New(t, 1)
	id = asking(s, "service", callEcho)
	number = s.Escalation()
	require.Empty(t, s.Revoke(id).Refusal)
	require.Equal(t, failure.Withdrawn, kerneltest.Find[*permissions.EscalationDecided](s, bus.EscalationDecided).Code)
	require.Equal(t, failure.StaleResult, s.Decide(number, true).Refusal.Code)
	s.Check()
}

// PE-3: a request of children, of memory and of shared memory waits for a
// decision as a tool does; approved, it is done, and what widens is rejected
// then as ever.
func TestEveryActionMayWantADecision(t *testing.T) {
	for name, test := range map[string]struct{ program, done string }{
		"children": {delegateTo(`,"handle":true`, kid(literal, allowTools, "")), `"value":7`},
		"widening": {delegateTo(`,"handle":true`, kid(literal, `{"effect":"ALLOW","action":"**","resource":"**"}`, "")), `"REJECTED"`},
		"memory":   {`{"kind":"WRITE","payload":{"key":"k","value":1,"handle":true}}`, `"version"`},
		"shared":   {`{"kind":"SHARE","payload":{"namespace":"n","key":"k","value":1,"handle":true}}`, `"version"`},
	} {
		for _, approve := range []bool{true, false} {
			s := kerneltest.New(t, 1)
			var grants []permissions.Grant
			for _, action := range []string{"agent.*", "memory.*", "shared.*"} {
				grants = append(grants, permissions.Grant{Effect: permissions.Escalate, Action: action, Resource: "**"})
			}
			id := s.Start(event.Define{Mode: "service", Grants: append(grants, freely...), Program: kerneltest.JSON(t, test.program)}, nil)
			require.Equal(t, lifecycle.Waiting, s.StateOf(id), name)
			require.Empty(t, s.Decide(s.Escalation(), approve).Refusal)
			if approve {
				require.Contains(t, jsonOf(s, id), test.done, name)
			} else {
				require.Contains(t, jsonOf(s, id), `"PERMISSION_DENIED"`, name)
				require.Empty(t, kidsOf(s, id))
				require.Zero(t, s.Count(bus.MemoryAccess))
			}
			s.Check()
		}
	}
}

// PE-3: a parent whose program declares a handler is resumed with the
// EscalationEvent, decides, and goes back to its wait, all in one event.
func TestHandlerDecides(t *testing.T) {
	for decision, want := range map[string]string{
		`true`:  `"value":{"a":1}`,
		`false`: `"message":"denied by parent"`,
		`{"approve":false,"reason":"no ${e.resource} for ${e.args.a}"}`: `"message":"denied by parent: no echo for 1"`,
		`"maybe"`:            `"message":"denied by parent: EVAL_FAILURE`,
		`"${e.no_such_one}"`: `"message":"denied by parent: EVAL_FAILURE`,
	} {
		s := kerneltest.New(t, 2)
		id := startFreely(s, "task", handling(giving(decision), askingKid(callEcho)))
		k := onlyKid(s, id)
		var path []string
		for _, r := range s.Last() {
			if e, ok := r.Content.(*lifecycle.Event); ok && r.Agent == numberOf(s, id) {
				path = append(path, e.Trigger.String())
			}
		}
		require.Equal(t, []string{"spawn", "activate", "yield", "resume", "yield"}, path[:5], "waits, decides, waits again")
		require.Equal(t, 1, s.Count(bus.EscalationOffered))
		require.Equal(t, 1, s.Count(bus.EventDelivered))
		decided := kerneltest.Find[*permissions.EscalationDecided](s, bus.EscalationDecided)
		require.Equal(t, "parent", decided.By)
		require.Equal(t, decision == `true`, decided.Approved)
		if decision == `true` {
			require.Equal(t, lifecycle.Waiting, s.StateOf(id))
			s.Answer(true, map[string]any{"a": 1})
		}
		require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, k), decision)
		require.Contains(t, jsonOf(s, id), want, decision)
		s.Check()
	}
}

// PE-3: one request after the other, of several children; those that come while
// the parent decides wait for their turn, and a child that ends meanwhile is
// not forgotten.
func TestHandlerDecidesInTurn(t *testing.T) {
	s := kerneltest.New(t, 1)
	slow := inSeq(callOf("echo", `"${e.args}"`, false), giving(`true`))
	id := startFreely(s, "task", handling(slow, askingKid(callEcho), askingKid(callEcho), askingKid(literal)))
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.Len(t, s.Pending, 1, "the handler's own call, for the first of two")
	require.Equal(t, numberOf(s, id), s.Pending[0].Agent)
	require.EqualValues(t, 2, s.Pending[0].Call)
	s.Answer(true, nil)
	require.Equal(t, 2, len(s.Pending), "the first child's call, and the handler's for the second")
	s.Answer(true, "first")
	s.Answer(true, nil)
	s.Answer(true, "second")
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Contains(t, jsonOf(s, id), `"first"`)
	require.Contains(t, jsonOf(s, id), `"second"`)
	s.Check()
}

// PE-3: without a handler, or with one on another request, the operators are
// asked; they may also decide what a handler is looking at, whose own decision
// is stale then.
func TestOperatorsMayAlwaysDecide(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "task", delegateTo("", askingKid(callEcho)))
	require.Zero(t, s.Count(bus.EscalationOffered))
	require.Empty(t, s.Decide(s.Escalation(), false).Refusal)
	require.Contains(t, jsonOf(s, id), "denied by ann")
	s.Check()

	s = kerneltest.New(t, 1)
	slow := inSeq(callOf("echo", "{}", false), giving(`false`))
	id = startFreely(s, "task", handling(slow, askingKid(callEcho)))
	k := onlyKid(s, id)
	require.Empty(t, s.Decide(s.Escalation(), true).Refusal, "while the parent thinks about it")
	require.Len(t, s.Pending, 2)
	s.Answer(true, nil)
	require.Equal(t, 1, s.Count(bus.StaleResult), "the parent's no comes too late")
	require.Equal(t, []lifecycle.State{lifecycle.Waiting, lifecycle.Waiting}, statesOf(s, id, k))
	s.Answer(true, "done")
	require.Contains(t, jsonOf(s, id), `"done"`)
	s.Check()
}

// PE-3: an escalation that times out while its handler is at work is DENY; the
// handler's word is stale, and the parent goes on waiting.
func TestHandlerIsTooSlow(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.EscalationMillis = 1000 })
	slow := inSeq(callOf("echo", "{}", false), giving(`true`))
	id := startFreely(s, "task", handling(slow, askingKid(callOf("echo", "{}", true))))
	s.Pass(1000)
	require.Equal(t, lifecycle.Terminated, s.StateOf(onlyKid(s, id)))
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Answer(true, nil)
	require.Equal(t, 1, s.Count(bus.StaleResult))
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Contains(t, jsonOf(s, id), `"PERMISSION_DENIED"`)
	s.Check()
}

// LC-12: the wait for children ends in its time even while the parent's handler
// is at work, or the parent is suspended: what still runs is ended then, and the
// parent takes it up as soon as it waits again.
func TestDelegationTimesOutBesideTheHandler(t *testing.T) {
	const timeout = `,"timeout_ms":1000`
	slow := inSeq(callOf("echo", "{}", false), giving(`true`))
	program := delegateTo(timeout+`,"on_escalation":{"as":"e","do":`+slow+`}`, askingKid(callEcho))
	for name, during := range map[string]func(s *kerneltest.Sim, id string){
		"at work": func(s *kerneltest.Sim, _ string) { s.Pass(1000); s.Answer(true, nil) },
		"suspended": func(s *kerneltest.Sim, id string) {
			require.Empty(t, s.Trigger(id, "suspend").Refusal)
			s.Answer(true, nil)
			require.Equal(t, lifecycle.Resumable, s.StateOf(id))
			s.Pass(1000)
			require.Empty(t, s.Trigger(id, "resume").Refusal)
		},
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "task", program)
		during(s, id)
		s.Settle()
		require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, onlyKid(s, id)), name)
		require.Contains(t, jsonOf(s, id), `"KILLED"`, name)
		s.Check()
	}
}

// PE-3: the queue of requests is bounded, and a teardown waits for nobody:
// there ESCALATE is DENY.
func TestEscalationsAreBounded(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxEscalations = 1 })
	first := asking(s, "service", callOf("echo", "{}", true))
	second := asking(s, "service", callOf("echo", "{}", true))
	require.Equal(t, lifecycle.Waiting, s.StateOf(first))
	require.Contains(t, jsonOf(s, second), "as many requests wait for a decision as max_escalations allows")
	require.Equal(t, 1, s.Count(bus.Deny))
	s.Check()
}

// PE-3: of several calls at once each is judged for itself; the agent waits for
// all of them.
func TestParallelCallsMayWantDecisions(t *testing.T) {
	s := kerneltest.New(t, 1)
	get := `{"tool":"http.request","args":{"url":"http://h"},"handle":true}`
	id := asking(s, "task", `{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","handle":true},`+get+`,{"tool":"echo","handle":true}]}}`)
	require.Len(t, s.Pending, 1)
	st := s.State()
	require.Equal(t, 2, st.Escalations.Len())
	s.Answer(true, "got")
	require.Empty(t, s.Decide(s.Escalation(), false).Refusal)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.Empty(t, s.Decide(s.Escalation(), true).Refusal)
	s.Answer(true, "said")
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	assert.Regexp(t, `PERMISSION_DENIED.*got.*said`, jsonOf(s, id))
	s.Check()
}

// LC-12: of several calls at once the first whose time is over ends the wait,
// which is row 8; the others, and what waits for a decision, are withdrawn.
func TestParallelCallsTimeOut(t *testing.T) {
	s := kerneltest.New(t, 1)
	post := `{"tool":"http.request","args":{"method":"POST","url":"http://h"},"handle":true`
	id := asking(s, "task", `{"kind":"PARALLEL","payload":{"calls":[`+post+`,"timeout_ms":100},`+post+`},{"tool":"echo","handle":true}]}}`)
	s.Pass(100 + s.State().Config.CallGraceMillis)
	require.Equal(t, []string{"timeout"}, s.Path())
	st := s.State()
	require.Zero(t, st.Tools.Len()+st.Escalations.Len())
	require.Equal(t, 2, s.Count(bus.ActionFailed), "the one that timed out, and the one withdrawn with it")
	require.Equal(t, failure.Withdrawn, kerneltest.Find[*permissions.EscalationDecided](s, bus.EscalationDecided).Code)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	s.Check()
}

// Kernel tools are answered at once anyway: several at once are refused, and so
// is what does not allow waiting for each by itself.
func TestParallelCallsAreExternal(t *testing.T) {
	for _, tool := range []string{"clock.now", "mailbox.receive", "agent.delegate", "memory.read"} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", `{"kind":"PARALLEL","payload":{"calls":[{"tool":"`+tool+`","handle":true},{"tool":"`+tool+`","handle":true}]}}`)
		require.Regexp(t, `TOOL_ARGS_INVALID.*PARALLEL takes tools that leave the kernel: `+tool+`.*TOOL_ARGS_INVALID`, jsonOf(s, id))
		s.Check()
	}
}

// PE-3: a handler may delegate in turn, with a handler of its own; each word
// goes to the request that waits, though an older one of the outer request is
// not decided yet.
func TestHandlerThatDelegates(t *testing.T) {
	s := kerneltest.New(t, 1)
	inner := handling(giving(`true`), kid(inSeq(callOf("timer.sleep", `{"ms":10}`, false), callOf("clock.now", `{}`, false)),
		`{"effect":"ESCALATE","action":"tool.call","resource":"clock.now"},`+allowTools, ""))
	outer := inSeq(letDo("inner", inner), giving(`{"approve":true,"reason":"inner: ${inner[0].ok}"}`))
	id := startFreely(s, "task", handling(outer, askingKid(callEcho), askingKid(callEcho)))
	kids := kidsOf(s, id)
	require.Len(t, kids, 3, "the handler's own child works for the first request")
	require.Equal(t, 2, s.State().Escalations.Len())
	s.Pass(10)
	s.Settle()
	require.Len(t, kidsOf(s, id), 4, "and another for the second")
	require.Len(t, s.Pending, 1, "the first was approved")
	s.Pass(10)
	s.Answer(true, "one")
	s.Answer(true, "two")
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Contains(t, jsonOf(s, id), `"one"`)
	require.Contains(t, jsonOf(s, id), `"two"`)
	s.Check()
}

// PE-3, FA-2: a handler that breaks its tick for good takes the request with it.
// Recovered, the tick delegates anew, and decides for the new children.
func TestHandlerThatBreaksTheTick(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxWorkPerTick = 3000 })
	heavy := `{"kind":"MAP","payload":{"over":"${range(200)}","as":"i","do":` + giving(`"${len(range(990))}"`) + `}}`
	do := `{"kind":"BRANCH","payload":{"if":"${e.escalation < 60}","then":` + heavy + `,"else":` + giving(`true`) + `}}`
	id := startFreely(s, "task", handling(do, askingKid(callEcho)))
	require.Equal(t, failure.WorkExceeded, codeOf(s, id))
	require.Equal(t, []lifecycle.State{lifecycle.Faulted, lifecycle.Terminated}, statesOf(s, id, onlyKid(s, id)))
	s.Must(event.AgentReclassify, event.Reclassify{Agent: id, Reason: "y"})
	require.Empty(t, s.Trigger(id, "recover").Refusal)
	require.Len(t, kidsOf(s, id), 2)
	require.Len(t, s.Pending, 1)
	s.Answer(true, "done")
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Contains(t, jsonOf(s, id), `"done"`)
	s.Check()
}
