package httpapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// RU-1, RU-2: a run through the door: planned, started, paused, resumed, killed,
// read and listed, refused where it is wrong; and its records in the log.
func TestRunThroughTheDoor(t *testing.T) {
	d := newDoor(t)
	ask := `{"kind":"CALL","payload":{"tool":"echo"}}`
	done := decode[api.Done](t, d.post("/runs", `{"name":"nightly","goal":"g","agent":{"id":"`+agentA+`","labels":{"team":"blue","tier":"gold"},"budget":{"tokens":500},"grants":[{"effect":"ALLOW","action":"tool.*","resource":"**"}]},
		"tasks":[{"name":"a","program":{"kind":"LITERAL","payload":{"value":"${input.goal}"}}},{"name":"b","program":`+ask+`,"uses":["a"]},{"name":"c","program":`+ask+`}]}`), http.StatusCreated)
	require.Equal(t, agentA, done.AgentID)
	at := "/runs/" + agentA
	require.Equal(t, "PLANNED", decode[api.Run](t, d.get(at), http.StatusOK).State)
	decode[api.Done](t, d.post(at+"/start", ""), http.StatusOK)
	decode[api.Done](t, d.post(at+"/pause", `{"trigger":"governance","reason":"a gate"}`), http.StatusOK)
	run := decode[api.Run](t, d.get(at), http.StatusOK)
	assert.Equal(t, "APPLYING", run.State)
	assert.Equal(t, "governance", run.Pausing)
	assert.Equal(t, []string{"DONE", "RUNNING", "WAITING"}, []string{run.Tasks[0].State, run.Tasks[1].State, run.Tasks[2].State})
	assert.Equal(t, `"g"`, string(run.Tasks[0].Result.AppendJSON(nil)))
	assert.Equal(t, []string{"a"}, run.Tasks[1].Uses)
	require.Len(t, run.Waits, 1)
	assert.Equal(t, "echo", run.Waits[0].Tool)
	require.NotNil(t, run.Budget)
	assert.Equal(t, agentA, run.Budget.AgentID)
	assert.Equal(t, api.Spent{Limit: 500}, run.Budget.Tokens)
	decode[api.Done](t, d.post(at+"/pause", `{"force":true}`), http.StatusOK)
	run = decode[api.Run](t, d.get(at), http.StatusOK)
	assert.Equal(t, "PAUSED", run.State)
	assert.Equal(t, "RESUMABLE", run.Agent)
	refuses(t, d.post(at+"/start", ""), 409, "INVALID_RUN_TRANSITION", "run")
	decode[api.Done](t, d.post(at+"/resume", ""), http.StatusOK)
	decode[api.Done](t, d.post(at+"/kill", `{"trigger":"security"}`), http.StatusOK)
	run = decode[api.Run](t, d.get(at), http.StatusOK)
	require.NotNil(t, run.Last)
	assert.Equal(t, []string{"KILLED", "kill", "security", "KILLED"}, []string{run.State, run.Last.Trigger, run.Last.Cause, run.Last.Code})

	page := decode[api.RunPage](t, d.get("/runs?state=KILLED"), http.StatusOK)
	require.Len(t, page.Runs, 1)
	assert.Equal(t, "nightly", page.Runs[0].Name)
	assert.Empty(t, decode[api.RunPage](t, d.get("/runs?after="+agentA), http.StatusOK).Runs)
	assert.Empty(t, decode[api.RunPage](t, d.get("/runs?label=team=red"), http.StatusOK).Runs)
	page = decode[api.RunPage](t, d.get("/runs?label=team=blue&label=tier=gold"), http.StatusOK)
	require.Len(t, page.Runs, 1)
	assert.Equal(t, map[string]string{"team": "blue", "tier": "gold"}, page.Runs[0].Labels)
	refuses(t, d.get("/runs?label=team"), 422, "INVALID_ARGUMENT", "label")
	refuses(t, d.get("/runs?state=JUMPING"), 422, "INVALID_ARGUMENT", "state")
	refuses(t, d.get("/runs/x"), 422, "INVALID_ARGUMENT", "run")
	refuses(t, d.post(at+"/kill", `{"trigger":"kernel"}`), 422, "INVALID_ARGUMENT", "trigger")
	refuses(t, d.post("/runs", `{"tasks":[{"name":"a","program":{"kind":"NONSENSE"}}]}`), 422, "INVALID_PROGRAM", "tasks[0].program.kind")
	refuses(t, d.post("/runs", `{"tasks":[{"name":"a","uses":[1]}]}`), 422, "INVALID_ARGUMENT", "tasks[0].uses[0]")
	refuses(t, d.post("/runs", `{"steps":[]}`), 422, "INVALID_ARGUMENT", "steps")
	decode[api.Done](t, d.post("/agents", `{"id":"018f4e5c-0000-7000-8000-00000000000b"}`), http.StatusCreated)
	refuses(t, d.get("/runs/018f4e5c-0000-7000-8000-00000000000b"), 404, "NOT_FOUND", "run")
}

