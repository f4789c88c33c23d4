package agentcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// subject is an agent file, as the command line reads one.
func subject(t *testing.T, src string) Subject {
	t.Helper()
	f, err := agentfile.Parse("agent.yaml", []byte(src), agentfile.Agent)
	require.NoError(t, err, src)
	s := Subject{File: f}
	require.NoError(t, json.Unmarshal(f.Document(), &s.Define))
	if text := f.JSON("script"); text != nil {
		var source string
		require.NoError(t, json.Unmarshal(text, &source))
		s.Define.Evaluator, s.Define.Program = script.Name, value.AppendString(nil, source)
	}
	return s
}

func checked(t *testing.T, s Subject) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return Check(ctx, s)
}

// found is the report's findings, each as severity, line:column, rule and message.
func found(r *Report) []string {
	all := []string{}
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s %d:%d %s: %s", f.Severity, f.Line, f.Column, f.Rule, f.Message))
	}
	return all
}

func fromJSON(t *testing.T, src string) value.Raw {
	t.Helper()
	raw, problem := value.FromJSON([]byte(src), 1<<20)
	require.Nil(t, problem)
	return raw
}

const everything = "grants:\n  - {effect: ALLOW, action: tool.*, resource: '**'}\n  - {effect: ALLOW, action: memory.*, resource: '**'}\n" +
	"  - {effect: ALLOW, action: agent.*, resource: '**'}\n"

