package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// crm is a tool that is registered; its calls are judged by the argument id.
func crm(version string) tools.Manifest {
	return tools.Manifest{Name: "crm.get", Version: version, Adapter: "http", Idempotent: true, Segments: []string{"id"}}
}

func callCRM(args string) string {
	return `{"kind":"CALL","payload":{"tool":"crm.get","handle":true,"args":` + args + `}}`
}

func outbox(s *kerneltest.Sim) (calls []tools.Call) {
	st := s.State()
	st.Tools.All(func(c *tools.Call) bool { calls = append(calls, *c); return true })
	return calls
}

// TO-9: a registered tool is called like any other: judged by its name and the
// arguments that its manifest names, with the manifest's time, and known by the
// busSeq of its registration.
func TestRegisteredToolIsCalled(t *testing.T) {
	s := kerneltest.New(t, 2)
	m := crm("1")
	m.TimeoutMillis = 700
	revision := s.Register(m)
	assert.Equal(t, bus.ToolRegistered, kindAt(s, revision))
	id := s.Start(event.Define{Mode: "service", Grants: freely, Program: kerneltest.JSON(t, callCRM(`{"id":"acme"}`))}, nil)
	calls := outbox(s)
	require.Len(t, calls, 1)
	st := s.State()
	assert.Equal(t, "crm.get/acme", calls[0].Resource)
	assert.Equal(t, revision, calls[0].Revision)
	assert.True(t, calls[0].Idempotent)
	assert.Equal(t, kerneltest.Start+700+st.Config.CallGraceMillis, calls[0].Deadline)
	s.Answer(true, "found")
	assert.Equal(t, "found", s.Row(id).Execution.Result.Value.ToGo().(map[string]any)["value"])
	s.Check()
}

func kindAt(s *kerneltest.Sim, seq uint64) bus.Kind {
	for _, r := range s.All() {
		if r.Seq == seq {
			return bus.Kind(r.Kind)
		}
	}
	return 0
}

// TO-9: a running call keeps the revision that it was requested with, though the
// tool is registered anew and taken away meanwhile; when it ends, nobody needs it.
func TestRunningCallKeepsItsRevision(t *testing.T) {
	s := kerneltest.New(t, 2)
	first := s.Register(crm("1"))
	one := s.Start(event.Define{Mode: "service", Grants: freely, Program: kerneltest.JSON(t, callCRM(`{"id":1}`))}, nil)
	second := s.Register(crm("2"))
	require.Greater(t, second, first)
	two := s.Start(event.Define{Mode: "service", Grants: freely, Program: kerneltest.JSON(t, callCRM(`{"id":2}`))}, nil)
	require.Empty(t, s.Deregister("crm.get").Refusal)
	three := s.Start(event.Define{Mode: "service", Grants: freely, Program: kerneltest.JSON(t, callCRM(`{"id":3}`))}, nil)
	assert.Equal(t, "TOOL_UNKNOWN", answerOf(s, three)["code"])
	calls := outbox(s)
	require.Len(t, calls, 2)
	assert.Equal(t, []uint64{first, second}, []uint64{calls[0].Revision, calls[1].Revision})
	st := s.State()
	kept, ok := st.Tools.Revision(first)
	require.True(t, ok)
	assert.Equal(t, "1", kept.Manifest.Version)
	s.Answer(true, "old")
	s.Answer(true, "new")
	assert.Equal(t, "old", answerOf(s, one)["value"])
	assert.Equal(t, "new", answerOf(s, two)["value"])
	st = s.State()
	assert.Zero(t, st.Tools.Revisions())
	s.Check()
}

func answerOf(s *kerneltest.Sim, id string) map[string]any {
	s.T.Helper()
	result := s.Row(id).Execution.Result
	require.NotNil(s.T, result, "%s", s.StateOf(id))
	return result.Value.ToGo().(map[string]any)
}

// TO-9: the same manifest again changes nothing, and the answer has the revision
// that there is.
func TestSameManifestChangesNothing(t *testing.T) {
	s := kerneltest.New(t, 1)
	revision := s.Register(crm("1"))
	assert.Equal(t, revision, s.Register(crm("1")))
	assert.Zero(t, s.Count(bus.ToolRegistered))
	assert.Greater(t, s.Register(crm("2")), revision)
	assert.Equal(t, 1, s.Count(bus.ToolRegistered))
	s.Check()
}

