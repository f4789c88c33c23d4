package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// Every bad input gets a definite code, the field, the rule, and changes
// nothing: the log is as long as before (CL-2, EX-10).
func TestBadInputCostsNoLogEntry(t *testing.T) {
	d := newDoor(t)
	key := strings.Repeat("k", 257)
	for _, c := range []struct {
		name, path, body string
		headers          []string
		status           int
		code, field      string
		rule             string // a part of it
	}{
		{name: "malformed JSON", path: "/agents", body: `{"name":`, status: 400, code: "MALFORMED_JSON", field: "name", rule: "line 1, column 9"},
		{name: "NaN", path: "/agents/start", body: `{"agent":{},"input":NaN}`, status: 400, code: "MALFORMED_JSON", field: "input", rule: "expected a value"},
		{name: "two documents", path: "/agents", body: `{} {}`, status: 400, code: "MALFORMED_JSON", field: "body", rule: "nothing after"},
		{name: "repeated key", path: "/agents", body: `{"env":{"a":"1","a":"2"}}`, status: 422, code: "INVALID_VALUE", field: "env.a", rule: "repeated"},
		{name: "repeated key of the body", path: "/agents", body: `{"name":"a","name":"b"}`, status: 422, code: "INVALID_VALUE", field: "name", rule: "repeated"},
		{name: "depth 65", path: "/agents/start", body: `{"agent":{},"input":` + nested(64) + `}`, status: 422, code: "INVALID_VALUE", field: "input" + strings.Repeat("[0]", 63), rule: "deeper than 64"},
		{name: "invalid UTF-8", path: "/agents", body: "{\"name\":\"a\xffb\"}", status: 422, code: "INVALID_VALUE", field: "name", rule: "UTF-8"},
		{name: "lone surrogate", path: "/agents", body: `{"name":"\ud800"}`, status: 422, code: "INVALID_VALUE", field: "name", rule: "UTF-8"},
		{name: "integer beyond 2^53", path: "/agents/start", body: `{"agent":{},"input":9007199254740993}`, status: 422, code: "INVALID_VALUE", field: "input", rule: "2^53"},
		{name: "body is a list", path: "/agents", body: `[]`, status: 422, code: "INVALID_ARGUMENT", field: "body", rule: "must be an object, not a list"},
		{name: "unknown field", path: "/agents", body: `{"nam":"x"}`, status: 422, code: "INVALID_ARGUMENT", field: "nam", rule: "unknown field"},
		{name: "unknown field inside", path: "/agents/start", body: `{"agent":{"grants":[{"effect":"ALLOW","verb":"x"}]}}`, status: 422, code: "INVALID_ARGUMENT", field: "agent.grants[0].verb", rule: "unknown field"},
		{name: "wrong type", path: "/agents", body: `{"name":7}`, status: 422, code: "INVALID_ARGUMENT", field: "name", rule: "must be text, not an integer"},
		{name: "wrong type of a label", path: "/agents", body: `{"labels":{"team":1}}`, status: 422, code: "INVALID_ARGUMENT", field: "labels.team", rule: "must be text"},
		{name: "null label", path: "/agents", body: `{"labels":{"team":null}}`, status: 422, code: "INVALID_ARGUMENT", field: "labels.team", rule: "must be text"},
		{name: "id is no UUID", path: "/agents", body: `{"id":"x"}`, status: 422, code: "INVALID_ARGUMENT", field: "id", rule: "UUID"},
		{name: "unknown evaluator", path: "/agents", body: `{"evaluator":"std/9"}`, status: 422, code: "INVALID_ARGUMENT", field: "evaluator", rule: "std/1"},
		{name: "unknown mode", path: "/agents", body: `{"mode":"batch"}`, status: 422, code: "INVALID_ARGUMENT", field: "mode", rule: "task or service"},
		{name: "unknown effect", path: "/agents", body: `{"grants":[{"effect":"PERHAPS","action":"tool.call","resource":"echo"}]}`, status: 422, code: "INVALID_ARGUMENT", field: "grants[0].effect", rule: "ALLOW, DENY or ESCALATE"},
		{name: "no definition", path: "/agents/start", body: `{"input":1}`, status: 422, code: "INVALID_ARGUMENT", field: "agent", rule: "is required"},
		{name: "unknown instruction", path: "/agents", body: `{"program":{"kind":"JUMP"}}`, status: 422, code: "INVALID_PROGRAM", field: "program.kind", rule: ""},
		{name: "unknown instruction inside", path: "/agents/start", body: `{"agent":{"program":{"kind":"SEQ","payload":{"steps":[{"kind":"JUMP"}]}}}}`, status: 422, code: "INVALID_PROGRAM", field: "agent.program.payload.steps[0].kind", rule: ""},
		{name: "expression that does not compile", path: "/agents/start", body: `{"agent":{"program":{"kind":"LITERAL","payload":{"value":"${1 +}"}}}}`, status: 422, code: "INVALID_PROGRAM", field: "agent.program.payload.value", rule: ""},
		{name: "agent is no UUID", path: "/agents/x/kill", body: `{}`, status: 422, code: "INVALID_ARGUMENT", field: "agent", rule: "UUID"},
		{name: "unknown trigger", path: "/agents/" + agentA + "/triggers/jump", body: `{}`, status: 422, code: "INVALID_ARGUMENT", field: "trigger", rule: "lifecycle table"},
		{name: "trigger names the agent twice", path: "/agents/" + agentA + "/triggers/suspend", body: `{"agent":"x"}`, status: 422, code: "INVALID_ARGUMENT", field: "agent", rule: "unknown field"},
		{name: "forced resume", path: "/agents/" + agentA + "/triggers/resume", body: `{"force":true}`, status: 422, code: "INVALID_ARGUMENT", field: "force", rule: "suspend"},
		{name: "force is no boolean", path: "/agents/" + agentA + "/triggers/suspend", body: `{"force":1}`, status: 422, code: "INVALID_ARGUMENT", field: "force", rule: "true or false"},
		{name: "negative depth", path: "/agents", body: `{"max_depth":-1}`, status: 422, code: "INVALID_ARGUMENT", field: "max_depth", rule: "from 0"},
		{name: "teardown that does not compile", path: "/agents", body: `{"teardown":{"kind":"JUMP"}}`, status: 422, code: "INVALID_PROGRAM", field: "teardown.kind", rule: ""},
		{name: "message for nobody", path: "/agents/x/messages", body: `{"message":1}`, status: 422, code: "INVALID_ARGUMENT", field: "agent", rule: "UUID"},
		{name: "reclassified without a reason", path: "/agents/" + agentA + "/reclassify", body: `{}`, status: 422, code: "INVALID_ARGUMENT", field: "reason", rule: "why"},
		{name: "token is no UUID", path: "/tokens/x/revoke", body: `{}`, status: 422, code: "INVALID_ARGUMENT", field: "token", rule: "UUID"},
		{name: "unknown token", path: "/tokens/" + agentB + "/revoke", body: `{}`, status: 404, code: "NOT_FOUND", field: "token", rule: "no token"},
		{name: "grant is no number", path: "/agents/" + agentA + "/grants/first/revoke", body: `{}`, status: 422, code: "INVALID_ARGUMENT", field: "grant", rule: "whole number"},
		{name: "escalation is no number", path: "/escalations/0/decide", body: `{"approve":true}`, status: 422, code: "INVALID_ARGUMENT", field: "escalation", rule: "whole number"},
		{name: "no decision", path: "/escalations/7/decide", body: `{"reason":"x"}`, status: 422, code: "INVALID_ARGUMENT", field: "approve", rule: "is required"},
		{name: "null is no decision", path: "/escalations/7/decide", body: `{"approve":null}`, status: 422, code: "INVALID_ARGUMENT", field: "approve", rule: "is required"},
		{name: "a pattern for a key", path: "/shared/team/put", body: `{"key":"a/*","value":1}`, status: 422, code: "INVALID_ARGUMENT", field: "key", rule: "no *"},
		{name: "no key", path: "/shared/team/delete", body: `{}`, status: 422, code: "INVALID_ARGUMENT", field: "key", rule: "1 to 256"},
		{name: "negative version", path: "/shared/team/put", body: `{"key":"a","version":-1}`, status: 422, code: "INVALID_ARGUMENT", field: "version", rule: "from 0"},
		{name: "long namespace", path: "/shared/" + strings.Repeat("n", 65) + "/put", body: `{"key":"a"}`, status: 422, code: "INVALID_ARGUMENT", field: "namespace", rule: "1 to 64"},
		{name: "no grant in a batch", path: "/batch", body: `{"commands":[{"op":"revoke_grant","body":{"agent":"` + agentA + `"}}]}`, status: 422, code: "INVALID_ARGUMENT", field: "commands[0].body.grant", rule: "is required"},
		{name: "half a session", path: "/agents", body: `{}`, headers: []string{api.HeaderSession, strings.Repeat("a", 32)}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderFloor, rule: "from 1"},
		{name: "session without sequence", path: "/agents", body: `{}`, headers: []string{api.HeaderSession, strings.Repeat("a", 32), api.HeaderFloor, "1"}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderSequence, rule: "from 1"},
		{name: "sequence below the floor", path: "/agents", body: `{}`, headers: []string{api.HeaderSession, strings.Repeat("a", 32), api.HeaderFloor, "3", api.HeaderSequence, "2"}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderFloor, rule: "at most the sequence"},
		{name: "sequence alone", path: "/agents", body: `{}`, headers: []string{api.HeaderSequence, "1"}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderSequence, rule: api.HeaderSession},
		{name: "session is not hex", path: "/agents", body: `{}`, headers: []string{api.HeaderSession, strings.Repeat("z", 32)}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderSession, rule: "32 hex"},
		{name: "session of zeros", path: "/agents", body: `{}`, headers: []string{api.HeaderSession, strings.Repeat("0", 32)}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderSession, rule: "32 hex"},
		{name: "session and key", path: "/agents", body: `{}`, headers: []string{api.HeaderSession, strings.Repeat("a", 32), api.HeaderKey, "k"}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderKey, rule: "not both"},
		{name: "long key", path: "/agents", body: `{}`, headers: []string{api.HeaderKey, key}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderKey, rule: "256"},
		{name: "a form", path: "/agents", body: `name=x`, headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, status: 415, code: "UNSUPPORTED_MEDIA_TYPE", field: "Content-Type", rule: "application/json"},
		{name: "another charset", path: "/agents", body: `{}`, headers: []string{"Content-Type", "application/json; charset=latin1"}, status: 415, code: "UNSUPPORTED_MEDIA_TYPE", field: "Content-Type", rule: "UTF-8"},
		{name: "from another page", path: "/agents", body: `{}`, headers: []string{"Sec-Fetch-Site", "cross-site"}, status: 403, code: "CROSS_ORIGIN", field: "Origin", rule: "elsewhere"},
		{name: "body over the limit", path: "/agents", body: `{"name":"` + strings.Repeat("a", api.MaxBodyBytes) + `"}`, status: 413, code: "TOO_LARGE", field: "body", rule: "524288 bytes"},
		{name: "batch over the limit", path: "/batch", body: `{"commands":"` + strings.Repeat("a", api.MaxBatchBytes) + `"}`, status: 413, code: "TOO_LARGE", field: "body", rule: "4194304 bytes"},
		{name: "empty batch", path: "/batch", body: `{"commands":[]}`, status: 422, code: "INVALID_ARGUMENT", field: "commands", rule: "at least one"},
		{name: "batch without commands", path: "/batch", body: `{}`, status: 422, code: "INVALID_ARGUMENT", field: "commands", rule: "at least one"},
		{name: "batch of too many", path: "/batch", body: `{"commands":[` + strings.Repeat(`{},`, 1000) + `{}]}`, status: 422, code: "INVALID_ARGUMENT", field: "commands", rule: "1000"},
		{name: "unknown operation", path: "/batch", body: `{"commands":[{"op":"jump","body":{}}]}`, status: 422, code: "INVALID_ARGUMENT", field: "commands[0].op", rule: "define"},
		{name: "unknown field in a batch", path: "/batch", body: `{"commands":[{"op":"kill","body":{"agent":"` + agentA + `","why":"x"}}]}`, status: 422, code: "INVALID_ARGUMENT", field: "commands[0].body.why", rule: "unknown field"},
		{name: "key with a batch", path: "/batch", body: `{"commands":[]}`, headers: []string{api.HeaderKey, "k"}, status: 422, code: "INVALID_ARGUMENT", field: api.HeaderKey, rule: "session"},
		{name: "sequence in a batch without a session", path: "/batch", body: `{"commands":[{"op":"kill","sequence":1,"body":{"agent":"` + agentA + `"}}]}`, status: 422, code: "INVALID_ARGUMENT", field: "commands[0].sequence", rule: api.HeaderSession},
		{name: "no sequence in a batch with a session", path: "/batch", body: `{"commands":[{"op":"kill","body":{"agent":"` + agentA + `"}}]}`, headers: []string{api.HeaderSession, strings.Repeat("a", 32), api.HeaderFloor, "1"}, status: 422, code: "INVALID_ARGUMENT", field: "commands[0].sequence", rule: "floor"},
		{name: "sessions take nothing", path: "/sessions", body: `{"x":1}`, status: 422, code: "INVALID_ARGUMENT", field: "x", rule: "unknown field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			before := d.group.Index()
			e := refuses(t, d.post(c.path, c.body, c.headers...), c.status, c.code, c.field)
			assert.True(t, e.Definite)
			assert.Zero(t, e.Index, "no kernel judged it")
			assert.Contains(t, e.Rule, c.rule)
			assert.Equal(t, before, d.group.Index(), "it cost a log entry")
		})
	}
}

