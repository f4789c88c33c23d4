package httpapi

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// documentVersion is the API's own: it changes with the API, not with builds.
const documentVersion = "0"

// document serves the OpenAPI 3.1 document of the table at /openapi.json. huma
// makes the schemas from the Go types that the handlers use; the routes are the
// table's.
func (s *Server) document(mux *http.ServeMux, table []*route) {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(typeOf[value.Raw](), typeOf[anyValue]())
	registry.RegisterTypeAlias(typeOf[permissions.Effect](), typeOf[effect]())
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Omni Kernel", Version: documentVersion,
			Description: "A small deterministic operating system for agents, replicated. Commands go to the leader; reads to any node.",
			License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Components: &huma.Components{Schemas: registry},
		Tags: []*huma.Tag{
			{Name: "commands", Description: "What changes something. Exactly once with a session or an idempotency key."},
			{Name: "reads", Description: "At three levels of consistency, on every node."},
			{Name: "log", Description: "The execution log: pages, a stream, an export."},
			{Name: "tools", Description: "Tools that are registered while the cluster runs."},
			{Name: "cluster", Description: "The nodes."},
			{Name: "node", Description: "The asked node itself: its lifecycle."},
		},
	}
	for _, rt := range table {
		doc.AddOperation(rt.operation(registry))
	}
	humago.New(mux, huma.Config{
		OpenAPI: doc, OpenAPIPath: "/openapi", Formats: huma.DefaultFormats, DefaultFormat: "application/json",
	})
}

// anyValue is how the document shows a value of the JSON data model.
type anyValue struct{}

// Schema allows anything.
func (anyValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "any JSON: integers within 2^53 of zero, at most 64 levels deep, no key twice"}
}

// effect is how the document shows a grant's effect.
type effect struct{}

// Schema allows the three of them.
func (effect) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"ALLOW", "DENY", "ESCALATE"}}
}

func (rt *route) operation(registry huma.Registry) *huma.Operation {
	op := &huma.Operation{
		OperationID: rt.id, Method: rt.method, Path: rt.path, Summary: rt.summary, Description: rt.about,
		Tags: []string{rt.tag}, Parameters: rt.parameters(), Responses: map[string]*huma.Response{},
	}
	if rt.body != nil {
		op.RequestBody = &huma.RequestBody{
			Required: !rt.noBody,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: schemaIn(registry, rt.body)}},
		}
	}
	done := &huma.Response{Description: http.StatusText(rt.status)}
	switch {
	case rt.answer != nil:
		done.Content = map[string]*huma.MediaType{"application/json": {Schema: schemaIn(registry, rt.answer)}}
	case rt.contentType != "":
		done.Content = map[string]*huma.MediaType{rt.contentType: {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	op.Responses[strconv.Itoa(rt.status)] = done
	op.Responses["default"] = &huma.Response{
		Description: "What the server says happened instead; code and definite tell whether the request took effect.",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schemaIn(registry, typeOf[api.Error]())}},
	}
	return op
}

func schemaIn(registry huma.Registry, t reflect.Type) *huma.Schema {
	return registry.Schema(t, true, t.Name())
}

// inPath finds the parameters of a path.
var inPath = regexp.MustCompile(`\{([a-z]+)\}`)

// pathParams says what they are.
var pathParams = map[string]string{
	"kernel":  "id of the kernel; default unless the cluster was made with another",
	"id":      "UUID of the agent",
	"trigger": "a trigger of the lifecycle table, such as suspend",

	"token":      "UUID of the token, or of the agent that holds it",
	"grant":      "position in the agent's grants, from 0",
	"escalation": "number of the escalation",
	"name":       "of the tool",
	"lease":      "as the poll gave it",
	"namespace":  "of shared memory: one segment of 1 to 64 bytes",
}

func (rt *route) parameters() []*huma.Param {
	var params []*huma.Param
	for _, found := range inPath.FindAllStringSubmatch(rt.path, -1) {
		params = append(params, &huma.Param{
			Name: found[1], In: "path", Required: true, Description: pathParams[found[1]],
			Schema: &huma.Schema{Type: huma.TypeString},
		})
	}
	for i := range rt.query {
		params = append(params, rt.query[i].param())
	}
	return append(params, rt.headers()...)
}

func (p *parameter) param() *huma.Param {
	s := &huma.Schema{Type: p.schema}
	for _, word := range p.words {
		s.Enum = append(s.Enum, word)
	}
	if p.many {
		s = &huma.Schema{Type: huma.TypeArray, Items: s}
	}
	return &huma.Param{Name: p.name, In: "query", Description: p.about, Schema: s}
}

// headers are those that a command, a batch and a watch take.
func (rt *route) headers() []*huma.Param {
	header := func(name, about, kind string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: about, Schema: &huma.Schema{Type: kind}}
	}
	session := []*huma.Param{
		header(api.HeaderSession, "32 hex digits: the session that makes the command exactly once", huma.TypeString),
		header(api.HeaderFloor, "with a session: the lowest sequence whose answer is still wanted, from 1", huma.TypeInteger),
	}
	switch {
	case rt.command:
		return slices.Concat(session, []*huma.Param{
			header(api.HeaderSequence, "with a session: the command's number in it, from 1", huma.TypeInteger),
			header(api.HeaderKey, "instead of a session: the same promise for "+api.IdempotencyWindow, huma.TypeString),
		})
	case rt.body == typeOf[api.Batch]():
		return session
	case rt.contentType == "text/event-stream":
		return []*huma.Param{header(api.HeaderLastEvent, "go on after this id", huma.TypeString)}
	}
	return nil
}
