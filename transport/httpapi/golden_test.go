package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

var update = flag.Bool("update", false, "write the golden files anew")

// chainValue depends on every byte of the log, and is left to the kernel's tests.
var chainValue = regexp.MustCompile(`"digest": "[0-9a-f]{64}"`)

// golden compares an answer's JSON, indented, with a file.
func (d *door) golden(name string, r reply, status int) {
	d.t.Helper()
	require.Equal(d.t, status, r.status, "%s", r.body)
	var pretty bytes.Buffer
	require.NoError(d.t, json.Indent(&pretty, r.body, "", "  "))
	got := strings.ReplaceAll(pretty.String(), d.url, "http://node") + "\n"
	got = chainValue.ReplaceAllString(got, `"digest": "CHAIN"`)
	path := filepath.Join("testdata", name+".json")
	if *update {
		require.NoError(d.t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(d.t, err)
	assert.Equal(d.t, string(want), got)
}

// The names of fields are what clients and scripts build on: agent_id, state,
// index, node, lag_ms, result; from, to, trigger, bus_seq, index, at_ms; leader,
// term, nodes[].id …
func TestGoldenAnswers(t *testing.T) {
	clock := int64(1_700_000_000_000)
	d := newDoorWith(t, solo.Setup{Wall: func() int64 { clock += 10; return clock }}, httpapi.Options{})
	program := `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"said","do":` + echo + `}},
		{"kind":"RETURN","payload":{"value":{"heard":"${said}","n":"${input.n}"}}}]}}`

	d.golden("define", d.post("/agents", `{"id":"`+agentA+`","name":"first","labels":{"team":"red"},"env":{"LANG":"C"},
		"grants":[{"effect":"ALLOW","action":"tool.call","resource":"echo"}],"program":`+program+`}`), http.StatusCreated)
	d.golden("refusal", d.post("/agents/"+agentA+"/triggers/suspend", `{"reason":"too early"}`), http.StatusConflict)
	d.golden("spawn", d.post("/agents/"+agentA+"/triggers/spawn", `{"input":{"n":7}}`), http.StatusOK)
	d.golden("activate", d.post("/agents/"+agentA+"/triggers/activate", `{"reason":"go"}`), http.StatusOK)
	d.golden("agent-waiting", d.get("/agents/"+agentA), http.StatusOK)

	result := event.Result{Agent: 1, Tick: 1, Call: 1, OK: true, Value: value.Raw(value.AppendString(nil, "world")), Millis: 3}
	d.group.Nodes[0].Propose(t.Context(), event.Event{Kind: event.ToolResult, Principal: "node:n1", Body: event.Encode(&result)})
	d.golden("agent-terminated", d.get("/agents/"+agentA+"?consistency=stale"), http.StatusOK)
	d.golden("history", d.get("/agents/"+agentA+"/history?consistency=session&min_index=3"), http.StatusOK)
	d.golden("agents", d.get("/agents?state=TERMINATED&label=team=red"), http.StatusOK)
	d.golden("log", d.get("/log?limit=1000"), http.StatusOK)
	d.golden("log-agent", d.get("/log?agent="+agentA+"&from=20&limit=3"), http.StatusOK)
	d.golden("status", d.send(http.MethodGet, "/v1/cluster/status", ""), http.StatusOK)
	d.golden("not-found", d.get("/agents/"+agentB), http.StatusNotFound)
	d.golden("ready", d.send(http.MethodGet, "/readyz", ""), http.StatusOK)

	failing := `{"kind":"LITERAL","payload":{"value":"${1 // 0}"}}`
	decode[api.Done](t, d.post("/agents/start", `{"agent":{"id":"`+agentB+`","program":`+failing+`}}`), http.StatusCreated)
	d.golden("agent-faulted", d.get("/agents/"+agentB), http.StatusOK)
	d.golden("batch", d.post("/batch", `{"commands":[
		{"op":"kill","body":{"agent":"`+agentB+`","reason":"enough"}},
		{"op":"kill","body":{"agent":"`+agentB+`"}},
		{"op":"define","body":{"mode":"eternal"}}]}`), http.StatusOK)
}
