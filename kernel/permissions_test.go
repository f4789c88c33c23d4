package kernel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

func grant(effect permissions.Effect, resource string) permissions.Grant {
	return permissions.Grant{Effect: effect, Action: "tool.call", Resource: resource}
}

// PE-1, PE-2: DENY, then ESCALATE, then ALLOW, then the default DENY; every evaluation is
// recorded with the resource and the deciding grant, whatever it says; a
// kernel tool is judged like any other (TO-3).
func TestEveryCallIsJudged(t *testing.T) {
	const get = `{"kind":"CALL","payload":{"tool":"http.request","args":{"url":"https://API.example.com:443/v1/items/?q=1"}}}`
	const deny, allow = permissions.Deny, permissions.Allow
	for name, test := range map[string]struct {
		program  string
		grants   []permissions.Grant
		kind     bus.Kind
		resource string
		grant    int32
	}{
		"allowed":                 {callEcho, []permissions.Grant{grant(allow, "echo")}, bus.Allow, "echo", 0},
		"nobody speaks":           {callEcho, []permissions.Grant{grant(allow, "clock.now")}, bus.Deny, "echo", permissions.DefaultDeny},
		"escalate stands between": {callEcho, []permissions.Grant{grant(allow, "**"), grant(permissions.Escalate, "*"), grant(deny, "echo")}, bus.Deny, "echo", 2},
		"deny wins":               {callEcho, []permissions.Grant{grant(allow, "**"), grant(deny, "*")}, bus.Deny, "echo", 1},
		"the first of equal":      {callEcho, []permissions.Grant{grant(deny, "x"), grant(allow, "**"), grant(allow, "echo")}, bus.Allow, "echo", 1},
		"kernel tools too": {`{"kind":"CALL","payload":{"tool":"clock.now"}}`, []permissions.Grant{grant(allow, "echo")}, bus.Deny,
			"clock.now", permissions.DefaultDeny},
		"derived from arguments": {get, []permissions.Grant{grant(allow, "http.request/GET/api.example.com/v1/**")}, bus.Allow,
			"http.request/GET/api.example.com/v1/items", 0},
		"one segment is not two": {get, []permissions.Grant{grant(allow, "http.request/GET/api.example.com/*")}, bus.Deny,
			"http.request/GET/api.example.com/v1/items", permissions.DefaultDeny},
		"another action": {callEcho, []permissions.Grant{{Effect: allow, Action: "shared.write", Resource: "**"}}, bus.Deny, "echo",
			permissions.DefaultDeny},
		"a wider action": {callEcho, []permissions.Grant{{Effect: allow, Action: "tool.*", Resource: "**"}}, bus.Allow, "echo", 0},
	} {
		s := kerneltest.New(t, 1)
		id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, test.program), Grants: test.grants}, nil)
		require.Equal(t, 1, s.Count(bus.Allow)+s.Count(bus.Deny), name)
		require.Equal(t, &permissions.Evaluation{
			Action: "tool.call", Resource: test.resource, Grants: s.Row(id).Permissions.Grants, Grant: test.grant,
		}, kerneltest.Find[*permissions.Evaluation](s, test.kind), name)
		require.Equal(t, test.kind == bus.Allow, len(s.Pending) == 1, name)
		s.Check()
	}
}

// PE-1: without grants, and before the agent is spawned with them, nothing is
// allowed.
func TestNoGrantsDenyEverything(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, callEcho), Grants: []permissions.Grant{}}, nil)
	require.Zero(t, s.Row(id).Permissions.Grants)
	require.Equal(t, failure.PermissionDenied, codeOf(s, id))
}

// TO-3: there is no tool that is not judged.
func TestEveryToolIsJudged(t *testing.T) {
	require.Len(t, tools.Names(), 21)
	for _, tool := range tools.Names() {
		args := `{"min":1,"max":2,"ms":1,"url":"http://h"}`
		switch family, op, _ := strings.Cut(tool, "."); {
		case tool == "agent.delegate":
			args = `{"children":[{"program":` + literal + `}]}`
		case family == "agent":
			args = `{"agent":"${kids[0].agent_id}"}`
		case family == "memory" || family == "shared":
			args = map[string]string{"read": `{"key":"k"}`, "write": `{"key":"k","value":1}`, "delete": `{"key":"k"}`, "list": `{}`}[op]
			if family == "shared" {
				args = strings.Replace(strings.Replace(args, "{", `{"namespace":"n",`, 1), ",}", "}", 1)
			}
		}
		s := kerneltest.New(t, 1)
		program := `{"kind":"CALL","payload":{"tool":"` + tool + `","args":` + args + `}}`
		var grants []permissions.Grant
		if strings.HasPrefix(tool, "agent.") && tool != "agent.delegate" { // they need a child to be about
			grants = []permissions.Grant{{Effect: permissions.Allow, Action: "agent.delegate", Resource: "agent/unnamed"}}
			program = `{"kind":"SEQ","payload":{"steps":[{"kind":"LET","payload":{"name":"kids","do":{"kind":"DELEGATE",
				"payload":{"detach":true,"children":[{"program":` + literal + `}]}}}},` + program + `]}}`
		}
		id := s.Start(event.Define{Mode: "service", Grants: append([]permissions.Grant{}, grants...), Program: kerneltest.JSON(t, program)}, nil)
		require.Equal(t, failure.PermissionDenied, codeOf(s, id), tool)
		require.Equal(t, 1, s.Count(bus.Deny), tool)
		s.Check()
	}
}