// What is seen in the text of a program, where it stands.
func TestFindings(t *testing.T) {
	anything := "grants: [{effect: ALLOW, action: tool.*, resource: '**'}]\n"
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"nothing", "script: |\n  def main(input):\n      return 1\n", []string{}},
		{"no program", "name: a\n", []string{"error 0:0 compile: the agent has no program"}},
		{"syntax", "script: |\n  def main(input):\n      return (1\n", []string{`error 4:3 compile: INVALID_PROGRAM: script:3:1: the script cannot be read here`}},
		{"a name", "script: |\n  def main(input):\n      return nobody\n", []string{`error 3:14 compile: INVALID_PROGRAM: script:2:12: nothing is named "nobody"`}},
		{"instruction", "program:\n  kind: SEQ\n  payload:\n    steps:\n      - {kind: JUMP, payload: {}}\n", []string{"error 5:10 compile: INVALID_PROGRAM: unknown kind of instruction"}},
		{"grants", "grants: [{effect: ALLOW, action: tool.call, resource: a//b}]\nprogram: {kind: LITERAL, payload: {value: 1}}\n", []string{"error 1:45 compile: INVALID_ARGUMENT: must not have an empty segment"}},
		{"schema", "input: {type: objekt}\nprogram: {kind: LITERAL, payload: {value: 1}}\n", []string{"error 1:1 compile: INVALID_ARGUMENT: is no JSON Schema (draft 2020-12) that compiles"}},
		{"near a tool", anything + "script: |\n  def main(input):\n      call('http.reqest')\n", []string{"error 4:7 unknown-tool: there is no tool http.reqest"}},
		{"unknown tool", anything + "script: |\n  def main(input):\n      gather([('echo', 1), ('crm.get', {'id': 1})])\n", []string{
			"warning 4:28 unknown-tool: the tool crm.get is not built in, and no manifest of it was given"}},
		{"unknown tool of std/1", anything + "program:\n  kind: PARALLEL\n  payload: {calls: [{tool: echo}, {tool: crm.get}]}\n", []string{
			"warning 4:35 unknown-tool: the tool crm.get is not built in, and no manifest of it was given"}},
		{"computed names", anything + "script: |\n  def main(input):\n      for tool in []:\n          call(tool)\n", []string{}},
		{"no grant", "script: |\n  def main(input):\n      call('echo')\n      sleep(5)\n      remember('k', 1)\n      recall('k', namespace='n')\n", []string{
			"error 3:7 grant: no grant allows tool.call on echo", "error 4:7 grant: no grant allows tool.call on timer.sleep",
			"error 5:7 grant: no grant allows memory.write on self/k", "error 6:7 grant: no grant allows shared.read on n/k"}},
		{"no grant of std/1", "program: {kind: SEQ, payload: {steps: [{kind: WRITE, payload: {key: k, value: 1}}, {kind: WAIT, payload: {ms: 5}}, {kind: RECEIVE, payload: {}}]}}\n", []string{
			"error 1:40 grant: no grant allows memory.write on self/k", "error 1:84 grant: no grant allows tool.call on timer.sleep", "error 1:116 grant: no grant allows tool.call on mailbox.receive"}},
		{"another's grant", "grants: [{effect: ALLOW, action: tool.call, resource: http.request/GET/a/**}]\nscript: |\n  def main(input):\n      call('http.request', {'method': 'POST', 'url': input})\n      call('http.request', {'method': 'GET', 'url': input})\n      call('http.request', input)\n", []string{
			"error 4:7 grant: no grant allows tool.call on http.request/POST/**"}},
		{"denied", "grants: [{effect: ALLOW, action: tool.call, resource: '**'}, {effect: DENY, action: tool.call, resource: http.request/**}]\nscript: |\n  def main(input):\n      call('http.request', input)\n", []string{
			"error 4:7 grant: a DENY forbids tool.call on http.request/*/**"}},
		{"escalated is no finding", "grants: [{effect: ESCALATE, action: tool.call, resource: echo}]\nscript: |\n  def main(input):\n      call('echo')\n", []string{}},
		{"a loop", "script: |\n  def main(input):\n      for i in range(2000):\n          for j in range(1000):\n              pass\n", []string{
			"error 4:11 unbounded-loop: the loop goes on for 2000000 rounds, and a script has 1000000 steps: it ends with WORK_EXCEEDED"}},
		{"a loop that may end", "script: |\n  def main(input):\n      for i in range(1 << 40):\n          if i > 3:\n              break\n", []string{
			"warning 3:7 unbounded-loop: the loop may go on for 1099511627776 rounds, and a script has 1000000 steps"}},
		{"calls", anything + "script: |\n  def main(input):\n      for i in range(1001):\n          call('echo', i)\n", []string{
			"error 4:7 unbounded-loop: the loop makes 1001 calls, and a tick at most 1000: it ends with CALL_OVERFLOW"}},
		{"recursion", "script: |\n  def f(n):\n      return f(n - 1)\n  def main(input):\n      return f(3)\n", []string{
			"error 3:14 unbounded-loop: the function f calls itself, which no script may"}},
		{"again", "script: |\n  def main(input):\n      again(1)\n", []string{"warning 3:7 unbounded-loop: main always begins again: an agent of mode task never completes"}},
		{"again of a service", "mode: service\nscript: |\n  def main(input):\n      again(1)\n", []string{}},
		{"a loop of std/1", "program: {kind: LOOP, payload: {max: 200, do: {kind: LOOP, payload: {max: 100, do: {kind: LITERAL, payload: {value: 1}}}}}}\n", []string{
			"error 1:43 unbounded-loop: the loop goes on for 20000 rounds, and a tick has 10000 steps: it ends with TICK_OVERFLOW"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := subject(t, c.src)
			s.NoRun = true
			r := checked(t, s)
			assert.Equal(t, c.want, found(r))
			assert.Nil(t, r.Run)
			assert.Equal(t, !strings.Contains(strings.Join(c.want, "\n"), "error "), r.OK)
		})
	}
}