// What only the state can judge is judged by the kernel, recorded, and changes
// nothing (LC-2).
func TestKernelRefusals(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{"id":"`+agentA+`"}`), http.StatusCreated)
	for _, c := range []struct {
		name, path, body string
		status           int
		code, field      string
	}{
		{"unknown agent", "/agents/" + agentB + "/kill", `{}`, 404, "NOT_FOUND", "agent"},
		{"duplicate id", "/agents", `{"id":"` + agentA + `"}`, 409, "ALREADY_EXISTS", "id"},
		{"duplicate id of a start", "/agents/start", `{"agent":{"id":"` + agentA + `","program":` + literal + `}}`, 409, "ALREADY_EXISTS", "agent.id"},
		{"forbidden transition", "/agents/" + agentA + "/triggers/suspend", `{}`, 409, "INVALID_TRANSITION", "trigger"},
		{"a trigger that is the kernel's", "/agents/" + agentA + "/triggers/breach", ``, 409, "INVALID_TRANSITION", "trigger"},
		{"kill of what is only defined", "/agents/" + agentA + "/kill", ``, 409, "INVALID_TRANSITION", "trigger"},
		{"start without a program", "/agents/start", `{"agent":{}}`, 409, "NO_INSTRUCTION", "agent.program"},
		{"instruction for what takes none", "/agents/" + agentA + "/instructions", `{}`, 409, "INVALID_STATE", "agent"},
		{"reason too long", "/agents/" + agentA + "/triggers/spawn", `{"reason":"` + strings.Repeat("a", 257) + `"}`, 422, "INVALID_ARGUMENT", "reason"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			e := refuses(t, d.post(c.path, c.body), c.status, c.code, c.field)
			assert.True(t, e.Definite)
			assert.Equal(t, d.group.Index(), e.Index, "the refusal is recorded")
			assert.True(t, e.Recorded())
			assert.NotEmpty(t, e.Rule)
		})
	}
	agent := decode[api.Agent](t, d.get("/agents/"+agentA), http.StatusOK)
	assert.Equal(t, "DEFINED", agent.State)
	assert.Zero(t, agent.Count, "a refused transition changes nothing")
}

func TestFullQueueIsRefusedByTheKernel(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{"id":"`+agentA+`","mode":"service","program":`+literal+`}`), http.StatusCreated)
	decode[api.Done](t, d.post("/agents/"+agentA+"/triggers/spawn", ``), http.StatusOK)
	for range 63 { // spawn queued one
		decode[api.Done](t, d.post("/agents/"+agentA+"/instructions", ``), http.StatusOK)
	}
	e := refuses(t, d.post("/agents/"+agentA+"/instructions", ``), http.StatusTooManyRequests, "QUEUE_FULL", "agent")
	assert.True(t, e.Recorded())
	assert.Equal(t, "SPAWNED", e.State)
	assert.NotEmpty(t, e.Hint)
}

