package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
)

// steps lists the kinds of the instructions that an agent's steps evaluated.
func (d *door) steps(agent, query string) (kinds []string) {
	d.t.Helper()
	page := decode[api.LogPage](d.t, d.get("/log?limit=1000&agent="+agent+query), http.StatusOK)
	for _, r := range page.Records {
		if r.Kind != "STEP" {
			continue
		}
		var body struct {
			Instruction uint32 `json:"instruction"`
			Kind        string `json:"kind"`
		}
		require.NoError(d.t, json.Unmarshal(r.Body, &body))
		kinds = append(kinds, body.Kind)
	}
	return kinds
}

// A submitted program leaves the state with its tick. Its steps still tell what
// they evaluated: on the server that saw the program come in, and on one that
// begins to read in the middle.
func TestStepsOfAProgramThatIsGone(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{"id":"`+agentA+`","mode":"service","program":`+literal+`,
		"grants":[{"effect":"ALLOW","action":"tool.call","resource":"echo"}]}`), http.StatusCreated)
	decode[api.Done](t, d.post("/agents/"+agentA+"/triggers/spawn", ``), http.StatusOK)
	decode[api.Done](t, d.post("/agents/"+agentA+"/triggers/activate", ``), http.StatusOK)
	submitted := `{"kind":"SEQ","payload":{"steps":[{"kind":"LET","payload":{"name":"x","value":1}},` + echo + `]}}`
	decode[api.Done](t, d.post("/agents/"+agentA+"/instructions", `{"program":`+submitted+`}`), http.StatusOK)
	refuses(t, d.post("/agents/"+agentA+"/triggers/activate", ``), 409, "INVALID_TRANSITION", "trigger") // one more block of the agent
	result := event.Result{Agent: 1, Tick: 2, Call: 1, OK: true, Value: value.True}
	done := d.group.Nodes[0].Propose(t.Context(), event.Event{Kind: event.ToolResult, Principal: "node:n1", Body: event.Encode(&result)})
	require.True(t, done.Outcome.Done(), "%+v", done.Outcome)
	require.Equal(t, "ACTIVE", decode[api.Agent](t, d.get("/agents/"+agentA), http.StatusOK).State)

	want := []string{"LITERAL", "SEQ", "LET", "CALL", "CALL"}
	assert.Equal(t, want, d.steps(agentA, ""))
	var last uint64
	for _, r := range decode[api.LogPage](t, d.get("/log?limit=1000&agent="+agentA), http.StatusOK).Records {
		if r.Kind == "TICK_STARTED" {
			last = r.BusSeq
		}
	}
	fresh := &door{t, d.group, d.group.Serve(t, httpapi.Options{})[0]} // remembers nothing
	assert.Equal(t, []string{"CALL"}, fresh.steps(agentA, fmt.Sprintf("&from=%d", last)), "found in the agent's older blocks")
}
