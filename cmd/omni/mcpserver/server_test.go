package mcpserver

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/transport/client"
)

// The life of a service over both transports: it is started, waited for, sent to, read,
// held, let go and ended, and all of it is in its history.
func TestAgentsOverBothTransports(t *testing.T) {
	s := New(kernel(t), Options{Version: "test"})
	for name, p := range map[string]*peer{"stdio": overStdio(t, s), "http": overHTTP(t, served(t, s, Door{}))} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			started := p.call("agent_start", a{
				"script": "def main(input):\n    m = must(receive())\n    remember('orders/' + input, m)\n    return {'got': m}\n",
				"input":  name, "mode": "service", "name": name, "labels": a{"over": name},
				"grants": []a{{"effect": "ALLOW", "action": "memory.*", "resource": "**"}, {"effect": "ALLOW", "action": "tool.call", "resource": "*"}},
			})
			id := started["agent_id"]
			waited := p.call("agent_wait", a{"agent": id, "timeout_ms": 1})
			assert.Equal(t, false, waited["settled"], waited)
			assert.Equal(t, whyTime, waited["why"])

			p.call("agent_send", a{"agent": id, "message": a{"n": 7}})
			waited = p.call("agent_wait", a{"agent": id, "timeout_ms": 60000})
			assert.Equal(t, whyIdle, waited["why"])
			assert.Equal(t, a{"got": a{"n": 7.0}}, waited["agent"].(a)["result"])
			assert.Equal(t, a{"n": 7.0}, p.call("memory_get", a{"agent": id, "key": "orders/" + name})["value"])
			assert.Len(t, p.call("memory_list", a{"agent": id, "prefix": "orders"})["keys"], 1)

			page := p.call("agent_list", a{"labels": a{"over": name}, "limit": 5.0})
			require.Len(t, page["agents"], 1)
			assert.Equal(t, id, page["agents"].([]any)[0].(a)["agent_id"])
			assert.Equal(t, []any{a{"name": "echo", "effects": []any{"ALLOW"}}}, slices.DeleteFunc(p.call("agent_tools", a{"agent": id})["tools"].([]any), func(v any) bool { return v.(a)["name"] != "echo" }))

			assert.Equal(t, "RESUMABLE", p.call("agent_suspend", a{"agent": id, "reason": "lunch"})["state"])
			assert.Equal(t, "ACTIVE", p.call("agent_resume", a{"agent": id})["state"])
			p.call("agent_submit", a{"agent": id, "script": "def main(input):\n    return input * 2\n", "input": 21})
			assert.Equal(t, 42.0, p.call("agent_wait", a{"agent": id})["agent"].(a)["result"])
			assert.Equal(t, "TERMINATED", p.call("agent_kill", a{"agent": id, "reason": "enough"})["state"])
			assert.Equal(t, whyEnded, p.call("agent_wait", a{"agent": id})["why"])

			var states []string
			for from := any(0); from != nil; {
				page := p.call("agent_history", a{"agent": id, "limit": 2, "from": from})
				for _, row := range page["transitions"].([]any) {
					states = append(states, row.(a)["to"].(string))
				}
				from = page["next"]
			}
			assert.Equal(t, "SPAWNED ACTIVE WAITING ACTIVE WAITING ACTIVE RESUMABLE ACTIVE FAULTED TERMINATED", strings.Join(slices.DeleteFunc(states, func(s string) bool { return s == "DEFINED" }), " "))
			assert.Equal(t, "DEFINED", p.call("agent_define", a{"program": a{"kind": "LITERAL", "payload": a{"value": 1}}})["state"])
			assert.NotEmpty(t, p.call("log_read", a{"agent": id})["records"])
			assert.Len(t, p.call("agent_tree", a{"agent": id})["agents"], 1)
			assert.Equal(t, "n1", p.call("cluster_status", nil)["leader"])
			assert.Empty(t, p.call("run_list", nil)["runs"])
			assert.Contains(t, p.call("tool_list", nil)["built_in"], "echo")
		})
	}
}

// An agent that asks is told of, and goes on with the decision.
func TestDecisions(t *testing.T) {
	p := overStdio(t, New(kernel(t), Options{}))
	start := echoes("a payment")
	start["wait_ms"] = 60000
	stands := p.call("agent_start", start)
	assert.Equal(t, whyDecision, stands["why"])
	assert.Equal(t, "WAITING", stands["agent"].(a)["state"])
	id := stands["agent_id"]
	open := p.call("escalation_list", a{"agent": id})["escalations"].([]any)
	require.Len(t, open, 1)
	assert.Equal(t, "a payment", open[0].(a)["args"])
	assert.Equal(t, "ESCALATE", p.call("permission_explain", a{"agent": id, "action": "tool.call", "resource": "echo"})["verdict"])
	p.call("escalation_deny", a{"escalation": open[0].(a)["escalation"], "reason": "too much"})
	stands = p.call("agent_wait", a{"agent": id})
	assert.Equal(t, whyEnded, stands["why"])
	assert.Equal(t, "PERMISSION_DENIED", stands["agent"].(a)["result"].(a)["code"])
	again := p.refused("escalation_approve", a{"escalation": open[0].(a)["escalation"]})
	assert.Equal(t, true, again["definite"], again)
}

