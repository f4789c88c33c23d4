package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// DE-1: a root agent gets a token when it is spawned: its grants, the kernel's
// depth or its own, its own end or none.
func TestRootToken(t *testing.T) {
	for name, test := range map[string]struct {
		define  event.Define
		depth   uint32
		expires int64
	}{
		"as the kernel has it": {event.Define{}, 8, 0},
		"less of both":         {event.Define{MaxDepth: 2, TTLMillis: 500}, 2, kerneltest.Start + 500},
	} {
		s := kerneltest.New(t, 1)
		test.define.Mode, test.define.Program = "service", kerneltest.JSON(t, literal)
		id := s.Start(test.define, nil)
		issued := kerneltest.Find[*delegation.TokenIssued](s, bus.TokenIssued)
		uuid, _ := flows.ParseID(id)
		assert.EqualValues(t, flows.TokenID(uuid), issued.Token, name)
		assert.Equal(t, s.Row(id).Permissions.Grants, issued.Grants, name)
		assert.Equal(t, []any{test.depth, test.expires, uint32(0)}, []any{issued.Depth, issued.Expires, issued.Parent}, name)
		s.Check()
	}
	s := kerneltest.New(t, 1)
	for field, define := range map[string]event.Define{"max_depth": {MaxDepth: 9}, "ttl_ms": {TTLMillis: -1}} {
		refusal := s.Command(event.AgentDefine, define).Refusal
		require.Equal(t, failure.InvalidArgument, refusal.Code)
		require.Equal(t, field, refusal.Field)
	}
}