func TestBadParameters(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{"id":"`+agentA+`"}`), http.StatusCreated)
	for _, c := range []struct{ name, path, field, hint string }{
		{"wrong consistency word", "/agents/" + agentA + "?consistency=strong", "consistency", ""},
		{"empty consistency word", "/agents/" + agentA + "?consistency=", "consistency", ""},
		{"wrong consistency word for a list", "/agents?consistency=Stale", "consistency", ""},
		{"wrong consistency word for the log", "/log?consistency=x", "consistency", ""},
		{"lag without stale", "/agents/" + agentA + "?max_lag_ms=5", "max_lag_ms", ""},
		{"no lag at all", "/agents/" + agentA + "?consistency=stale&max_lag_ms=0", "max_lag_ms", ""},
		{"index is no number", "/agents/" + agentA + "?min_index=x", "min_index", ""},
		{"unknown parameter", "/agents/" + agentA + "?fresh=1", "fresh", "consistency"},
		{"parameter twice", "/agents?limit=1&limit=2", "limit", ""},
		{"limit of nothing", "/agents?limit=0", "limit", ""},
		{"limit too high", "/agents?limit=1001", "limit", ""},
		{"unknown state", "/agents?state=SLEEPING", "state", ""},
		{"label without a value", "/agents?label=team", "label", ""},
		{"after is no id", "/agents?after=x", "after", ""},
		{"agent is no id", "/log?agent=x", "agent", ""},
		{"from nothing", "/log?from=0", "from", ""},
		{"history from nothing", "/agents/" + agentA + "/history?from=-1", "from", ""},
		{"unknown kind", "/watch?kinds=STEP,LEAP", "kinds", "docs/api.md"},
		{"watch from nothing", "/watch?from=0", "from", ""},
		{"export from beyond", "/log/export?from=99999", "from", ""},
		{"agent in the path is no id", "/agents/x", "agent", "omni agent list"},
		{"query does not parse", "/agents?a=%zz", "query", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			e := refuses(t, d.get(c.path), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", c.field)
			assert.Contains(t, e.Hint, c.hint)
		})
	}
	e := refuses(t, d.get("/agents?consistency=strong"), 422, "INVALID_ARGUMENT", "consistency")
	for _, word := range api.Levels {
		assert.Contains(t, e.Rule, word, "the words that there are")
	}
}

func TestAddressesAndMethods(t *testing.T) {
	d := newDoor(t)
	refuses(t, d.send(http.MethodGet, "/v1/nothing", ""), http.StatusNotFound, "NOT_FOUND", "path")
	refuses(t, d.send(http.MethodGet, "/v1/kernels/other/agents", ""), http.StatusNotFound, "NOT_FOUND", "kernel")
	r := d.send(http.MethodDelete, kernelPath+"/agents/"+agentA, "")
	refuses(t, r, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "method")
	assert.Equal(t, "GET", r.header.Get("Allow"))
	r = d.send(http.MethodPut, kernelPath+"/agents", `{}`)
	refuses(t, r, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "method")
	assert.Equal(t, "GET, POST", r.header.Get("Allow"))
	require.Equal(t, uint64(1), d.group.Index())
}