// A call that waits for a person's answer is told of, and goes on with it.
func TestTasks(t *testing.T) {
	c := kernel(t)
	p := overStdio(t, New(c, Options{}))
	_, err := c.RegisterTool(t.Context(), event.RegisterTool{Manifest: tools.Manifest{Name: "ask.me", Adapter: "human", Description: "May I?"}})
	require.NoError(t, err)
	asks := func() (agent string, task any) {
		stands := p.call("agent_start", a{
			"program": a{"kind": "CALL", "payload": a{"tool": "ask.me", "args": "${input}", "handle": true}}, "input": "a question",
			"grants": []a{{"effect": "ALLOW", "action": "tool.call", "resource": "ask.me"}}, "wait_ms": 60000,
		})
		require.Equal(t, whyTask, stands["why"])
		agent = stands["agent_id"].(string)
		open := p.call("task_list", a{"agent": agent})["tasks"].([]any)
		require.Len(t, open, 1)
		assert.Equal(t, []any{"a question", "May I?"}, []any{open[0].(a)["args"], open[0].(a)["description"]})
		return agent, open[0].(a)["task"]
	}
	agent, task := asks()
	p.call("task_complete", a{"task": task, "result": a{"yes": true}})
	result := p.call("agent_wait", a{"agent": agent})["agent"].(a)["result"].(a)
	assert.Equal(t, a{"yes": true}, result["value"])
	p.refused("task_reject", a{"task": task})
	agent, task = asks()
	p.call("task_reject", a{"task": task, "reason": "not today"})
	result = p.call("agent_wait", a{"agent": agent})["agent"].(a)["result"].(a)
	assert.Equal(t, "TASK_REJECTED", result["code"])
}

// TO-17: what is wrong is told with its code, field and rule, before anything is sent or by the
// cluster.
func TestRefusalsSayWhy(t *testing.T) {
	p := overStdio(t, New(kernel(t), Options{}))
	for _, c := range []struct {
		tool              string
		arguments         any
		code, field, rule string
	}{
		{"agent_get", a{}, "INVALID_ARGUMENT", "", "must have the member agent"},
		{"agent_get", a{"agent": 7}, "INVALID_ARGUMENT", "agent", "must be of type string"},
		{"agent_get", a{"agent": "x", "Agent": "y"}, "INVALID_ARGUMENT", "", `must not have the member Agent`},
		{"agent_get", json.RawMessage(`{"agent":"x","agent":"y"}`), "INVALID_ARGUMENT", "agent", "the key is repeated"},
		{"agent_get", a{"agent": "018f4e5c-0000-7000-8000-000000000001"}, "NOT_FOUND", "", ""},
		{"agent_list", a{"limit": 0}, "INVALID_ARGUMENT", "limit", "must be at least 1"},
		{"agent_list", a{"limit": 201}, "INVALID_ARGUMENT", "limit", "must be at most 200"},
		{"agent_list", a{"limit": 1.5}, "INVALID_ARGUMENT", "limit", "must be of type integer"},
		{"agent_list", a{"state": "SLEEPY"}, "INVALID_ARGUMENT", "state", "must be one of the values that the schema lists"},
		{"agent_history", json.RawMessage(`{"agent":"x","from":9007199254740993}`), "INVALID_ARGUMENT", "from", ""},
		{"agent_wait", a{"agent": "x", "timeout_ms": 60001}, "INVALID_ARGUMENT", "timeout_ms", "must be at most 60000"},
		{"agent_start", a{"program": a{"kind": "LITERAL", "payload": a{}}, "script": "x"}, "INVALID_ARGUMENT", "script", "there is a program or a script, not both"},
		{"agent_start", a{"grants": []a{{"effect": "MAYBE", "action": "tool.call", "resource": "x"}}}, "INVALID_ARGUMENT", "grants[0].effect", "must be one of the values that the schema lists"},
		{"agent_start", a{"budget": a{"warn_percent": 101}}, "INVALID_ARGUMENT", "budget.warn_percent", "must be at most 100"},
		{"agent_start", a{"program": a{"kind": "LITERAL", "payload": a{"value": 1}}, "max_depth": 4294967296}, "INVALID_ARGUMENT", "max_depth", "must be at most 4294967295"},
		{"agent_send", a{"agent": "x"}, "INVALID_ARGUMENT", "", "must have the member message"},
		{"agent_send", a{"agent": "x", "message": 1, "idempotency_key": "ä"}, "INVALID_ARGUMENT", "Idempotency-Key", "must be printable ASCII"},
		{"escalation_approve", a{"escalation": 0}, "INVALID_ARGUMENT", "escalation", "must be at least 1"},
		{"memory_get", a{"agent": "x", "namespace": "y", "key": "z"}, "INVALID_ARGUMENT", "agent", "must be given, or namespace instead, and not both"},
		{"memory_list", a{}, "INVALID_ARGUMENT", "agent", "must be given, or namespace instead, and not both"},
		{"cluster_status", a{"node": "n1"}, "INVALID_ARGUMENT", "", "must not have the member node"},
	} {
		got := p.refused(c.tool, c.arguments)
		assert.Equal(t, c.code, got["code"], "%v: %v", c, got)
		assert.Equal(t, true, got["definite"])
		if c.field != "" || c.code == "INVALID_ARGUMENT" {
			field, _ := got["field"].(string)
			assert.Equal(t, c.field, field, "%v: %v", c, got)
		}
		if c.rule != "" {
			assert.Equal(t, c.rule, got["rule"], "%v: %v", c, got)
		}
	}
	script := p.refused("agent_start", a{"script": "def main(input)\n    pass\n"})
	assert.Contains(t, script["field"], "program", script)
	takes := a{"script": "def main(input):\n    return input\n", "input_schema": a{"type": "object", "required": []any{"city"}}, "input": a{}}
	got := p.refused("agent_start", takes)
	assert.Equal(t, []any{"INVALID_ARGUMENT", "must have the member city"}, []any{got["code"], got["rule"]}, got)
	takes["input"], takes["wait_ms"] = a{"city": "Oslo"}, 60000
	assert.Equal(t, a{"city": "Oslo"}, p.call("agent_start", takes)["agent"].(a)["result"])
}

