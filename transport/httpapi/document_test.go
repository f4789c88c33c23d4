package httpapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

type parameter struct {
	Name, In string
	Required bool
}

type operation struct {
	OperationID string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Parameters  []parameter `json:"parameters"`
	RequestBody *struct {
		Content map[string]struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

type document struct {
	OpenAPI string `json:"openapi"`
	Info    struct{ Title, Version string }
	Paths   map[string]map[string]operation `json:"paths"`
	raw     any
}

func (d *door) document() *document {
	d.t.Helper()
	r := d.send(http.MethodGet, "/openapi.json", "")
	require.Equal(d.t, http.StatusOK, r.status)
	var doc document
	require.NoError(d.t, json.Unmarshal(r.body, &doc))
	require.NoError(d.t, json.Unmarshal(r.body, &doc.raw))
	return &doc
}

// compile makes the schema at a place of the document usable: every reference
// in it must lead somewhere.
func (doc *document) compile(t *testing.T, place ...string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, compiler.AddResource("openapi.json", doc.raw))
	for i, part := range place {
		place[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
	}
	schema, err := compiler.Compile("openapi.json#/" + strings.Join(place, "/"))
	require.NoError(t, err, "%v", place)
	return schema
}

// The document is OpenAPI 3.1, and all that it refers to is there.
func TestDocumentIsValid(t *testing.T) {
	doc := newDoor(t).document()
	assert.Regexp(t, `^3\.1\.`, doc.OpenAPI)
	assert.NotEmpty(t, doc.Info.Title)
	assert.NotEmpty(t, doc.Info.Version)
	ids := map[string]bool{}
	inPath := regexp.MustCompile(`\{([a-z]+)\}`)
	for path, methods := range doc.Paths {
		for method, op := range methods {
			assert.NotEmpty(t, op.Summary, path)
			assert.False(t, ids[op.OperationID], "%s is used twice", op.OperationID)
			ids[op.OperationID] = true
			for _, found := range inPath.FindAllStringSubmatch(path, -1) {
				assert.Contains(t, op.Parameters, parameter{found[1], "path", true}, "%s %s", method, path)
			}
			if op.RequestBody != nil {
				for kind := range op.RequestBody.Content {
					doc.compile(t, "paths", path, method, "requestBody", "content", kind, "schema")
				}
			}
			require.Contains(t, op.Responses, "default", path)
			for status, response := range op.Responses {
				for kind := range response.Content {
					doc.compile(t, "paths", path, method, "responses", status, "content", kind, "schema")
				}
			}
		}
	}
}

// Every route of the architecture is in the document, and each route of the
// document is there: it answers something else than that there is nothing.
func TestDocumentCoversTheRoutes(t *testing.T) {
	d := newDoor(t)
	doc := d.document()
	var got []string
	for path, methods := range doc.Paths {
		for method := range methods {
			got = append(got, strings.ToUpper(method)+" "+path)
			filled := fillPath(path)
			if strings.HasSuffix(path, "/watch") {
				filled += "?from=0" // refused, so that it ends
			}
			r := d.send(strings.ToUpper(method), filled, "")
			assert.NotEqual(t, http.StatusMethodNotAllowed, r.status, path)
			if r.status == http.StatusNotFound {
				assert.Regexp(t, `"field":"(agent|run|token|escalation|task|name|node)"`, string(r.body), "%s %s: %s", method, path, r.body)
			}
		}
	}
	got = slices.DeleteFunc(got, func(route string) bool { return slices.Contains(authRoutes, route) })
	slices.Sort(got)
	const k = "/v1/kernels/{kernel}"
	assert.Equal(t, []string{
		"GET /healthz",
		"GET /metrics",
		"GET /readyz",
		"GET /v1/cluster/members",
		"GET /v1/cluster/status",
		"GET " + k + "/agents",
		"GET " + k + "/agents/{id}",
		"GET " + k + "/agents/{id}/export",
		"GET " + k + "/agents/{id}/faults",
		"GET " + k + "/agents/{id}/history",
		"GET " + k + "/agents/{id}/memory",
		"GET " + k + "/agents/{id}/memory/value",
		"GET " + k + "/agents/{id}/permission",
		"GET " + k + "/agents/{id}/tree",
		"GET " + k + "/audit",
		"GET " + k + "/backup",
		"GET " + k + "/escalations",
		"GET " + k + "/escalations/{escalation}",
		"GET " + k + "/log",
		"GET " + k + "/log/export",
		"GET " + k + "/log/proof",
		"GET " + k + "/log/segments",
		"GET " + k + "/runs",
		"GET " + k + "/runs/{id}",
		"GET " + k + "/runs/{id}/ledger",
		"GET " + k + "/shared/{namespace}",
		"GET " + k + "/shared/{namespace}/value",
		"GET " + k + "/tasks",
		"GET " + k + "/tasks/{task}",
		"GET " + k + "/tokens",
		"GET " + k + "/tokens/{token}",
		"GET " + k + "/tools",
		"GET " + k + "/tools/{name}",
		"GET " + k + "/watch",
		"GET " + k + "/workers",
		"GET /v1/node",
		"GET /v1/node/journal",
		"POST /v1/cluster/members",
		"POST /v1/cluster/members/{node}/demote",
		"POST /v1/cluster/members/{node}/promote",
		"POST /v1/cluster/members/{node}/remove",
		"POST /v1/cluster/transfer",
		"POST " + k + "/agents",
		"POST " + k + "/agents/start",
		"POST " + k + "/agents/{id}/budget",
		"POST " + k + "/agents/{id}/fork",
		"POST " + k + "/agents/{id}/grants/{grant}/revoke",
		"POST " + k + "/agents/{id}/instructions",
		"POST " + k + "/agents/{id}/kill",
		"POST " + k + "/agents/{id}/messages",
		"POST " + k + "/agents/{id}/reclassify",
		"POST " + k + "/agents/{id}/triggers/{trigger}",
		"POST " + k + "/batch",
		"POST " + k + "/escalations/{escalation}/decide",
		"POST " + k + "/log/archive",
		"POST " + k + "/resume",
		"POST " + k + "/runs",
		"POST " + k + "/runs/{id}/kill",
		"POST " + k + "/runs/{id}/pause",
		"POST " + k + "/runs/{id}/resume",
		"POST " + k + "/runs/{id}/start",
		"POST " + k + "/sessions",
		"POST " + k + "/shared/{namespace}/delete",
		"POST " + k + "/shared/{namespace}/put",
		"POST " + k + "/suspend",
		"POST " + k + "/tasks/{task}/complete",
		"POST " + k + "/tasks/{task}/reject",
		"POST " + k + "/tokens/{token}/revoke",
		"POST " + k + "/tools",
		"POST " + k + "/tools/{name}/deregister",
		"POST " + k + "/workers/leases/{lease}/complete",
		"POST " + k + "/workers/leases/{lease}/fail",
		"POST " + k + "/workers/leases/{lease}/heartbeat",
		"POST " + k + "/workers/poll",
		"POST /v1/node/estop",
		"POST /v1/node/pause",
		"POST /v1/node/restart",
		"POST /v1/node/resume",
	}, got)
}

func fillPath(path string) string {
	return strings.NewReplacer(
		"{kernel}", "default", "{id}", agentA, "{trigger}", "spawn", "{grant}", "0", "{token}", agentA, "{escalation}", "7", "{namespace}", "team", "{name}", "crm.get", "{task}", agentB+"-1-1",
	).Replace(path)
}

// What the document says of bodies and answers is what is sent and taken.
func TestAnswersMatchTheDocument(t *testing.T) {
	d := newDoor(t)
	doc := d.document()
	const k = "/v1/kernels/{kernel}"
	check := func(method, path, status string, r reply) {
		schema := doc.compile(t, "paths", path, strings.ToLower(method), "responses", status, "content", "application/json", "schema")
		var got any
		require.NoError(t, json.Unmarshal(r.body, &got))
		assert.NoError(t, schema.Validate(got), "%s %s: %s", method, path, r.body)
	}
	sent := func(path, body string) {
		schema := doc.compile(t, "paths", path, "post", "requestBody", "content", "application/json", "schema")
		var got any
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		assert.NoError(t, schema.Validate(got), "%s: %s", path, body)
	}
	define := `{"id":"` + agentA + `","name":"a","mode":"service","labels":{"x":"y"},"env":{"a":"b"},"program":` + echo + `,
		"grants":[{"effect":"ALLOW","action":"tool.call","resource":"echo","not_after_ms":99999999999999}]}`
	sent(k+"/agents", define)
	check("POST", k+"/agents", "201", d.post("/agents", define))
	check("POST", k+"/agents", "default", d.post("/agents", define))
	start := `{"agent":{"program":{"kind":"LITERAL","payload":{"value":"${1//0}"}}},"input":[1],"reason":"r"}`
	sent(k+"/agents/start", start)
	started := d.post("/agents/start", start)
	check("POST", k+"/agents/start", "201", started)
	sent(k+"/agents/{id}/triggers/{trigger}", `{"reason":"r","input":null}`)
	check("POST", k+"/agents/{id}/triggers/{trigger}", "200", d.post("/agents/"+agentA+"/triggers/spawn", `{"reason":"r"}`))
	check("POST", k+"/agents/{id}/triggers/{trigger}", "200", d.post("/agents/"+agentA+"/triggers/activate", ``))
	sent(k+"/agents/{id}/instructions", `{"program":`+literal+`,"input":{}}`)
	check("POST", k+"/agents/{id}/instructions", "200", d.post("/agents/"+agentA+"/instructions", `{"program":`+literal+`}`))
	batch := `{"commands":[{"op":"kill","body":{"agent":"` + agentB + `"}},{"op":"define","body":{}}]}`
	sent(k+"/batch", batch)
	check("POST", k+"/batch", "200", d.post("/batch", batch))
	check("POST", k+"/sessions", "201", d.post("/sessions", ""))
	check("GET", k+"/agents/{id}", "200", d.get("/agents/"+agentA))
	faulted := decode[api.Done](t, started, 201)
	check("GET", k+"/agents/{id}", "200", d.get("/agents/"+faulted.AgentID))
	check("GET", k+"/agents/{id}/history", "200", d.get("/agents/"+agentA+"/history"))
	check("GET", k+"/agents", "200", d.get("/agents?limit=2"))
	check("GET", k+"/log", "200", d.get("/log?limit=1000"))
	checkpoint(t, d)
	check("GET", k+"/log/segments", "200", d.get("/log/segments"))
	check("GET", k+"/log/proof", "200", d.get("/log/proof?seq=1"))
	check("GET", "/v1/cluster/status", "200", d.send(http.MethodGet, "/v1/cluster/status", ""))
	check("GET", "/readyz", "200", d.send(http.MethodGet, "/readyz", ""))
	sent("/v1/cluster/transfer", `{"to":"n1"}`)
	check("POST", "/v1/cluster/transfer", "200", d.send(http.MethodPost, "/v1/cluster/transfer", `{"to":"n1"}`))
	d.operatorAnswers(sent, check)
	sent(k+"/agents/{id}/kill", `{"reason":"r"}`)
	check("POST", k+"/agents/{id}/kill", "200", d.post("/agents/"+agentA+"/kill", `{"reason":"r"}`))
}

// operatorAnswers does the same with what operators send and see.
func (d *door) operatorAnswers(sent func(path, body string), check func(method, path, status string, r reply)) {
	const k = "/v1/kernels/{kernel}"
	const child = `{"name":"child","program":{"kind":"CALL","payload":{"tool":"echo","args":1}},"grants":[{"effect":"ESCALATE","action":"tool.call","resource":"echo"}]}`
	start := `{"agent":{"program":{"kind":"SEQ","payload":{"steps":[{"kind":"WRITE","payload":{"key":"a/b","value":[1]}},
		{"kind":"DELEGATE","payload":{"children":[` + child + `]}}]}},"grants":[
		{"effect":"ALLOW","action":"agent.*","resource":"**"},{"effect":"ALLOW","action":"memory.*","resource":"**"},
		{"effect":"ALLOW","action":"tool.*","resource":"**"}],"teardown":` + literal + `,"max_depth":3,"ttl_ms":3600000}}`
	sent(k+"/agents/start", start)
	parent := decode[api.Done](d.t, d.post("/agents/start", start), http.StatusCreated)
	check("GET", k+"/agents/{id}", "200", d.get("/agents/"+parent.AgentID))
	tree := d.get("/agents/" + parent.AgentID + "/tree")
	check("GET", k+"/agents/{id}/tree", "200", tree)
	childID := decode[api.TreePage](d.t, tree, http.StatusOK).Agents[1].AgentID
	check("GET", k+"/agents/{id}", "200", d.get("/agents/"+childID))
	check("GET", k+"/agents/{id}/memory", "200", d.get("/agents/"+parent.AgentID+"/memory"))
	check("GET", k+"/agents/{id}/memory/value", "200", d.get("/agents/"+parent.AgentID+"/memory/value?key=a/b"))
	check("GET", k+"/agents/{id}/permission", "200", d.get("/agents/"+childID+"/permission?action=tool.call&resource=echo"))
	check("GET", k+"/tokens", "200", d.get("/tokens"))
	check("GET", k+"/tokens/{token}", "200", d.get("/tokens/"+childID))
	waiting := d.get("/escalations")
	check("GET", k+"/escalations", "200", waiting)
	number := strconv.FormatUint(decode[api.EscalationPage](d.t, waiting, http.StatusOK).Escalations[0].Escalation, 10)
	check("GET", k+"/escalations/{escalation}", "200", d.get("/escalations/"+number))
	sent(k+"/escalations/{escalation}/decide", `{"approve":false,"reason":"r"}`)
	check("POST", k+"/escalations/{escalation}/decide", "200", d.post("/escalations/"+number+"/decide", `{"approve":false,"reason":"r"}`))
	check("GET", k+"/agents/{id}/faults", "200", d.get("/agents/"+childID+"/faults"))
	check("GET", k+"/audit", "200", d.get("/audit"))
	fork := `{"at":` + strconv.FormatUint(parent.BusSeq, 10) + `,"name":"f","set":{"a/b":[2],"c":null},"grants":[{"effect":"ALLOW","action":"tool.*","resource":"**"}],"input":1}`
	sent(k+"/agents/{id}/fork", fork)
	forked := d.post("/agents/"+parent.AgentID+"/fork", fork)
	check("POST", k+"/agents/{id}/fork", "201", forked)
	check("GET", k+"/agents/{id}", "200", d.get("/agents/"+decode[api.Done](d.t, forked, http.StatusCreated).AgentID))
	sent(k+"/log/archive", `{"before":2}`)
	check("POST", k+"/log/archive", "default", d.post("/log/archive", `{"before":2}`))
	sent(k+"/agents/{id}/messages", `{"message":{"a":1}}`)
	check("POST", k+"/agents/{id}/messages", "200", d.post("/agents/"+agentA+"/messages", `{"message":{"a":1}}`))
	sent(k+"/agents/{id}/grants/{grant}/revoke", `{"reason":"r"}`)
	check("POST", k+"/agents/{id}/grants/{grant}/revoke", "200", d.post("/agents/"+agentA+"/grants/0/revoke", `{"reason":"r"}`))
	idle := decode[api.Done](d.t, d.post("/agents/start", `{"agent":{"mode":"service","program":`+literal+`}}`), http.StatusCreated)
	sent(k+"/tokens/{token}/revoke", `{"reason":"r"}`)
	check("POST", k+"/tokens/{token}/revoke", "200", d.post("/tokens/"+idle.AgentID+"/revoke", `{"reason":"r"}`))
	sent(k+"/shared/{namespace}/put", `{"key":"a/b","value":null,"version":0}`)
	check("POST", k+"/shared/{namespace}/put", "200", d.post("/shared/team/put", `{"key":"a/b","value":{"x":[1]},"version":0}`))
	check("POST", k+"/shared/{namespace}/put", "default", d.post("/shared/team/put", `{"key":"a/b","value":2,"version":0}`))
	check("GET", k+"/shared/{namespace}", "200", d.get("/shared/team"))
	check("GET", k+"/shared/{namespace}/value", "200", d.get("/shared/team/value?key=a/b"))
	sent(k+"/shared/{namespace}/delete", `{"key":"a/b"}`)
	check("POST", k+"/shared/{namespace}/delete", "200", d.post("/shared/team/delete", `{"key":"a/b"}`))
	sent(k+"/suspend", `{"reason":"r"}`)
	check("POST", k+"/suspend", "200", d.post("/suspend", `{"reason":"r"}`))
	check("POST", k+"/suspend", "default", d.post("/suspend", `{"reason":"r"}`))
	check("GET", "/readyz", "200", d.send(http.MethodGet, "/readyz", ""))
	check("GET", "/v1/cluster/status", "200", d.send(http.MethodGet, "/v1/cluster/status", ""))
	sent(k+"/resume", `{"reason":"r"}`)
	check("POST", k+"/resume", "200", d.post("/resume", `{"reason":"r"}`))
	sent(k+"/agents/{id}/reclassify", `{"reason":"r"}`)
	check("POST", k+"/agents/{id}/reclassify", "default", d.post("/agents/"+agentA+"/reclassify", `{"reason":"r"}`))
}

// Every parameter of the query that the document names is taken, and no other.
func TestParametersMatchTheDocument(t *testing.T) {
	d := newDoor(t)
	running := `{"kind":"SEQ","payload":{"steps":[
		{"kind":"WRITE","payload":{"key":"notes","value":1}},{"kind":"CALL","payload":{"tool":"echo"}}]}}`
	decode[api.Done](t, d.post("/runs", `{"start":true,"tasks":[{"name":"a"}],"agent":{"id":"`+agentA+`","program":`+running+`,"grants":[
		{"effect":"ALLOW","action":"memory.*","resource":"**"},{"effect":"ESCALATE","action":"tool.call","resource":"echo"}]}}`), http.StatusCreated)
	decode[api.Done](t, d.post("/shared/team/put", `{"key":"notes","value":1}`), http.StatusOK)
	decode[api.Done](t, d.post("/tools", `{"name":"crm.get","adapter":"http"}`), http.StatusOK)
	waiting := decode[api.EscalationPage](t, d.get("/escalations"), http.StatusOK).Escalations[0].Escalation
	d.registerAsk("true")
	task := d.ask(agentB, "")
	checkpoint(t, d)
	good := map[string]string{
		"key": "notes", "prefix": "orders", "action": "tool.call", "resource": "echo", "in_force": "true", "alone": "true", "notes": "true",
		"consistency": "stale", "min_index": "1", "max_lag_ms": "1000", "seq": "1", "limit": "5", "after": agentA, "state": "DEFINED",
		"label": "a=b", "from": "1", "agent": agentA, "run": agentA, "kinds": "STEP", "principal": "ann",
	}
	for path, methods := range d.document().Paths {
		op, ok := methods["get"]
		if !ok || strings.HasSuffix(path, "/watch") || strings.HasSuffix(path, "/workers") || // which a solo node refuses
			strings.Contains(path, "/auth/") && strings.HasSuffix(path, "/{name}") { // there is nobody before the bootstrap
			continue
		}
		url := fillPath(strings.Replace(path, "{escalation}", strconv.FormatUint(waiting, 10), 1)) + "?x"
		for _, p := range op.Parameters {
			if p.In != "query" {
				continue
			}
			text := good[p.Name]
			require.Contains(t, good, p.Name)
			switch { // what a key, or a number, is to start after
			case p.Name == "after" && (strings.HasSuffix(path, "/memory") || strings.Contains(path, "/shared/")):
				text = "notes"
			case p.Name == "after" && strings.HasSuffix(path, "/tasks"):
				text = task
			case p.Name == "state" && strings.HasSuffix(path, "/runs"):
				text = "APPLYING"
			case p.Name == "after" && strings.HasSuffix(path, "/escalations"), p.Name == "after" && path == "/v1/node/journal":
				text = "1"
			}
			url += "&" + p.Name + "=" + text
		}
		if strings.HasPrefix(path, "/v1/") {
			refuses(t, d.send(http.MethodGet, url, ""), 422, "INVALID_ARGUMENT", "x")
		}
		r := d.send(http.MethodGet, strings.Replace(url, "?x", "?", 1), "")
		assert.Equal(t, http.StatusOK, r.status, "%s: %s", url, r.body)
	}
}