// What the text of a program needs is refused in the check exactly where the kernel
// refuses it: both go by the same patterns.
func TestGrantsAreJudgedAsByTheKernel(t *testing.T) {
	uses := []string{
		"call('echo', {})", "call('http.request', {'method': 'GET', 'url': 'http://a/b'})", "call('http.request', {'url': 'http://a/b/c'})",
		"call('crm.get', {'org': 'acme', 'id': 7})", "recall('notes/x')", "remember('notes/x', 1)", "recall('k', namespace='team')",
		"remember('k', 1, namespace='team')", "receive(timeout_ms=5)", "sleep(1)",
	}
	lists := [][]permissions.Grant{
		nil, {{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}},
		{{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/GET/a/**"}, {Effect: permissions.Deny, Action: "tool.call", Resource: "*/*/*/b"}},
		{{Effect: permissions.Allow, Action: "tool.call", Resource: "crm.get/acme/*"}, {Effect: permissions.Escalate, Action: "memory.*", Resource: "self/notes/**"}},
		{{Effect: permissions.Allow, Action: "shared.read", Resource: "team/**"}, {Effect: permissions.Allow, Action: "tool.*", Resource: "timer.sleep"}},
		{{Effect: permissions.Allow, Action: "tool.call", Resource: "*/acme/7"}, {Effect: permissions.Deny, Action: "memory.write", Resource: "self/**"}, {Effect: permissions.Allow, Action: "memory.*", Resource: "**"}},
	}
	crm := &tools.Manifest{Name: "crm.get", Adapter: "http", Segments: []string{"org", "id"}, Input: fromJSON(t, `{"properties":{"org":{"type":"string"},"id":{"type":"integer"}},"required":["org","id"]}`)}
	refused := 0
	for i, list := range lists {
		for _, asked := range uses {
			s := subject(t, "script: |\n  def main(input):\n      return "+asked+".code\n")
			s.Define.Grants, s.Tools, s.AllTools = list, []*tools.Manifest{crm}, true
			r := checked(t, s)
			seen := false
			for _, f := range r.Findings {
				seen = seen || f.Rule == RuleGrant && f.Severity == Error
			}
			require.Len(t, r.Run.Calls, 1)
			denied := r.Run.Calls[0].Code == "PERMISSION_DENIED"
			assert.Equal(t, denied, seen, "list %d: %s: %v", i, asked, found(r))
			if denied {
				refused++
			}
		}
	}
	assert.Equal(t, 46, refused)
}

// Bad scripts end each with its own code, soon.
func TestBadScriptsEnd(t *testing.T) {
	for src, code := range map[string]string{
		"for i in range(1000 * 1000 * 1000):\n          pass":      "WORK_EXCEEDED",
		"return [0] * (1000 * 1000 * 1000)":                        "VALUE_TOO_LARGE",
		"return list(range(1000 * 1000 * 1000))":                   "VALUE_TOO_LARGE",
		"return 'x' * (1000 * 1000 * 1000)":                        "VALUE_TOO_LARGE",
		"return [x for x in range(1000 * 1000 * 1000)]":            "WORK_EXCEEDED",
		"for i in range(2000):\n          call('echo', i)":         "CALL_OVERFLOW",
		"return input.nothing":                                     "EVAL_FAILURE",
		"fail('so it is')":                                         "PROGRAM_FAILED",
		"return must(call('none.such'))":                           "TOOL_UNKNOWN",
		"x = []\n      for i in range(70000):\n          x += [i]": "VALUE_TOO_LARGE",
	} {
		began := time.Now()
		r := checked(t, subject(t, everything+"script: |\n  def main(input):\n      "+src+"\n"))
		assert.Less(t, time.Since(began), 30*time.Second, src)
		require.NotNil(t, r.Run, src)
		if assert.NotNil(t, r.Run.Failure, src) {
			assert.Equal(t, code, r.Run.Failure.Code, src)
		}
		assert.False(t, r.OK)
		at := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Rule == RuleRun })
		if assert.GreaterOrEqual(t, at, 0, "%s: %v", src, found(r)) {
			assert.Equal(t, "script", r.Findings[at].Field, src)
			assert.GreaterOrEqual(t, r.Findings[at].Line, 5, src)
		}
	}
}