// TO-17: a call with a key takes effect once, and the key is for that call only.
func TestIdempotencyKey(t *testing.T) {
	p := overStdio(t, New(kernel(t), Options{}))
	start := a{"program": a{"kind": "LITERAL", "payload": a{"value": 1}}, "idempotency_key": "mine"}
	first, second := p.call("agent_start", start), p.call("agent_start", start)
	assert.Equal(t, first["agent_id"], second["agent_id"])
	assert.Equal(t, []any{false, true}, []any{first["repeated"], second["repeated"]})
	start["name"] = "another"
	assert.Equal(t, "SEQUENCE_REUSED", p.refused("agent_start", start)["code"])
	assert.Len(t, p.call("agent_list", nil)["agents"], 1)
}

// TO-17: nobody who may only look is offered anything else.
func TestReadOnly(t *testing.T) {
	p := overStdio(t, New(kernel(t), Options{ReadOnly: true}))
	list, err := p.session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, list.Tools)
	for _, tool := range list.Tools {
		assert.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
		assert.NotRegexp(t, "start|define|submit|send|suspend|resume|kill|approve|deny|call", tool.Name)
	}
	_, err = p.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "agent_kill", Arguments: a{"agent": "x"}})
	assert.ErrorContains(t, err, "unknown tool")
	p.call("agent_list", nil)
}

// TO-17: a page ends before it is larger than a result may be, and the next one goes on where
// it ended.
func TestPagesFit(t *testing.T) {
	p := overStdio(t, New(kernel(t), Options{}))
	const asked = 9
	for range asked {
		p.call("agent_start", echoes(strings.Repeat("x", 60<<10)))
	}
	var seen []any
	pages := 0
	for after := any(0); after != nil; pages++ {
		page := p.call("escalation_list", a{"after": after, "limit": asked})
		for _, open := range page["escalations"].([]any) {
			seen = append(seen, open.(a)["escalation"])
		}
		after = page["next"]
	}
	assert.Len(t, seen, asked)
	assert.Equal(t, seen, slices.Compact(slices.Clone(seen)))
	assert.Equal(t, 3, pages, "four of 60 KiB to 256 KiB")

	_, err := fitting([]string{strings.Repeat("x", maxResultBytes)})
	assert.ErrorIs(t, err, err)
	assert.Equal(t, codeResultTooLarge, refusalOf(err).Code)
	assert.True(t, answered(strings.Repeat("x", maxResultBytes)).IsError)
}

// A panic in a tool is its result, and the server goes on; what it panicked with is
// told to the operator only.
func TestPanicIsAResult(t *testing.T) {
	var told any
	s := New(kernel(t), Options{Panicked: func(_ string, cause any, _ []byte) { told = cause }})
	broken := reading("broken", "panics", func(context.Context, *client.Client, struct{}) (any, error) { panic("hunter2") })
	s.mcp.AddTool(broken.Tool, s.handler(broken))
	p := overStdio(t, s)
	got := p.refused("broken", nil)
	assert.Equal(t, "INTERNAL", got["code"])
	assert.NotContains(t, got["message"], "hunter2")
	assert.Equal(t, "hunter2", told)
	p.call("agent_list", nil)
}

// docs/mcp.md lists every tool, in the order of the catalog, and says which change
// nothing.
func TestDocumentListsTheTools(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "mcp.md"))
	require.NoError(t, err)
	var documented, there []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (reads|changes) \\|").FindAllStringSubmatch(string(content), -1) {
		documented = append(documented, row[1]+" "+row[2])
	}
	for _, tool := range catalog() {
		kind := "changes"
		if tool.reads {
			kind = "reads"
		}
		there = append(there, tool.Name+" "+kind)
	}
	assert.Equal(t, there, documented)
}