// DE-1, DE-2, INV-06: what widens, or goes deeper or on for longer than the
// parent's own token, is REJECTED: an answer that names the child, the field
// and the rule, and a record. Nothing is made of such a request.
func TestRejectedRequests(t *testing.T) {
	root := []permissions.Grant{
		{Effect: permissions.Allow, Action: "agent.*", Resource: "**"},
		{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/GET/**"},
		{Effect: permissions.Allow, Action: "tool.call", Resource: "echo", NotAfterMillis: kerneltest.Start + 1000},
		{Effect: permissions.Deny, Action: "memory.*", Resource: "**"},
	}
	const get = `{"effect":"ALLOW","action":"tool.call","resource":"http.request/GET/h/**"}`
	for name, test := range map[string]struct{ children, field, rule string }{
		"another resource": {kid(literal, `{"effect":"ALLOW","action":"tool.call","resource":"http.request/**"}`, ""), "children[0].grants[0]", "widens"},
		"another action":   {kid(literal, `{"effect":"ALLOW","action":"tool.*","resource":"http.request/GET/h"}`, ""), "children[0].grants[0]", "widens"},
		"for longer":       {kid(literal, allowEcho, ""), "children[0].grants[0]", "widens"},
		"a DENY is no ALLOW": {kid(literal, `{"effect":"ALLOW","action":"memory.read","resource":"self/**"}`, ""),
			"children[0].grants[0]", "widens"},
		"the second child":  {kid(literal, get, "") + `,` + kid(literal, get+`,`+allowEcho, ""), "children[1].grants[1]", "widens"},
		"no pattern":        {kid(literal, `{"effect":"ALLOW","action":"tool.call","resource":"a**"}`, ""), "children[0].grants[0].resource", ""},
		"no effect":         {kid(literal, `{"effect":"ALLOW","action":"tool call","resource":"a"}`, ""), "children[0].grants[0].action", ""},
		"as deep as it":     {kid(literal, get, `,"max_depth":2`), "children[0].max_depth", "must be below the parent's remaining depth, which is 2"},
		"beyond its token":  {kid(literal, get, `,"ttl_ms":5001`), "children[0].ttl_ms", "must not go beyond the parent's own token"},
		"an unknown mode":   {kid(literal, get, `,"mode":"job"`), "children[0].mode", "must be task or service"},
		"no such evaluator": {kid(literal, get, `,"evaluator":"std/9"`), "children[0].evaluator", "no such evaluator"},
		"a long name":       {kid(literal, get, `,"name":"`+strings.Repeat("n", 129)+`"`), "children[0].name", "128 bytes"},
	} {
		s := kerneltest.New(t, 1)
		id := s.Start(event.Define{Mode: "service", Grants: root, MaxDepth: 2, TTLMillis: 5000,
			Program: kerneltest.JSON(t, delegateTo(`,"handle":true`, test.children))}, nil)
		rejected := kerneltest.Find[*delegation.DelegationRejected](s, bus.DelegationRejected)
		assert.Equal(t, test.field, rejected.Field, name)
		assert.Contains(t, rejected.Rule, test.rule, name)
		assert.Contains(t, jsonOf(s, id), `"code":"REJECTED"`, name)
		assert.Contains(t, jsonOf(s, id), test.field+": ", name)
		require.Empty(t, kidsOf(s, id), name)
		st := s.State()
		require.EqualValues(t, 1, st.Agents.Len(), name)
		s.Check()
	}
}

// DE-1: equal grants are a strict subset still: the parent keeps the right to
// delegate one level deeper. A DENY or an ESCALATE narrows, whatever it says.
func TestEqualGrantsAreAccepted(t *testing.T) {
	s := kerneltest.New(t, 1)
	narrow := `{"effect":"DENY","action":"tool.call","resource":"nowhere/**"},{"effect":"ESCALATE","action":"shared.*","resource":"**"}`
	id := s.Start(event.Define{Grants: []permissions.Grant{
		{Effect: permissions.Allow, Action: "agent.*", Resource: "**"}, {Effect: permissions.Allow, Action: "tool.*", Resource: "**"},
	}, Program: kerneltest.JSON(t, delegateTo("", kid(literal, allowAgents+`,`+allowTools, `,"max_depth":7`), kid(literal, narrow, "")))}, nil)
	require.JSONEq(t, fmt.Sprintf(`[{"ok":true,"agent_id":%q,"value":7},{"ok":true,"agent_id":%q,"value":7}]`, kidsOf(s, id)[0], kidsOf(s, id)[1]), jsonOf(s, id))
	s.Check()
}

// DE-1: a DENY of the parent binds the child, though the child's own list does
// not say so; the record names whose list decided.
func TestDenyBindsTheChild(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Grants: append([]permissions.Grant{
		{Effect: permissions.Deny, Action: "tool.call", Resource: "echo"}, {Effect: permissions.Deny, Action: "memory.*", Resource: "self/secret/**"},
	}, freely...), Program: kerneltest.JSON(t, delegateTo("",
		kid(callEcho, allowTools, ""),
		kid(`{"kind":"READ","payload":{"key":"secret/a","agent":"parent"}}`, `{"effect":"ALLOW","action":"memory.read","resource":"parent/**"}`, ""),
	))}, nil)
	require.Contains(t, jsonOf(s, id), `"code":"PERMISSION_DENIED"`)
	var levels []uint32
	for _, r := range s.Last() {
		if e, ok := r.Content.(*permissions.Evaluation); ok && r.Name == "DENY" {
			levels = append(levels, e.Level)
			require.Equal(t, s.Row(id).Permissions.Grants, e.Grants)
		}
	}
	require.Equal(t, []uint32{1, 1}, levels, "the parent's list, read upwards")
	s.Check()
}

// DE-2: the depth that is left falls with each generation, down to none.
func TestDepth(t *testing.T) {
	deep := literal
	for depth := range 3 {
		deep = delegateTo("", kid(deep, allowAgents, fmt.Sprintf(`,"max_depth":%d`, depth)))
	}
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{MaxDepth: 3, Grants: freely, Program: kerneltest.JSON(t, deep)}, nil)
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	st := s.State()
	require.EqualValues(t, 4, st.Agents.Len())
	for no := uint32(1); no <= 4; no++ {
		require.Equal(t, 4-no, st.Agents.Get(no).Delegation.Depth)
	}
	s.Check()

	// A child of none delegates nothing, not even to one without grants.
	s = kerneltest.New(t, 1)
	id = startFreely(s, "task", delegateTo("", kid(delegateTo("", kid(literal, "", "")), allowAgents, "")))
	require.Contains(t, jsonOf(s, id), `must be below the parent's remaining depth, which is 0`)
	s.Check()
}

// DE-2: a child lives no longer than its parent's token; without a ttl of its
// own it ends with it.
func TestTTLOfChildren(t *testing.T) {
	s := kerneltest.New(t, 1)
	sleeper := callOf("timer.sleep", `{"ms":60000}`, false)
	id := s.Start(event.Define{TTLMillis: 5000, Grants: freely, Program: kerneltest.JSON(t, delegateTo("",
		kid(sleeper, allowTools, ""), kid(sleeper, allowTools, `,"ttl_ms":2000`)))}, nil)
	kids := kidsOf(s, id)
	require.Equal(t, kerneltest.Start+5000, s.Row(kids[0]).Delegation.Expires)
	require.Equal(t, kerneltest.Start+2000, s.Row(kids[1]).Delegation.Expires)
	s.Pass(2000)
	require.Equal(t, []lifecycle.State{lifecycle.Waiting, lifecycle.Waiting, lifecycle.Terminated}, statesOf(s, id, kids[0], kids[1]))
	require.Equal(t, failure.TokenExpired, codeOf(s, kids[1]))
	s.Pass(3000)
	require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, kids[0]))
	require.Equal(t, failure.TokenExpired, codeOf(s, id))
	s.Check()
}

// DE-2, INV-13: an agent whose token is not in force delegates nothing: its
// tick never comes to ask.
func TestNoChildrenWithoutAToken(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", inSeq(callEcho, delegateTo("", kid(literal, "", ""))))
	require.Empty(t, s.Revoke(id).Refusal)
	require.Equal(t, failure.StaleResult, s.Answer(true, 1).Refusal.Code)
	require.Empty(t, kidsOf(s, id))
	require.Equal(t, failure.TokenRevoked, codeOf(s, id))
	s.Check()
}

// DE-3: a request is accepted whole: each child is judged, defined, given its
// token, spawned and activated in one event; the parent waits.
func TestChildrenAreBornTogether(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := startFreely(s, "task", delegateTo("",
		kid(callEcho, allowEcho, `,"name":"one","input":{"n":1},"labels":{"a":"b"},"env":{"c":"d"}`),
		kid(callEcho, allowEcho, `,"name":"two","mode":"service"`),
		kid(literal, "", "")))
	var judged []string
	for _, r := range s.Last() {
		if e, ok := r.Content.(*permissions.Evaluation); ok && e.Action == "agent.delegate" {
			judged = append(judged, e.Resource)
		}
	}
	require.Equal(t, []string{"agent/one", "agent/two", "agent/unnamed"}, judged)
	accepted := kerneltest.Find[*delegation.DelegationAccepted](s, bus.DelegationAccepted)
	require.Equal(t, []uint32{2, 3}, []uint32{accepted.First, accepted.Count})
	require.Equal(t, kerneltest.Start+s.State().Config.DelegationMillis, accepted.Deadline)
	require.Equal(t, 3, len(agentsOf(s, "TOKEN_ISSUED"))-1)
	kids := kidsOf(s, id)
	require.Equal(t, []lifecycle.State{lifecycle.Waiting, lifecycle.Waiting, lifecycle.Waiting, lifecycle.Terminated},
		statesOf(s, id, kids[0], kids[1], kids[2]))
	require.Equal(t, []string{"TICK_PENDING_DELEGATION"}, namesWith(s, "PENDING_DELEGATION"))
	require.Len(t, s.Pending, 2)
	for _, r := range s.Last() {
		if e, ok := r.Content.(*lifecycle.Event); ok && r.Agent == numberOf(s, id) && e.To == lifecycle.Waiting {
			require.Equal(t, lifecycle.Yield, e.Trigger, "row 3, for a delegation")
		}
	}
	s.Check()
}

func namesWith(s *kerneltest.Sim, part string) (names []string) {
	for _, name := range s.Names() {
		if strings.Contains(name, part) {
			names = append(names, name)
		}
	}
	return names
}

// DE-3: the parent resumes once, when every child is TERMINATED, with the
// results in request order, whatever the order in which they ended; a failure
// stands in its place.
func TestResultsInRequestOrder(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := startFreely(s, "task", delegateTo("",
		kid(callEcho, allowEcho, ""), kid(callEcho, allowEcho, ""), kid(callEcho, "", ""), kid(callEcho, allowEcho, "")))
	kids := kidsOf(s, id)
	calls := s.Pending
	require.Len(t, calls, 3)
	s.Result(calls[2], true, "last")
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Result(calls[0], false, failure.ToolFailed)
	require.Equal(t, 1, s.Count(bus.ChildFailure))
	told := kerneltest.Find[*delegation.ChildResult](s, bus.ChildFailure)
	require.Equal(t, &delegation.ChildResult{
		Parent: 1, Tick: 1, Call: 1, Position: 0, Code: failure.ToolFailed, Class: failure.Permanent, Message: "the tool said no",
	}, told)
	require.Equal(t, []lifecycle.State{lifecycle.Waiting, lifecycle.Terminated}, statesOf(s, id, kids[0]), "a faulted child is abandoned")
	s.Result(calls[1], true, "second")
	require.JSONEq(t, fmt.Sprintf(`[
		{"ok":false,"agent_id":%q,"code":"TOOL_FAILED","class":"PERMANENT","message":"the tool said no"},
		{"ok":true,"agent_id":%q,"value":"second"},
		{"ok":false,"agent_id":%q,"code":"PERMISSION_DENIED","class":"POLICY_VIOLATION","message":"no grant allows tool.call on echo"},
		{"ok":true,"agent_id":%q,"value":"last"}]`, kids[0], kids[1], kids[2], kids[3]), jsonOf(s, id))
	require.Equal(t, 1, s.Count(bus.DelegationOver))
	s.Check()
}

// DE-3: every way to TERMINATED notifies the waiting parent, with the code.
func TestEveryEndIsNotified(t *testing.T) {
	end := func(s *kerneltest.Sim, kind event.Kind, body any) { s.Must(kind, body) }
	for name, test := range map[string]struct {
		program string
		end     func(s *kerneltest.Sim, kid string)
		want    string
	}{
		"killed":  {callEcho, func(s *kerneltest.Sim, k string) { s.Kill(k) }, `"code":"KILLED"`},
		"revoked": {callEcho, func(s *kerneltest.Sim, k string) { s.Revoke(k) }, `"code":"TOKEN_REVOKED"`},
		"expired while suspended": {callEcho, func(s *kerneltest.Sim, k string) {
			end(s, event.AgentTrigger, event.Trigger{Agent: k, Trigger: "suspend", Force: true})
			s.Pass(s.State().Config.ResumableTTLMillis)
		}, `"code":"EXPIRED"`},
		"expired by a client": {callEcho, func(s *kerneltest.Sim, k string) {
			end(s, event.AgentTrigger, event.Trigger{Agent: k, Trigger: "suspend", Force: true})
			end(s, event.AgentTrigger, event.Trigger{Agent: k, Trigger: "expire"})
		}, `"code":"EXPIRED"`},
		"failed":          {`{"kind":"FAIL","payload":{"message":"no"}}`, nil, `"code":"PROGRAM_FAILED"`},
		"completed":       {literal, nil, `"value":7`},
		"policy":          {callOf("uuid.new", "{}", false), nil, `"code":"PERMISSION_DENIED"`},
		"retried in vain": {callEcho, func(s *kerneltest.Sim, _ string) { exhaust(s) }, `"code":"TOOL_UNREACHABLE"`},
	} {
		s := kerneltest.New(t, 1, func(c *config.Config) { c.ResumableTTLMillis = 60_000 })
		id := startFreely(s, "task", delegateTo("", kid(test.program, allowEcho, "")))
		if test.end != nil {
			test.end(s, onlyKid(s, id))
		}
		require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, id, onlyKid(s, id)), name)
		require.Contains(t, jsonOf(s, id), test.want, name)
		told := 0
		for _, r := range s.All() {
			if r.Name == "CHILD_RESULT" || r.Name == "CHILD_FAILURE" {
				told++
			}
		}
		require.Equal(t, 1, told, name)
		s.Check()
	}
}

// exhaust lets the oldest call, and every retry of its tick, find nobody there.
func exhaust(s *kerneltest.Sim) {
	s.T.Helper()
	for range s.State().Config.MaxRetries + 1 {
		s.Answer(false, failure.ToolUnreachable)
		s.Pass(s.State().Config.MaxBackoffMillis)
	}
}

// DE-3: with fail_fast the first failure kills the others, in the same event,
// and the parent resumes with all of them.
func TestFailFast(t *testing.T) {
	s := kerneltest.New(t, 1)
	three := []string{kid(callEcho, allowEcho, ""), kid(callEcho, allowEcho, ""), kid(literal, "", "")}
	id := startFreely(s, "task", delegateTo(`,"fail_fast":true`, three...))
	kids := kidsOf(s, id)
	s.Result(s.Pending[1], false, failure.ToolFailed)
	require.Equal(t, 1, s.Count(bus.RequestCancelled))
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.JSONEq(t, fmt.Sprintf(`[
		{"ok":false,"agent_id":%q,"code":"KILLED","class":"PERMANENT","message":"the agent was killed"},
		{"ok":false,"agent_id":%q,"code":"TOOL_FAILED","class":"PERMANENT","message":"the tool said no"},
		{"ok":true,"agent_id":%q,"value":7}]`, kids[0], kids[1], kids[2]), jsonOf(s, id))
	s.Check()
}

// DE-3: detached children are nobody's to wait for: the parent has their names
// at once, and hears nothing of their end.
func TestDetach(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", delegateTo(`,"detach":true`, kid(callEcho, allowEcho, ""), kid(literal, "", "")))
	kids := kidsOf(s, id)
	first, _ := flows.ParseID(kids[0])
	require.Contains(t, jsonOf(s, id), fmt.Sprintf(`{"agent_id":%q,"token_id":%q}`, kids[0], kerneltest.IDOf(flows.TokenID(first))))
	require.Equal(t, []lifecycle.State{lifecycle.Active, lifecycle.Waiting, lifecycle.Terminated}, statesOf(s, id, kids[0], kids[1]))
	s.Answer(true, 1)
	require.Zero(t, s.Count(bus.ChildResult))
	require.Equal(t, lifecycle.Terminated, s.StateOf(kids[0]))
	s.Check()
}

// DE-3, LC-12: the wait for children has its time too. Past it is row 8, and
// what still runs is ended; the parent retries as after any TRANSIENT fault.
func TestDelegationTimesOut(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "task", delegateTo(`,"timeout_ms":1000`, kid(callOf("timer.sleep", `{"ms":60000}`, false), allowTools, "")))
	first := onlyKid(s, id)
	s.Pass(1000)
	require.Equal(t, []string{"timeout", "error", "abandon"}, s.Path())
	require.Equal(t, []lifecycle.State{lifecycle.Faulted, lifecycle.Terminated}, statesOf(s, id, first))
	require.Equal(t, failure.WaitTimeout, codeOf(s, id))
	require.Equal(t, failure.Killed, codeOf(s, first))
	require.Zero(t, s.Count(bus.ChildFailure), "nobody waits for it any more")
	s.Pass(s.State().Config.BackoffMillis)
	kids := kidsOf(s, id)
	require.Len(t, kids, 2, "the retry delegates anew")
	require.NotEqual(t, kids[0], kids[1])
	require.EqualValues(t, 2, s.Row(kids[1]).Delegation.Call)
	s.Check()
}

// DE-2, DE-3: a request beyond the kernel's limits is rejected whole.
func TestRequestsAreBounded(t *testing.T) {
	two := delegateTo(`,"handle":true`, kid(literal, "", ""), kid(literal, "", ""))
	for rule, limit := range map[string]func(*config.Config){
		"max_children":       func(c *config.Config) { c.MaxChildren = 1 },
		"global queue":       func(c *config.Config) { c.GlobalQueue = 2 },
		"max_agents":         func(c *config.Config) { c.MaxAgents = 2 },
		"max_interned_bytes": func(c *config.Config) { c.MaxInternedBytes = bytesOf(t, two) + 20 },
		"max_program_bytes":  func(c *config.Config) { c.MaxProgramBytes = 250 },
	} {
		s := kerneltest.New(t, 1, limit)
		program := two
		if rule == "max_program_bytes" {
			program = `{"kind":"CALL","payload":{"tool":"agent.delegate","handle":true,"args":"${{\"children\":[{\"program\":\"x\"*300}]}}"}}`
		}
		id := startFreely(s, "service", program)
		require.Contains(t, jsonOf(s, id), `"code":"REJECTED"`, rule)
		require.Contains(t, jsonOf(s, id), rule)
		require.Empty(t, kidsOf(s, id), rule)
		s.Check()
	}
}

// bytesOf is what an agent with a program adds to the interned bodies.
func bytesOf(t *testing.T, program string) uint64 {
	t.Helper()
	s := kerneltest.New(t, 1)
	s.Must(event.AgentDefine, event.Define{Grants: freely, Program: kerneltest.JSON(t, program)})
	return s.State().Interned.Bytes
}

// Requests that are malformed are TOOL_ARGS_INVALID, and name the member.
func TestMalformedRequests(t *testing.T) {
	for args, rule := range map[string]string{
		`7`:                             "the arguments must be a map",
		`{}`:                            "children must be a list of at least one",
		`{"children":7}`:                "children must be a list",
		`{"children":[7]}`:              "children[0] must be a map",
		`{"children":[{"programm":1}]}`: "unknown field children[0].programm",
		`{"children":[{"grants":[{"effect":"MAYBE"}]}]}`:              "children[0].grants[0].effect must be ALLOW, DENY or ESCALATE",
		`{"children":[{"grants":{}}]}`:                                "children[0].grants must be a list",
		`{"children":[{"max_depth":-1}]}`:                             "children[0].max_depth must be a small integer",
		`{"children":[{"env":{"a":1}}]}`:                              "children[0].env.a must be text",
		`{"children":[{"program":1}],"detach":true,"fail_fast":true}`: "detach waits for nobody",
		`{"children":[{"program":1}],"all":true}`:                     "unknown argument all",
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", callOf("agent.delegate", args, true))
		require.Contains(t, jsonOf(s, id), `"code":"TOOL_ARGS_INVALID"`, args)
		require.Contains(t, jsonOf(s, id), rule, args)
		s.Check()
	}
}
