package httpapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
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
			filled := strings.NewReplacer("{kernel}", "default", "{id}", agentA, "{trigger}", "spawn").Replace(path)
			if strings.HasSuffix(path, "/watch") {
				filled += "?from=0" // refused, so that it ends
			}
			r := d.send(strings.ToUpper(method), filled, "")
			assert.NotEqual(t, http.StatusMethodNotAllowed, r.status, path)
			if r.status == http.StatusNotFound {
				assert.Contains(t, string(r.body), `"field":"agent"`, "%s %s: %s", method, path, r.body)
			}
		}
	}
	slices.Sort(got)
	const k = "/v1/kernels/{kernel}"
	assert.Equal(t, []string{
		"GET /healthz",
		"GET /readyz",
		"GET /v1/cluster/status",
		"GET " + k + "/agents",
		"GET " + k + "/agents/{id}",
		"GET " + k + "/agents/{id}/history",
		"GET " + k + "/log",
		"GET " + k + "/log/export",
		"GET " + k + "/watch",
		"POST /v1/cluster/transfer",
		"POST " + k + "/agents",
		"POST " + k + "/agents/start",
		"POST " + k + "/agents/{id}/instructions",
		"POST " + k + "/agents/{id}/kill",
		"POST " + k + "/agents/{id}/triggers/{trigger}",
		"POST " + k + "/batch",
		"POST " + k + "/sessions",
	}, got)
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
	check("GET", "/v1/cluster/status", "200", d.send(http.MethodGet, "/v1/cluster/status", ""))
	check("GET", "/readyz", "200", d.send(http.MethodGet, "/readyz", ""))
	sent("/v1/cluster/transfer", `{"to":"n1"}`)
	check("POST", "/v1/cluster/transfer", "200", d.send(http.MethodPost, "/v1/cluster/transfer", `{"to":"n1"}`))
	sent(k+"/agents/{id}/kill", `{"reason":"r"}`)
	check("POST", k+"/agents/{id}/kill", "200", d.post("/agents/"+agentA+"/kill", `{"reason":"r"}`))
}

// Every parameter of the query that the document names is taken, and no other.
func TestParametersMatchTheDocument(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{"id":"`+agentA+`"}`), http.StatusCreated)
	good := map[string]string{
		"consistency": "stale", "min_index": "1", "max_lag_ms": "1000", "limit": "5", "after": agentA, "state": "DEFINED",
		"label": "a=b", "from": "1", "agent": agentA, "kinds": "STEP",
	}
	for path, methods := range d.document().Paths {
		op, ok := methods["get"]
		if !ok || strings.HasSuffix(path, "/watch") {
			continue
		}
		url := strings.NewReplacer("{kernel}", "default", "{id}", agentA).Replace(path) + "?x"
		for _, p := range op.Parameters {
			if p.In == "query" {
				require.Contains(t, good, p.Name)
				url += "&" + p.Name + "=" + good[p.Name]
			}
		}
		if strings.HasPrefix(path, "/v1/") {
			refuses(t, d.send(http.MethodGet, url, ""), 422, "INVALID_ARGUMENT", "x")
		}
		r := d.send(http.MethodGet, strings.Replace(url, "?x", "?", 1), "")
		assert.Equal(t, http.StatusOK, r.status, "%s: %s", url, r.body)
	}
}
