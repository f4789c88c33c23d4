package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

func nextSeq(d *door) uint64 {
	d.t.Helper()
	return decode[api.LogPage](d.t, d.get("/log?limit=1000"), http.StatusOK).Next
}

const crmManifest = `{"name":"crm.get","version":"1","description":"d","adapter":"http","config":{"url":"https://h/{id}"},
	"input":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"output":true,"timeout_ms":700,
	"retry":{"max_attempts":3,"backoff_ms":5,"max_backoff_ms":7},"idempotent":true,"concurrency":2,"cost":{"tokens":3,"usd_micros":4},
	"secrets":["KEY"],"resource":["id"]}`

// asJSON is what a schema judges.
func asJSON(t *testing.T, raw []byte) (v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, &v), "%s", raw)
	return v
}

// TO-9: a manifest is registered, shown as it was given, listed, and taken away; the
// same one again changes nothing.
func TestToolsThroughTheDoor(t *testing.T) {
	d := newDoor(t)
	doc := d.document()
	const k = "/v1/kernels/{kernel}"
	valid := func(method, path string, r reply) reply {
		schema := doc.compile(t, "paths", path, method, "responses", "200", "content", "application/json", "schema")
		require.NoError(t, schema.Validate(asJSON(t, r.body)), "%s", r.body)
		return r
	}
	body := doc.compile(t, "paths", k+"/tools", "post", "requestBody", "content", "application/json", "schema")
	require.NoError(t, body.Validate(asJSON(t, []byte(crmManifest))))
	require.NoError(t, body.Validate(asJSON(t, []byte(`{"name":"a","adapter":"http"}`))), "what may be left out is said so")

	first := decode[api.Done](t, valid("post", k+"/tools", d.post("/tools", crmManifest)), http.StatusOK)
	assert.Equal(t, first.BusSeq+1, first.Version)
	again := decode[api.Done](t, d.post("/tools", crmManifest), http.StatusOK)
	assert.Equal(t, first.Version, again.Version)
	assert.Less(t, again.Version, again.BusSeq)
	r := valid("get", k+"/tools/{name}", d.get("/tools/crm.get"))
	tool := decode[api.Tool](t, r, http.StatusOK)
	assert.Equal(t, first.Version, tool.Revision)
	assert.JSONEq(t, crmManifest, jsonOf(t, tool.Manifest))

	running := d.post("/agents/start", `{"agent":{"id":"`+agentA+`","program":{"kind":"CALL","payload":{"tool":"crm.get","args":{"id":"x"}}},
		"grants":[{"effect":"ALLOW","action":"tool.call","resource":"crm.get/x"}]}}`)
	require.Equal(t, http.StatusCreated, running.status, "%s", running.body)
	second := decode[api.Done](t, d.post("/tools", `{"name":"crm.get","version":"2","adapter":"http"}`), http.StatusOK)
	decode[api.Done](t, d.post("/tools", `{"name":"a.b","adapter":"http"}`), http.StatusOK)
	tool = decode[api.Tool](t, valid("get", k+"/tools/{name}", d.get("/tools/crm.get")), http.StatusOK)
	assert.Equal(t, second.Version, tool.Revision)
	assert.Equal(t, []api.EarlierTool{{Version: "1", Revision: first.Version, AtMillis: tool.Earlier[0].AtMillis, Calls: 1}}, tool.Earlier)

	page := decode[api.ToolPage](t, valid("get", k+"/tools", d.get("/tools?limit=1")), http.StatusOK)
	assert.Equal(t, "a.b", page.Tools[0].Name)
	assert.Equal(t, "a.b", page.Next)
	assert.Equal(t, tools.Names(), page.BuiltIn)
	page = decode[api.ToolPage](t, d.get("/tools?after=a.b"), http.StatusOK)
	assert.Equal(t, []string{"crm.get", "2"}, []string{page.Tools[0].Name, page.Tools[0].Version})
	assert.Empty(t, page.Next)

	valid("post", k+"/tools/{name}/deregister", d.post("/tools/crm.get/deregister", `{"reason":"gone"}`))
	refuses(t, d.get("/tools/crm.get"), http.StatusNotFound, "NOT_FOUND", "name")
	refuses(t, d.post("/tools/crm.get/deregister", ``), http.StatusNotFound, "NOT_FOUND", "name")
}

// TO-9: what is wrong with a manifest is refused at the door, by its field, and costs
// no log entry; what only the adapter knows is asked of the node.
func TestManifestsAreCheckedAtTheDoor(t *testing.T) {
	asked := func(m *tools.Manifest) *failure.Refusal {
		if m.Adapter == "http" {
			return nil
		}
		return &failure.Refusal{Code: failure.InvalidArgument, Field: "adapter", Rule: "is none that this node has"}
	}
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{CheckTool: asked})
	before := nextSeq(d)
	for field, body := range map[string]string{
		"adapter":            `{"name":"a","adapter":"exec"}`,
		"name":               `{"name":"memory.a","adapter":"http"}`,
		"idempotent":         `{"name":"a","adapter":"http","idempotent":"yes"}`,
		"retry.attempts":     `{"name":"a","adapter":"http","retry":{"attempts":3}}`,
		"retry.max_attempts": `{"name":"a","adapter":"http","retry":{"max_attempts":21}}`,
		"cost.tokens":        `{"name":"a","adapter":"http","cost":{"tokens":-1}}`,
		"cost.usd":           `{"name":"a","adapter":"http","cost":{"usd":1}}`,
		"secrets[0]":         `{"name":"a","adapter":"http","secrets":[1]}`,
		"resource":           `{"name":"a","adapter":"http","resource":"id"}`,
		"config":             `{"name":"a","adapter":"http","config":[]}`,
		"nonsense":           `{"name":"a","adapter":"http","nonsense":1}`,
	} {
		refuses(t, d.post("/tools", body), 422, "INVALID_ARGUMENT", field)
	}
	assert.Equal(t, before, nextSeq(d))
}