// RU-4: a run's ledger through the door: exported, verified offline, paged, and
// watched; the head that the file ends with is the one that the run says.
func TestLedgerThroughTheDoor(t *testing.T) {
	d := newDoor(t)
	d.start(echo)
	ask := `{"kind":"CALL","payload":{"tool":"echo"}}`
	child := `{"kind":"CALL","payload":{"tool":"agent.delegate","args":{"detach":true,"children":[{"grants":[{"effect":"ALLOW","action":"tool.*","resource":"**"}],"program":` + ask + `}]}}}`
	decode[api.Done](t, d.post("/runs", `{"agent":{"id":"`+agentA+`","max_depth":1,"grants":[{"effect":"ALLOW","action":"agent.*","resource":"**"},{"effect":"ALLOW","action":"tool.*","resource":"**"}]},
		"tasks":[{"name":"a","program":`+child+`},{"name":"b","program":`+ask+`}],"start":true}`), http.StatusCreated)
	d.start(literal)
	decode[api.Done](t, d.post("/runs/"+agentA+"/pause", ""), http.StatusOK)

	r := d.get("/runs/" + agentA + "/ledger")
	require.Equal(t, http.StatusOK, r.status)
	assert.Equal(t, logexport.LedgerContentType, r.header.Get("Content-Type"))
	sum, err := logexport.CopyLedger(io.Discard, bytes.NewReader(r.body))
	require.NoError(t, err)
	run := decode[api.Run](t, d.get("/runs/"+agentA), http.StatusOK)
	require.Equal(t, &api.Ledger{Position: sum.Position, Head: sum.Head}, run.Ledger)
	assert.Equal(t, agentA, sum.RunID)
	assert.Equal(t, "solo-cluster", sum.ClusterID)
	assert.EqualValues(t, 2, sum.Blocks)

	page := decode[api.LogPage](t, d.get("/log?limit=1000&run="+agentA), http.StatusOK)
	require.Equal(t, run.Ledger, page.Ledger)
	agents, kinds := make(map[string]int), make(map[string]int)
	for _, r := range page.Records {
		agents[r.AgentID]++
		kinds[r.Kind]++
	}
	assert.Len(t, agents, 3, "the root agent, its child, and nobody for events")
	assert.Equal(t, 2, agents[""])
	assert.Equal(t, 2, kinds["EVENT"])
	assert.Equal(t, 1, kinds["RUN_PAUSE_REQUESTED"])
	first := decode[api.LogPage](t, d.get("/log?limit=3&run="+agentA), http.StatusOK)
	require.Equal(t, page.Records[:3], first.Records)
	rest := decode[api.LogPage](t, d.get(fmt.Sprintf("/log?limit=1000&run=%s&from=%d", agentA, first.Next)), http.StatusOK)
	require.Equal(t, page.Records[3:], rest.Records)
	w, refused := d.watch(t, "?from=1&run="+agentA)
	require.Nil(t, refused)
	require.Equal(t, api.EventOpen, w.event().event)
	assert.Equal(t, page.Records, w.records(len(page.Records)), "watched, they are the same")

	other := d.start(literal).AgentID
	refuses(t, d.get("/runs/"+other+"/ledger"), 404, "NOT_FOUND", "run")
	refuses(t, d.get("/runs/x/ledger"), 422, "INVALID_ARGUMENT", "run")
	refuses(t, d.get("/log?run="+other), 404, "NOT_FOUND", "run")
	refuses(t, d.get("/log?run=x"), 422, "INVALID_ARGUMENT", "run")
	root := decode[api.LogPage](t, d.get("/log?limit=1000&run="+agentA+"&agent="+agentA), http.StatusOK)
	assert.Len(t, root.Records, agents[agentA])
	assert.Empty(t, decode[api.LogPage](t, d.get("/log?run="+agentA+"&agent="+other), http.StatusOK).Records)
	require.NoError(t, d.group.Nodes[0].Log().Close())
	refuses(t, d.get("/runs/"+agentA+"/ledger"), 500, "INTERNAL", "")
}
