package logaudit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// stories are logs to forge: each is right as it is, and short enough to be
// known by heart.
var stories = map[string]func(t *testing.T) *kerneltest.Sim{
	"work": work, "family": family, "asking": asking, "forks": forks, "running": running, "stopped": stopped, "money": money, "registering": registering, "people": people,
	"risen": risen, "grown": grown, "guarded": guarded, "ordering": ordering,
}

// work: agent 1 makes two calls at once, writes memory, makes a call that must
// not be made twice, and ends. Agent 2, a service, is suspended while it waits
// for a message, resumed, and killed. Agent 3 fails and rests. Agent 4 has the grants of the others and loses
// the first.
func work(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	one := s.Start(event.Define{Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","args":1},{"tool":"echo","args":2}]}},
		{"kind":"WRITE","payload":{"key":"k","value":3}},
		{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"POST","url":"http://h/x"}}}]}}`)}, nil)
	two := s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`)}, nil)
	s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"FAIL","payload":{"message":"no"}}`)}, nil)
	four := s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`)}, nil)
	require.Empty(t, s.RevokeGrant(four, 0).Refusal)
	s.Answer(true, "first")
	s.Answer(true, "second")
	s.Dispatch(s.Pending[0])
	s.Answer(true, "third")
	require.Equal(t, lifecycle.Terminated, s.StateOf(one))
	s.Trigger(two, "suspend")
	s.Send(two, "hello")
	require.Equal(t, lifecycle.Resumable, s.StateOf(two))
	s.Trigger(two, "resume")
	s.Kill(two)
	s.Pulse()
	return s
}

// family: agent 1 delegates to agent 2, which calls a tool and ends, and so does
// its parent then. Agent 3 loses a grant.
func family(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Grants: kerneltest.Everything(), TTLMillis: 60_000, Program: kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"children":[
		{"program":{"kind":"CALL","payload":{"tool":"echo"}},"ttl_ms":50000,"max_depth":2,
		"grants":[{"effect":"ALLOW","action":"tool.call","resource":"echo"}]}]}}`)}, nil)
	s.Answer(true, 1)
	three := s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`)}, nil)
	require.Empty(t, s.RevokeGrant(three, 1).Refusal)
	s.Pulse()
	return s
}

// asking: agent 1's calls want a decision: one is approved, one denied, and one
// waits. What agent 2 asks for is denied.
func asking(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	grants := append([]permissions.Grant{{Effect: permissions.Escalate, Action: "tool.call", Resource: "echo"}}, kerneltest.Everything()...)
	s.Start(event.Define{Mode: "service", Grants: grants, Program: kerneltest.JSON(t, `{"kind":"MAP","payload":{"over":[1,2,3],"as":"i",
		"do":{"kind":"CALL","payload":{"tool":"echo","args":"${i}","handle":true}}}}`)}, nil)
	require.Empty(t, s.Decide(s.Escalation(), true).Refusal)
	s.Answer(true, 1)
	require.Empty(t, s.Decide(s.Escalation(), false).Refusal)
	require.NotZero(t, s.Escalation())
	s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"CALL","payload":{"tool":"echo"}}`),
		Grants: []permissions.Grant{{Effect: permissions.Deny, Action: "tool.call", Resource: "**"}}}, nil)
	s.Pulse()
	return s
}

// stopped: everything is suspended while agent 1's second call waits. Its first has
// its answer then, which its tick sees when the kernel goes on; and agent 2 is
// killed.
func stopped(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"CALL","payload":{"tool":"echo"}},{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"POST","url":"http://h/x"}}},
		{"kind":"WAIT","payload":{"ms":50}}]}}`)}, nil)
	two := s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`)}, nil)
	require.Empty(t, s.Suspend("smoke").Refusal)
	s.Answer(true, "first")
	s.Kill(two)
	require.Empty(t, s.Resume("no fire").Refusal)
	s.Dispatch(s.Pending[0])
	s.Answer(true, "second")
	s.Pass(50)
	s.Pulse()
	return s
}

// ordering: an operator has one node paused, and another removed.
func ordering(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	require.Empty(t, s.By("ann", event.OperatorOrder, event.Order{Action: "node.pause", Resource: "n1", Detail: "a new disk"}).Refusal)
	require.Empty(t, s.By("bob", event.OperatorOrder, event.Order{Action: "cluster.member.remove", Resource: "n2"}).Refusal)
	s.Pulse()
	return s
}

// money: agent 1 may spend 100 tokens, and makes a call of 60 that comes to 70, one
// of 30 that reports nothing, one of 50 that there is never room for; and agent 2,
// with 100 too, two of 60, of which the second waits for the first.
func money(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	call := func(tokens string) string {
		return `{"tool":"http.request","handle":true,"args":{"url":"http://h/x","cost":{"tokens":` + tokens + `}}}`
	}
	start := func(calls string) {
		s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Budget: &event.Budget{Tokens: 100},
			Program: kerneltest.JSON(t, `{"kind":"PARALLEL","payload":{"calls":[`+calls+`]}}`)}, nil)
	}
	used := func(tokens uint64) {
		key := s.Pending[0]
		s.Pending = s.Pending[1:]
		s.Node(event.ToolResult, event.Result{Agent: key.Agent, Tick: key.Tick, Call: key.Call, OK: true, Metered: true, Tokens: tokens})
	}
	start(call("60") + "," + call("30") + "," + call("101"))
	start(call("60") + "," + call("60"))
	used(70)
	s.Answer(true, "done")
	used(5)
	used(6)
	s.Pulse()
	return s
}

func TestStoriesAreInOrder(t *testing.T) {
	for name, story := range stories {
		s := story(t)
		s.Check()
		require.Empty(t, audit(t, s.Blocks).Findings, name)
		require.Equal(t, s.Blocks, forge(t, s.Blocks).write(), "%s: what is not changed is written as it was", name)
	}
}