// PE-1, EV-6: notAfter is tested by kernel time, when the grant is used: it
// holds in its last millisecond, and not after it.
func TestGrantsExpire(t *testing.T) {
	s := kerneltest.New(t, 1)
	limited := grant(permissions.Allow, "**")
	limited.NotAfterMillis = kerneltest.Start + 100
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"CALL","payload":{"tool":"clock.now"}}`),
		Grants: []permissions.Grant{limited}}, nil)
	for _, test := range []struct {
		millis int64
		kind   bus.Kind
	}{{0, bus.Allow}, {100, bus.Allow}, {1, bus.Deny}} {
		s.Wall += test.millis
		s.Must(event.AgentSubmit, event.Submit{Agent: id})
		assert.Equal(t, 1, s.Count(test.kind))
	}
}

// PE-4: a program that handles a denial goes on with it.
func TestDenialHandled(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Grants: []permissions.Grant{}, Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"got","do":{"kind":"CALL","payload":{"tool":"echo","handle":true}}}},
		{"kind":"RETURN","payload":{"value":["${got.ok}","${got.code}"]}}]}}`)}, nil)
	require.Equal(t, []string{"spawn", "activate", "await_tool", "resume", "complete", "teardown_ok"}, s.Path())
	require.JSONEq(t, `[false,"PERMISSION_DENIED"]`, jsonOf(s, id))
	s.Check()
}

// PE-4, FA-3: unhandled, the tick fails as POLICY_VIOLATION and the agent stays
// ACTIVE: a service runs its next instruction, a task without one completes
// with that failure as its outcome.
func TestDenialUnhandled(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Grants: []permissions.Grant{}, Program: kerneltest.JSON(t, callEcho)}, nil)
	require.Equal(t, failure.PolicyViolation, kerneltest.Find[*execution.FailedBody](s, bus.TickFailed).Failure.Class())
	require.Equal(t, []string{"spawn", "activate", "await_tool", "resume"}, s.Path())
	require.Equal(t, lifecycle.Active, s.StateOf(id))
	require.Nil(t, s.Row(id).Execution.Current, "the tick is over, nothing to recover")
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, literal)})
	require.Equal(t, "7", jsonOf(s, id))

	id = s.Start(event.Define{Grants: []permissions.Grant{}, Program: kerneltest.JSON(t, callEcho)}, nil)
	require.Equal(t, []string{"spawn", "activate", "await_tool", "resume", "complete", "teardown_ok"}, s.Path())
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Equal(t, failure.PermissionDenied, codeOf(s, id))
	s.Check()
}

// PE-4, FA-3: a task with more to do goes on with it after a violation.
func TestTaskGoesOnAfterAViolation(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.NewID()
	s.Must(event.AgentDefine, event.Define{ID: id, Program: kerneltest.JSON(t, callEcho)})
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "spawn"})
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, literal)})
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "activate"})
	require.Equal(t, 1, s.Count(bus.TickFailed))
	require.Equal(t, "7", jsonOf(s, id))
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.Check()
}

// LC-6: a request is judged while the agent is still ACTIVE; await_tool follows.
func TestJudgedBeforeTheWait(t *testing.T) {
	for _, grants := range [][]permissions.Grant{allowAll, {}} {
		s := kerneltest.New(t, 1)
		s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, callEcho), Grants: grants}, nil)
		var told []string
		for _, r := range s.Last() {
			switch b := r.Content.(type) {
			case *permissions.Evaluation:
				told = append(told, "judged")
			case *lifecycle.Event:
				told = append(told, b.Trigger.String()+" by "+b.Caller.String())
			}
		}
		require.Equal(t, []string{"spawn by client", "activate by client", "judged", "await_tool by kernel"}, told[:4])
	}
}
