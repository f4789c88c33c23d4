package schema

import (
	"errors"
	"math"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps bounds what a check of one value against one schema may take: a third
// of a second or so. A schema of a few hundred bytes, whose definitions each refer twice
// to the next one, asks for more than anybody can wait for, and the library has no
// bound of its own.
const maxSteps = 250_000

var errDynamicReference = errors.New("a schema must not use $dynamicRef or $recursiveRef: use $ref")

// meter counts what a check would take at most, without checking: every part of the
// schema is held against every part of the value that it may apply to. It leaves out
// only what the check leaves out for any value: what stands beside a type that the
// value is not of, and a definition that refers to itself without going further down.
type meter struct{ left int }

// affordable reports whether a check keeps to its bound.
func affordable(s *jsonschema.Schema, v any) bool {
	m := meter{left: maxSteps}
	m.visit(s, v, nil)
	return m.left >= 0
}

// beneath are the schemas under which a schema is held against the same value.
type beneath struct {
	schema *jsonschema.Schema
	above  *beneath
}

func (m *meter) visit(s *jsonschema.Schema, v any, above *beneath) {
	m.left -= 1 + size(v)/8
	if s == nil || s.Bool != nil || m.left < 0 {
		return
	}
	for at := above; at != nil; at = at.above {
		m.left--
		if at.schema == s {
			return
		}
	}
	if s.Types != nil && !s.Types.IsEmpty() && !mayBe(s.Types.ToStrings(), v) {
		return
	}
	m.values(s)
	here := &beneath{s, above}
	for _, one := range [...]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else} {
		m.self(one, v, here)
	}
	for _, list := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, one := range list {
			m.self(one, v, here)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		m.object(s, v, here)
	case []any:
		m.list(s, v)
	case string:
		m.pattern(s.Pattern, v)
	}
}

func (m *meter) self(s *jsonschema.Schema, v any, here *beneath) {
	if s != nil && m.left >= 0 {
		m.visit(s, v, here)
	}
}

// values pays for the values that a schema compares with.
func (m *meter) values(s *jsonschema.Schema) {
	m.left -= len(s.Required)
	if s.Const != nil {
		m.left -= size(*s.Const)
	}
	if s.Enum != nil {
		for _, one := range s.Enum.Values {
			m.left -= 1 + size(one)
		}
	}
}

func (m *meter) object(s *jsonschema.Schema, object map[string]any, here *beneath) {
	for _, list := range s.DependentRequired {
		m.left -= len(list)
	}
	for name, one := range s.DependentSchemas {
		if _, has := object[name]; has {
			m.self(one, object, here)
		}
	}
	for _, one := range s.Dependencies {
		if dependent, ok := one.(*jsonschema.Schema); ok {
			m.self(dependent, object, here)
		}
	}
	for name, item := range object {
		m.self(s.Properties[name], item, nil)
		for pattern, one := range s.PatternProperties {
			m.pattern(pattern, name)
			m.self(one, item, nil)
		}
		if additional, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
			m.self(additional, item, nil)
		}
		m.self(s.UnevaluatedProperties, item, nil)
		m.self(s.PropertyNames, name, nil)
	}
}

func (m *meter) list(s *jsonschema.Schema, list []any) {
	each, _ := s.Items.(*jsonschema.Schema)
	first, _ := s.Items.([]*jsonschema.Schema)
	first = append(slices.Clip(first), s.PrefixItems...)
	rest, _ := s.AdditionalItems.(*jsonschema.Schema)
	if s.UniqueItems {
		for _, item := range list {
			m.left -= 20 + 4*deepSize(item) // up to twenty are compared with each other
		}
	}
	for i, item := range list {
		if i < len(first) {
			m.self(first[i], item, nil)
		}
		for _, one := range [...]*jsonschema.Schema{each, rest, s.Items2020, s.Contains, s.UnevaluatedItems} {
			m.self(one, item, nil)
		}
	}
}

// pattern pays for a regular expression, which takes at most the text's length times
// its own.
func (m *meter) pattern(r jsonschema.Regexp, text string) {
	if r != nil {
		m.left -= len(text) * (1 + len(r.String())) / 64
	}
}

// size is how many parts a value has directly, and of a text how many times 16 bytes.
func size(v any) int {
	switch v := v.(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	case string:
		return len(v) / 16
	}
	return 0
}

func deepSize(v any) int {
	n := 1 + size(v)
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			n += deepSize(item)
		}
	case []any:
		for _, item := range v {
			n += deepSize(item)
		}
	}
	return n
}

// mayBe reports whether a value is of one of the types, as JSON Schema names them.
func mayBe(types []string, v any) bool {
	var is string
	switch v := v.(type) {
	case nil:
		is = "null"
	case bool:
		is = "boolean"
	case string:
		is = "string"
	case map[string]any:
		is = "object"
	case []any:
		is = "array"
	case float64:
		return slices.Contains(types, "number") || slices.Contains(types, "integer") && v == math.Trunc(v)
	default:
		return slices.Contains(types, "number") || slices.Contains(types, "integer")
	}
	return slices.Contains(types, is)
}

// bounded reports what of a schema cannot be counted beforehand: references whose
// target depends on the way to them.
func bounded(s *jsonschema.Schema, seen map[*jsonschema.Schema]bool) error {
	if s == nil || seen[s] {
		return nil
	}
	seen[s] = true
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return errDynamicReference
	}
	for _, one := range parts(s) {
		if err := bounded(one, seen); err != nil {
			return err
		}
	}
	return nil
}

// parts are the schemas within a schema, and the one that it refers to.
func parts(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{
		s.Ref, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties,
		s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
	}
	all = slices.Concat(all, s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems)
	for _, one := range s.Properties {
		all = append(all, one)
	}
	for _, one := range s.PatternProperties {
		all = append(all, one)
	}
	for _, one := range s.DependentSchemas {
		all = append(all, one)
	}
	for _, one := range s.Dependencies {
		all = append(all, schemasIn(one)...)
	}
	return slices.Concat(all, schemasIn(s.AdditionalProperties), schemasIn(s.Items), schemasIn(s.AdditionalItems))
}

// schemasIn reads a keyword whose value is of one of several kinds.
func schemasIn(keyword any) []*jsonschema.Schema {
	switch k := keyword.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{k}
	case []*jsonschema.Schema:
		return k
	}
	return nil
}