// TO-9: who decided about a call decided about the tool as it was: once it is
// another, or gone, the call is refused, and not made as something else.
func TestApprovalIsOfTheToolAsItWas(t *testing.T) {
	for name, change := range map[string]func(*kerneltest.Sim){
		"registered anew": func(s *kerneltest.Sim) { s.Register(crm("2")) },
		"deregistered":    func(s *kerneltest.Sim) { s.Deregister("crm.get") },
	} {
		s := kerneltest.New(t, 1)
		s.Register(crm("1"))
		grants := append([]permissions.Grant{grant(permissions.Escalate, "crm.get/**")}, freely...)
		id := s.Start(event.Define{Mode: "service", Grants: grants, Program: kerneltest.JSON(t, callCRM(`{"id":1}`))}, nil)
		require.Equal(t, lifecycle.Waiting, s.StateOf(id))
		change(s)
		require.Empty(t, s.Decide(s.Escalation(), true).Refusal)
		assert.Equal(t, "TOOL_UNKNOWN", answerOf(s, id)["code"], name)
		assert.Empty(t, outbox(s), name)
		s.Check()
	}
}

// TO-9, RU-6: so it is with a call that waited for room in a budget.
func TestWaiterIsOfTheToolAsItWas(t *testing.T) {
	s := kerneltest.New(t, 1)
	m := crm("1")
	m.Cost = tools.Cost{Tokens: 60, USDMicros: 5}
	s.Register(m)
	id := s.Start(event.Define{Mode: "service", Grants: freely, Budget: &event.Budget{Tokens: 100}, Program: kerneltest.JSON(t, `
		{"kind":"PARALLEL","payload":{"calls":[{"tool":"crm.get","args":{"id":1},"handle":true},{"tool":"crm.get","args":{"id":2},"handle":true},
		{"tool":"crm.get","args":{"id":3},"handle":true}]}}`)}, nil)
	require.Len(t, outbox(s), 1)
	assert.Equal(t, budgets.Amounts{Tokens: 60, USDMicros: 5}, account(s, id).Reserved, "what the manifest says")
	require.EqualValues(t, 2, account(s, id).Waiting)
	used(s, s.Pending[0], 1)
	require.Len(t, outbox(s), 1, "the second goes as it was judged")
	s.Pending = nil
	s.Register(crm("2"))
	used(s, outbox(s)[0].Key, 1)
	assert.Equal(t, []any{"1", "1", "TOOL_UNKNOWN"}, allOf(s, id))
	s.Check()
}

func allOf(s *kerneltest.Sim, id string) (all []any) {
	result := s.Row(id).Execution.Result
	require.NotNil(s.T, result, "%s", s.StateOf(id))
	for _, one := range result.Value.ToGo().([]any) {
		answer := one.(map[string]any)
		if answer["ok"].(bool) {
			all = append(all, fmt.Sprint(answer["value"]))
			continue
		}
		all = append(all, answer["code"])
	}
	return all
}

// PE-1: what an argument could be read as in two ways is refused before anything
// is judged.
func TestArgumentsThatMakeNoSegment(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Register(crm("1"))
	for args, want := range map[string]string{
		`{}`:                "id is missing: the call is judged by it",
		`{"id":null}`:       "id must be a string or an integer: the call is judged by it",
		`{"id":1.5}`:        "id must be a string or an integer: the call is judged by it",
		`{"id":""}`:         "id must be 1 to 256 bytes: the call is judged by it",
		`{"id":"a/b"}`:      "id must not have a slash, a backslash, a star or a control character: the call is judged by it",
		`{"id":"*"}`:        "id must not have a slash, a backslash, a star or a control character: the call is judged by it",
		`{"id":"a\u0000b"}`: "id must not have a slash, a backslash, a star or a control character: the call is judged by it",
		`{"id":".."}`:       "id must not be . or .. : the call is judged by it",
		`"acme"`:            "id is missing: the call is judged by it",
	} {
		before := s.Count(bus.Allow) + s.Count(bus.Deny)
		id := s.Start(event.Define{Mode: "service", Grants: freely, Program: kerneltest.JSON(t, callCRM(args))}, nil)
		answer := answerOf(s, id)
		assert.Equal(t, []any{"TOOL_ARGS_INVALID", want}, []any{answer["code"], answer["message"]}, args)
		assert.Equal(t, before, s.Count(bus.Allow)+s.Count(bus.Deny), args)
	}
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, callCRM(`{"id":-7}`)),
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "crm.get/-7"}}}, nil)
	assert.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Check()
}

