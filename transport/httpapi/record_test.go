package httpapi_test

import (
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
	page := decode[api.LogPage](d.t, d.get("/log?notes=true&limit=1000&agent="+agent+query), http.StatusOK)
	for _, r := range page.Records {
		if r.Kind == "STEP" {
			require.NotNil(d.t, r.Notes)
			kinds = append(kinds, r.Notes.Instruction)
		}
	}
	return kinds
}

// A submitted program leaves the state with its tick. Notes still tell what its
// steps evaluated: on the server that saw the program come in, and on one that
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

// judged are the grants that notes name, of one agent's judgements or of all.
func (d *door) judged(query string) (by []string) {
	d.t.Helper()
	for _, r := range decode[api.LogPage](d.t, d.get("/log?notes=true&limit=1000"+query), http.StatusOK).Records {
		switch {
		case r.Kind != "ALLOW" && r.Kind != "DENY" && r.Kind != "ESCALATED":
			require.True(d.t, r.Notes == nil || r.Notes.DecidedBy == nil)
		case r.Notes == nil:
			by = append(by, "")
		default:
			by = append(by, r.Notes.DecidedBy.Effect.String()+" "+r.Notes.DecidedBy.Resource)
		}
	}
	return by
}

// Who asks for notes is told which grant decided, long after the agent and its list
// of grants are gone: the own one, one after a revocation, that of an agent above,
// one that another agent brought first.
func TestNotesOnJudgements(t *testing.T) {
	d := newDoor(t)
	grants := `[{"effect":"ALLOW","action":"tool.call","resource":"echo"},{"effect":"DENY","action":"memory.*","resource":"self/a"},{"effect":"ALLOW","action":"agent.*","resource":"**"},{"effect":"ALLOW","action":"memory.*","resource":"**"}]`
	program := `{"kind":"SEQ","payload":{"steps":[` + echo + `,
		{"kind":"TRY","payload":{"do":{"kind":"DELEGATE","payload":{"children":[{"program":{"kind":"READ","payload":{"agent":"parent","key":"a"}},
			"grants":[{"effect":"ALLOW","action":"memory.read","resource":"parent/a"}]}]}},"catch":[{"do":{"kind":"LITERAL","payload":{"value":1}}}]}}]}}`
	start := `{"agent":{"grants":` + grants + `,"program":` + program + `}}`
	one := decode[api.Done](t, d.post("/agents/start", start), http.StatusCreated)
	two := decode[api.Done](t, d.post("/agents/start", start), http.StatusCreated)
	decode[api.Done](t, d.post("/agents/"+two.AgentID+"/grants/3/revoke", `{"reason":"r"}`), http.StatusOK)
	for agent := range uint32(2) {
		result := event.Result{Agent: agent + 1, Tick: 1, Call: 1, OK: true, Value: value.True}
		done := d.group.Nodes[0].Propose(t.Context(), event.Event{Kind: event.ToolResult, Principal: "node:n1", Body: event.Encode(&result)})
		require.True(t, done.Outcome.Done(), "%+v", done.Outcome)
	}
	for _, agent := range []string{one.AgentID, two.AgentID} {
		require.Equal(t, "TERMINATED", decode[api.Agent](t, d.get("/agents/"+agent), http.StatusOK).State)
	}
	d.start(echo)                                                      // which its grants do not allow
	fresh := &door{t, d.group, d.group.Serve(t, httpapi.Options{})[0]} // remembers nothing
	want := []string{"ALLOW echo", "ALLOW echo", "ALLOW **", "DENY self/a", "ALLOW **", ""}
	assert.Equal(t, want, d.judged(""))
	assert.Equal(t, want, fresh.judged(""))
	fresh = &door{t, d.group, d.group.Serve(t, httpapi.Options{})[0]}
	assert.Equal(t, []string{"ALLOW echo", "ALLOW **"}, fresh.judged("&agent="+two.AgentID))

	with := decode[api.LogPage](t, d.get("/log?notes=true&limit=1000"), http.StatusOK).Records
	for i := range with {
		with[i].Notes = nil
	}
	assert.Equal(t, decode[api.LogPage](t, d.get("/log?limit=1000"), http.StatusOK).Records, with, "notes stand beside the record")
}
