package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// MaxBytes bounds a schema's JSON.
const MaxBytes = 64 << 10

// Schema is a compiled JSON Schema. The nil one accepts every value.
type Schema struct {
	compiled *jsonschema.Schema
}

// Compile compiles the JSON text of a schema; the empty text accepts everything.
func Compile(text string) (*Schema, error) {
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
	const here = "urn:omnikernel:schema"
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
	return &Schema{compiled: compiled}, nil
}

// Of compiles a schema that somebody gave as a value, at a field, or refuses it.
func Of(raw value.Raw, field string) (*Schema, *failure.Refusal) {
	text := Text(raw)
	if len(text) > MaxBytes {
		return nil, &failure.Refusal{
			Code: failure.InvalidArgument, Field: field, Rule: "must be at most " + strconv.Itoa(MaxBytes) + " bytes of JSON",
		}
	}
	s, err := Compile(text)
	if err != nil {
		return nil, &failure.Refusal{
			Code: failure.InvalidArgument, Field: field, Rule: "is no JSON Schema (draft 2020-12) that compiles",
			Hint: failure.Clip(strings.Join(strings.Fields(err.Error()), " ")),
		}
	}
	return s, nil
}

// Text is a schema as JSON; empty for one that is not there.
func Text(raw value.Raw) string {
	if len(raw) == 0 {
		return ""
	}
	return string(raw.AppendJSON(nil))
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

// Broken tells where a value breaks the schema, as a path within the value that is
// empty for all of it, and which rule it breaks there; no rule when it fits.
func (s *Schema) Broken(v value.Raw) (path, rule string) {
	if s == nil {
		return "", ""
	}
	checked := v.ToGo()
	if !affordable(s.compiled, checked) {
		return "", "cannot be checked: the schema asks for more than " + strconv.Itoa(maxSteps) + " steps"
	}
	err := s.compiled.Validate(checked)
	if err == nil {
		return "", ""
	}
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		return "", "must fit the schema"
	}
	first := first(broken)
	return pathOf(first.InstanceLocation), ruleOf(first)
}

// Check is Broken as one text: "path: rule", or empty.
func (s *Schema) Check(v value.Raw) string {
	path, rule := s.Broken(v)
	if path == "" || rule == "" {
		return rule
	}
	return path + ": " + rule
}
