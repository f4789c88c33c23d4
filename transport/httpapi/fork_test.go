package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

const remembers = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"WRITE","payload":{"key":"k","value":"mine"}},
	{"kind":"LET","payload":{"name":"m","do":{"kind":"READ","payload":{"key":"k"}}}},
	{"kind":"RETURN","payload":{"value":["${m}","${input}"]}}]}}`

// LO-13: a fork is made of what the node's own log has, says where it comes from,
// and is made once, however often it is asked for.
func TestForkOverTheAPI(t *testing.T) {
	d := newDoor(t)
	source := decode[api.Done](t, d.post("/agents/start", `{"agent":{"mode":"service","program":`+remembers+`,"grants":[
		{"effect":"ALLOW","action":"memory.*","resource":"**"}]},"input":1}`), http.StatusCreated)
	asked := fmt.Sprintf(`{"at":%d,"name":"other","set":{"k":"set"},"program":{"kind":"READ","payload":{"key":"k"}}}`, source.BusSeq)
	done := decode[api.Done](t, d.post("/agents/"+source.AgentID+"/fork", asked, api.HeaderKey, "once"), http.StatusCreated)
	again := decode[api.Done](t, d.post("/agents/"+source.AgentID+"/fork", asked, api.HeaderKey, "once"), http.StatusCreated)
	assert.True(t, again.Repeated)
	assert.Equal(t, done.AgentID, again.AgentID)
	require.NotEqual(t, source.AgentID, done.AgentID)

	agent := decode[api.Agent](t, d.get("/agents/"+done.AgentID), http.StatusOK)
	assert.Equal(t, "other", agent.Name)
	assert.Equal(t, "ACTIVE", agent.State)
	assert.Empty(t, agent.ParentID)
	require.NotNil(t, agent.Forked)
	assert.Equal(t, source.AgentID, agent.Forked.AgentID)
	assert.GreaterOrEqual(t, agent.Forked.At, source.BusSeq)
	assert.JSONEq(t, `"set"`, string(agent.Result.AppendJSON(nil)))
	was := decode[api.Agent](t, d.get("/agents/"+source.AgentID), http.StatusOK)
	assert.JSONEq(t, `["mine",1]`, string(was.Result.AppendJSON(nil)))
	assert.Nil(t, was.Forked)

	bare := decode[api.Done](t, d.post("/agents/"+source.AgentID+"/fork", fmt.Sprintf(`{"at":%d,"grants":[],"input":2}`, source.BusSeq)), http.StatusCreated)
	failed := decode[api.Agent](t, d.get("/agents/"+bare.AgentID), http.StatusOK)
	require.NotNil(t, failed.Failure)
	assert.Equal(t, "PERMISSION_DENIED", failed.Failure.Code)
}

// LO-13, LO-15: what cannot be forked is refused, with the field and what to do.
func TestForksThatAreRefused(t *testing.T) {
	d := newDoor(t)
	over := d.start(literal)
	path := "/agents/" + over.AgentID + "/fork"
	unprocessable := http.StatusUnprocessableEntity
	at := func(more string) string { return fmt.Sprintf(`{"at":%d%s}`, over.BusSeq, more) }
	refuses(t, d.post(path, `{}`), unprocessable, "INVALID_ARGUMENT", "at")
	refuses(t, d.post(path, `{"at":1}`), unprocessable, "INVALID_ARGUMENT", "at")
	refuses(t, d.post(path, `{"at":1000000}`), unprocessable, "INVALID_ARGUMENT", "at")
	refuses(t, d.post(path, at(`,"from":1`)), unprocessable, "INVALID_ARGUMENT", "from")
	refuses(t, d.post(path, at(`,"set":[1]`)), unprocessable, "INVALID_ARGUMENT", "set")
	refuses(t, d.post(path, at(`,"set":{"a//b":1},"input":1`)), unprocessable, "INVALID_ARGUMENT", "set.a//b")
	refuses(t, d.post(path, at(`,"id":"x"`)), unprocessable, "INVALID_ARGUMENT", "id")
	refuses(t, d.post(path, at(`,"grants":[{"effect":"ALLOW"}]`)), unprocessable, "INVALID_ARGUMENT", "grants[0].action")
	refuses(t, d.post("/agents/x/fork", at("")), unprocessable, "INVALID_ARGUMENT", "agent")
	refuses(t, d.post("/agents/"+agentB+"/fork", at("")), http.StatusNotFound, "NOT_FOUND", "agent")
	nothing := d.post(path, at(""))
	e := decode[api.Error](t, nothing, nothing.status)
	assert.Equal(t, "NO_INSTRUCTION", e.Code)
	assert.Contains(t, e.Hint, "give the fork a program")
}