// TO-9: tools, with earlier revisions that calls still run with, are bounded.
func TestToolsAreBounded(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxTools = 2 })
	s.Register(crm("1"))
	id := s.Start(event.Define{Mode: "service", Grants: freely, Program: kerneltest.JSON(t, callCRM(`{"id":1}`))}, nil)
	s.Register(crm("2"))
	other := event.RegisterTool{Manifest: tools.Manifest{Name: "other", Adapter: "http"}}
	refused := s.Command(event.ToolRegister, other).Refusal
	assert.Equal(t, failure.LimitReached, refused.Code)
	assert.Equal(t, "there are as many tools, and revisions that calls still run with, as max_tools allows, which is 2", refused.Rule)
	s.Register(crm("3")) // in the place of the second, with which no call runs
	s.Kill(id)
	s.Must(event.ToolRegister, other)
	s.Check()
}

// TO-9: what is wrong with a manifest is told by its field.
func TestManifestsThatAreRefused(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxManifestBytes = 200 })
	for field, change := range map[string]func(*tools.Manifest){
		"manifest.name":               func(m *tools.Manifest) { m.Name = "memory.all" },
		"manifest.adapter":            func(m *tools.Manifest) { m.Adapter = "" },
		"manifest.version":            func(m *tools.Manifest) { m.Version = string(make([]byte, 65)) },
		"manifest.timeout_ms":         func(m *tools.Manifest) { m.TimeoutMillis = 30*24*3_600_000 + 1 },
		"manifest.retry.max_attempts": func(m *tools.Manifest) { m.Retry.MaxAttempts = 21 },
		"manifest.retry.backoff_ms":   func(m *tools.Manifest) { m.Retry.BackoffMillis = -1 },
		"manifest.concurrency":        func(m *tools.Manifest) { m.Concurrency = 10_001 },
		"manifest.cost.tokens":        func(m *tools.Manifest) { m.Cost.Tokens = tools.MaxCost + 1 },
		"manifest.secrets[1]":         func(m *tools.Manifest) { m.Secrets = []string{"A", "A"} },
		"manifest.secrets[0]":         func(m *tools.Manifest) { m.Secrets = []string{"a b"} },
		"manifest.resource[0]":        func(m *tools.Manifest) { m.Segments = []string{""} },
		"manifest.config":             func(m *tools.Manifest) { m.Config = kerneltest.Value(t, []any{1}) },
		"manifest.input":              func(m *tools.Manifest) { m.Input = kerneltest.Value(t, "object") },
		"manifest.output":             func(m *tools.Manifest) { m.Output = []byte{0xff} },
		"manifest":                    func(m *tools.Manifest) { m.Description = string(make([]byte, 300)) },
	} {
		m := crm("1")
		change(&m)
		refused := s.Command(event.ToolRegister, event.RegisterTool{Manifest: m}).Refusal
		assert.Equal(t, field, refused.Field, "%s", refused.Rule)
	}
	for _, name := range []string{"echo", "http.request", "agent.delegate", "agent.x", "tool", "A.b", "a..b", "a/b", ""} {
		m := crm("1")
		m.Name = name
		refused := s.Command(event.ToolRegister, event.RegisterTool{Manifest: m}).Refusal
		assert.Equal(t, failure.InvalidArgument, refused.Code, name)
		assert.Equal(t, "manifest.name", refused.Field, name)
	}
	assert.Equal(t, failure.NotFound, s.Deregister("crm.get").Refusal.Code)
	assert.Equal(t, failure.InvalidArgument, s.Deregister("echo").Refusal.Code)
	st := s.State()
	assert.Zero(t, st.Tools.Revisions())
	s.Check()
}
