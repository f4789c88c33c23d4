package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/value"
)

func raw(t *testing.T, v any) value.Raw {
	t.Helper()
	r, problem := value.FromGo(v)
	require.Nil(t, problem)
	return r
}

// EV-13: every broken rule is told in our words, with its path, and without
// the value.
func TestSchemaMessages(t *testing.T) {
	for _, row := range []struct {
		schema string
		value  any
		want   string
	}{
		{`{"type": "object"}`, 1, "must be of type object"},
		{`{"type": ["object", "null"]}`, 1, "must be of type null or object"},
		{`{"required": ["b", "a"]}`, map[string]any{}, "must have the member a"},
		{`{"properties": {"a": {"required": ["x"]}}}`, map[string]any{"a": map[string]any{}}, "a: must have the member x"},
		{`{"additionalProperties": false}`, map[string]any{"z": 1, "odd key": 1}, `must not have the member ["odd key"]`},
		{`{"properties": {"a": {"items": {"type": "string"}}}}`, map[string]any{"a": []any{"x", "x", 3}}, "a[2]: must be of type string"},
		{`{"properties": {"a": false}}`, map[string]any{"a": 1}, "a: must not be there"},
		{`{"enum": ["x"]}`, "hunter2", "must be one of the values that the schema lists"},
		{`{"const": 3}`, 4, "must be one of the values that the schema lists"},
		{`{"pattern": "^a$"}`, "hunter2", "must match the schema's pattern"},
		{`{"minLength": 2}`, "a", "must be at least 2 characters long"},
		{`{"maxLength": 1}`, "hunter2", "must be at most 1 characters long"},
		{`{"minItems": 1}`, []any{}, "must have at least 1 items"},
		{`{"maxItems": 1}`, []any{1, 2}, "must have at most 1 items"},
		{`{"minProperties": 1}`, map[string]any{}, "must have at least 1 members"},
		{`{"maxProperties": 0}`, map[string]any{"a": 1}, "must have at most 0 members"},
		{`{"minimum": 1.5}`, 1, "must be at least 3/2"},
		{`{"maximum": 1}`, 2, "must be at most 1"},
		{`{"exclusiveMinimum": 1}`, 1, "must be more than 1"},
		{`{"exclusiveMaximum": 1}`, 1, "must be less than 1"},
		{`{"multipleOf": 2}`, 3, "must keep to the schema's multipleOf"},
		{`{"uniqueItems": true}`, []any{1, 1}, "must keep to the schema's uniqueItems"},
		{`{"anyOf": [{"type": "string"}, {"type": "null"}]}`, 3, "must fit one of the schema's alternatives"},
		{`{"oneOf": [{"minimum": 1}, {"minimum": 2}]}`, 3, "must fit one of the schema's alternatives"},
		{`{"not": {"type": "string"}}`, "hunter2", "must not fit what the schema excludes"},
		{`{"propertyNames": {"maxLength": 1}}`, map[string]any{"ab": 1}, "must not have the member ab"},
		{`{"dependentRequired": {"a": ["b"]}}`, map[string]any{"a": 1}, "must have the member b"},
		{`{"contains": {"type": "string"}}`, []any{1}, "must keep to the schema's contains"},
		{`{"allOf": [{"minLength": 9}, {"type": "string"}]}`, "hunter2", "must be at least 9 characters long"},
		{`{"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}`, 1, "must be of type null"},
		{`{"properties": {"l": {"$ref": "#"}, "v": {"type": "null"}}}`, map[string]any{"l": map[string]any{"v": 1}}, "l.v: must be of type null"},
		{`false`, 1, "must not be there"},
	} {
		s, err := Compile(row.schema)
		require.NoError(t, err, row.schema)
		got := s.Check(raw(t, row.value))
		assert.Equal(t, row.want, got, row.schema)
		assert.NotContains(t, got, "hunter2")
	}
}

func TestSchemaAcceptsAll(t *testing.T) {
	for _, text := range []string{"", "true", "{}", " {} "} {
		s, err := Compile(text)
		require.NoError(t, err)
		assert.Nil(t, s, "%q must cost nothing", text)
		assert.Empty(t, s.Check(raw(t, "x")))
	}
}

func TestSchemaAcceptsIntegersAndFloats(t *testing.T) {
	s, err := Compile(`{"type": "array", "items": [{}, {}], "prefixItems": [{"type": "integer"}, {"type": "number"}]}`)
	require.Error(t, err, "draft 2020-12 has no list in items")
	assert.Nil(t, s)
	s, err = Compile(`{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "number"}]}`)
	require.NoError(t, err)
	assert.Empty(t, s.Check(raw(t, []any{3, 1.5})))
	assert.Empty(t, s.Check(raw(t, []any{3.0, 1})))
}
