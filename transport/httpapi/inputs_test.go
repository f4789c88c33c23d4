package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/transport/api"
)

const (
	takesURL = `{"type":"object","required":["url"],"properties":{"url":{"type":"string","maxLength":9}}}`
	echoes   = `{"kind":"RETURN","payload":{"value":"${input}"}}`
	goodURL  = `{"url":"http://a"}`
	unknownA = "018f4e5c-0000-7000-8000-0000000000aa"
	unknownB = "018f4e5c-0000-7000-8000-0000000000bb"
)

// EX-14: whatever starts an agent's own program is held to the schema of its input,
// at the door and by its path, and costs no log entry.
func TestInputsAreCheckedAtTheDoor(t *testing.T) {
	d := newDoor(t)
	unprocessable := http.StatusUnprocessableEntity
	agent := `"mode":"service","program":` + echoes + `,"input":` + takesURL
	defined := decode[api.Done](t, d.post("/agents", `{`+agent+`}`), http.StatusCreated)
	path := "/agents/" + defined.AgentID
	before := nextSeq(d)

	start := func(input string) reply { return d.post("/agents/start", `{"agent":{`+agent+`}`+input+`}`) }
	for input, field := range map[string]string{
		``:                      "input",
		`,"input":null`:         "input",
		`,"input":{}`:           "input",
		`,"input":{"url":7}`:    "input.url",
		`,"input":["http://a"]`: "input",
	} {
		e := refuses(t, start(input), unprocessable, "INVALID_ARGUMENT", field)
		assert.NotContains(t, e.Message, "http://a", "a value may be what must not be told")
	}
	refuses(t, d.post(path+"/triggers/spawn", `{"input":{"url":1}}`), unprocessable, "INVALID_ARGUMENT", "input.url")
	refuses(t, d.post(path+"/triggers/spawn", ``), unprocessable, "INVALID_ARGUMENT", "input")
	assert.Equal(t, before, nextSeq(d))

	decode[api.Done](t, d.post(path+"/triggers/spawn", `{"input":`+goodURL+`}`), http.StatusOK)
	decode[api.Done](t, d.post(path+"/triggers/activate", ``), http.StatusOK)
	refuses(t, d.post(path+"/instructions", `{"input":{"url":"http://too.long"}}`), unprocessable, "INVALID_ARGUMENT", "input.url")
	decode[api.Done](t, d.post(path+"/instructions", `{"input":`+goodURL+`}`), http.StatusOK)
	decode[api.Done](t, d.post(path+"/instructions", `{"program":`+echoes+`,"input":3}`), http.StatusOK)
	told := decode[api.Agent](t, d.get(path), http.StatusOK)
	assert.JSONEq(t, takesURL, string(told.Input.AppendJSON(nil)))
	assert.JSONEq(t, `3`, string(told.Result.AppendJSON(nil)), "another program takes what it takes")

	started := decode[api.Done](t, start(`,"input":`+goodURL), http.StatusCreated)
	fork := func(input string) reply {
		return d.post("/agents/"+started.AgentID+"/fork", fmt.Sprintf(`{"at":%d,"input":%s}`, started.BusSeq, input))
	}
	refuses(t, fork(`{}`), unprocessable, "INVALID_ARGUMENT", "input")
	decode[api.Done](t, fork(goodURL), http.StatusCreated)
}

// EX-14: within a batch, what a command before defines counts.
func TestInputsAreCheckedInABatch(t *testing.T) {
	d := newDoor(t)
	define := func(id string) string {
		return `{"op":"define","body":{"id":"` + id + `","program":` + echoes + `,"input":` + takesURL + `}}`
	}
	spawn := func(id, input string) string {
		return `{"op":"trigger","body":{"agent":"` + id + `","trigger":"spawn","input":` + input + `}}`
	}
	results := decode[api.BatchDone](t, d.post("/batch", `{"commands":[`+define(unknownA)+`,`+define(unknownB)+`,`+
		spawn(unknownA, `{"url":1}`)+`,`+spawn(unknownB, goodURL)+`,`+
		`{"op":"submit","body":{"agent":"`+unknownB+`"}},`+
		`{"op":"start","body":{"agent":{"program":`+echoes+`,"input":`+takesURL+`},"input":{}}},`+
		`{"op":"submit","body":{"agent":"018f4e5c-0000-7000-8000-0000000000cc"}}]}`), http.StatusOK).Results
	var fields []string
	for _, r := range results {
		if r.Error == nil {
			fields = append(fields, "")
			continue
		}
		fields = append(fields, r.Error.Code+" "+r.Error.Field)
	}
	assert.Equal(t, []string{
		"", "", "INVALID_ARGUMENT input.url", "", "INVALID_ARGUMENT input", "INVALID_ARGUMENT input", "NOT_FOUND agent",
	}, fields)
}

// EX-14: a schema that does not compile is refused with the definition.
func TestInputSchemasCompile(t *testing.T) {
	d := newDoor(t)
	for _, bad := range []string{`{"type":"objekt"}`, `{"$ref":"http://elsewhere/schema"}`, `{"pattern":"("}`, `"string"`} {
		body := `{"program":` + echoes + `,"input":` + bad + `}`
		refuses(t, d.post("/agents", body), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "input")
		refuses(t, d.post("/agents/start", `{"agent":`+body+`}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "agent.input")
	}
}
