package tools

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// schema is a compiled JSON Schema. The nil schema accepts every value.
type schema struct {
	compiled *jsonschema.Schema
}

// compileSchema compiles a schema once, for the life of the registry. Only the
// text itself and the drafts' own meta-schemas can be referred to.
func compileSchema(text string) (*schema, error) {
	if text == "" {
		return nil, nil
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("schema is not JSON: %w", err)
	}
	if acceptsAll(document) {
		return nil, nil
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	const here = "urn:omnikernel:manifest"
	if err := compiler.AddResource(here, document); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := compiler.Compile(here)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if err := bounded(compiled, make(map[*jsonschema.Schema]bool)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &schema{compiled: compiled}, nil
}

func acceptsAll(document any) bool {
	switch d := document.(type) {
	case bool:
		return d
	case map[string]any:
		return len(d) == 0
	}
	return false
}

var errRemoteReference = errors.New("a schema must not refer to another document")

// noLoader refuses to fetch: a manifest must not make a node read a file or
// call a host.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errRemoteReference }

// check returns how v breaks the schema, as "path: rule" in our words, or the
// empty string.
func (s *schema) check(v value.Raw) string {
	if s == nil {
		return ""
	}
	checked := v.ToGo()
	if !affordable(s.compiled, checked) {
		return fmt.Sprintf("it cannot be checked: the schema asks for more than %d steps", maxSchemaSteps)
	}
	err := s.compiled.Validate(checked)
	if err == nil {
		return ""
	}
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		return "it does not fit the tool's schema"
	}
	return describe(broken)
}
