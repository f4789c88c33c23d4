package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// asking is a door behind which agents ask a person.
func asking(t *testing.T, output string) *door {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{CheckAnswer: tools.CheckAnswer})
	d.registerAsk(output)
	return d
}

func (d *door) registerAsk(output string) {
	d.t.Helper()
	decode[api.Done](d.t, d.post("/tools", `{"name":"ask","description":"Well?","adapter":"human","output":`+output+`,"timeout_ms":2592000000}`), http.StatusOK)
}

// ask starts an agent that asks, beside other calls, and gives the first task's id.
func (d *door) ask(id, others string) string {
	d.t.Helper()
	if others == "" {
		others = `{"tool":"echo"}`
	}
	decode[api.Done](d.t, d.post("/agents/start", `{"agent":{"id":"`+id+`","name":"asker","program":{"kind":"PARALLEL","payload":{"calls":[
		{"tool":"ask","args":{"n":1}},`+others+`]}},"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}]}}`), http.StatusCreated)
	return id + "-1-1"
}

const yesOrNo = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`

// TO-12: what waits for a person is listed and shown, answered and rejected; what an
// answer must be is the schema of the tool as it was called, and its refusal names the
// field and costs no log entry.
func TestTasksThroughTheDoor(t *testing.T) {
	d := asking(t, yesOrNo)
	doc := d.document()
	const k = "/v1/kernels/{kernel}/tasks"
	valid := func(method, path string, r reply) reply {
		schema := doc.compile(t, "paths", k+path, method, "responses", "200", "content", "application/json", "schema")
		require.NoError(t, schema.Validate(asJSON(t, r.body)), "%s", r.body)
		return r
	}
	one, two := d.ask(agentA, `{"tool":"echo"},{"tool":"ask","args":{"n":3}}`), d.ask(agentB, "")
	d.registerAsk(`{"type":"string"}`)
	three := agentA + "-1-3"
	page := decode[api.TaskPage](t, valid("get", "", d.get("/tasks")), http.StatusOK)
	require.Len(t, page.Tasks, 3, "echo is nobody's to answer")
	assert.Equal(t, []string{one, three, two}, []string{page.Tasks[0].Task, page.Tasks[1].Task, page.Tasks[2].Task})
	assert.JSONEq(t, yesOrNo, jsonOf(t, page.Tasks[0].Output), "as it was called")
	assert.Equal(t, "asker", page.Tasks[0].Name)
	assert.Positive(t, page.Tasks[0].Since)
	assert.Equal(t, int64(2592000000+5000), page.Tasks[0].Deadline-page.Tasks[0].Since)
	page = decode[api.TaskPage](t, d.get("/tasks?limit=1&after="+one), http.StatusOK)
	assert.Equal(t, []string{three, three}, []string{page.Tasks[0].Task, page.Next})
	page = decode[api.TaskPage](t, d.get("/tasks?agent="+agentB), http.StatusOK)
	assert.Len(t, page.Tasks, 1)
	shown := decode[api.TaskAnswer](t, valid("get", "/{task}", d.get("/tasks/"+one)), http.StatusOK)
	assert.JSONEq(t, `{"n":1}`, jsonOf(t, shown.Args))
	assert.Equal(t, "Well?", shown.Description)
	agent := decode[api.Agent](t, d.get("/agents/"+agentB), http.StatusOK)
	assert.Equal(t, "person", agent.Waits[0].For)

	before := nextSeq(d)
	for path, want := range map[string]struct{ body, code, field string }{
		one + "/complete":                                 {`{"result":{"ok":"yes"}}`, "INVALID_VALUE", "result.ok"},
		two + "/complete":                                 {``, "INVALID_VALUE", "result"},
		three + "/complete":                               {`{"result":{}}`, "INVALID_VALUE", "result"},
		three + "/complete?":                              {`{"results":{}}`, "INVALID_ARGUMENT", "results"},
		three + "/reject":                                 {`{"result":{}}`, "INVALID_ARGUMENT", "result"},
		agentA + "-1-2/complete":                          {`{"result":1}`, "NOT_FOUND", "task"},
		agentA + "-1-4/complete":                          {`{"result":1}`, "NOT_FOUND", "task"},
		agentA + "-2-1/reject":                            {``, "NOT_FOUND", "task"},
		agentA + "-0-1/reject":                            {``, "NOT_FOUND", "task"},
		"018f4e5c-0000-7000-8000-00000000000c-1-1/reject": {``, "NOT_FOUND", "task"},
		agentA + "/reject":                                {``, "INVALID_ARGUMENT", "task"},
		agentA + "-1/reject":                              {``, "INVALID_ARGUMENT", "task"},
		agentA + "-1-x/reject":                            {``, "INVALID_ARGUMENT", "task"},
		"tea/complete":                                    {``, "INVALID_ARGUMENT", "task"},
	} {
		r := d.post("/tasks/"+path, want.body)
		refuses(t, r, r.status, want.code, want.field)
	}
	refuses(t, d.get("/tasks?after=tea"), 422, "INVALID_ARGUMENT", "after")
	refuses(t, d.get("/tasks/tea"), 422, "INVALID_ARGUMENT", "task")
	assert.Equal(t, before, nextSeq(d), "what the door refuses costs nothing")

	done := decode[api.Done](t, valid("post", "/{task}/complete", d.post("/tasks/"+one+"/complete", `{"result":{"ok":true}}`)), http.StatusOK)
	assert.Equal(t, []string{agentA, "WAITING"}, []string{done.AgentID, done.State}, "for the others")
	valid("post", "/{task}/reject", d.post("/tasks/"+two+"/reject", `{"reason":"no"}`))
	refuses(t, d.get("/tasks/"+one), http.StatusNotFound, "NOT_FOUND", "task")
	refuses(t, d.post("/tasks/"+one+"/complete", `{"result":7}`), http.StatusConflict, "STALE_RESULT", "task")
	refuses(t, d.post("/tasks/"+two+"/reject", ``), http.StatusConflict, "STALE_RESULT", "task")
	assert.Contains(t, string(d.get("/log?limit=1000").body), `"event":"TASK_ANSWER"`)
}

// TO-12, CL-3: an answer that is sent again, because nobody knows whether it was taken,
// gets its first answer, and not that somebody was quicker.
func TestAnswerThatIsSentAgain(t *testing.T) {
	d := asking(t, yesOrNo)
	task := d.ask(agentA, "")
	session := d.session()
	send := func() reply {
		return d.post("/tasks/"+task+"/complete", `{"result":{"ok":false}}`, numbered(session, 1, 1)...)
	}
	first := decode[api.Done](t, send(), http.StatusOK)
	again := decode[api.Done](t, send(), http.StatusOK)
	assert.True(t, again.Repeated)
	assert.Equal(t, first.BusSeq, again.BusSeq)
	refuses(t, d.post("/tasks/"+task+"/complete", `{"result":{"ok":false}}`), http.StatusConflict, "STALE_RESULT", "task")
}
