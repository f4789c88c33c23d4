package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// doubling is a schema of so many definitions, each of which applies the next one twice
// by way of how, a text with two places for a reference.
func doubling(depth int, how, last string) string {
	var b strings.Builder
	b.WriteString(`{"allOf": [{"$ref": "#/$defs/d0"}], "$defs": {`)
	for i := range depth {
		next := fmt.Sprintf(`{"$ref": "#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&b, `"d%d": %s,`, i, strings.ReplaceAll(how, "NEXT", next))
	}
	fmt.Fprintf(&b, `"d%d": %s}}`, depth, last)
	return b.String()
}

// A schema that asks for more than can be waited for is not begun, whatever the
// keywords are by which it doubles (TO-6).
func TestSchemaStepsAreBounded(t *testing.T) {
	object := map[string]any{"a": 1, "b": 1}
	deep := any("x")
	for range 12 {
		deep = []any{deep, deep}
	}
	wide := make([]any, 3000)
	for i := range wide {
		wide[i] = strings.Repeat("a", 20)
	}
	for _, row := range []struct {
		name, schema string
		value        any
	}{
		{"allOf", doubling(40, `{"allOf": [NEXT, NEXT]}`, `{"type": "string"}`), "x"},
		{"anyOf", doubling(40, `{"anyOf": [NEXT, NEXT]}`, `{"type": "null"}`), "x"},
		{"oneOf", doubling(40, `{"oneOf": [NEXT, NEXT]}`, `{"type": "string"}`), "x"},
		{"not", doubling(40, `{"not": {"allOf": [NEXT, NEXT]}}`, `{"type": "string"}`), "x"},
		{"if", doubling(40, `{"if": NEXT, "then": NEXT, "else": NEXT}`, `true`), "x"},
		{"dependentSchemas", doubling(40, `{"dependentSchemas": {"a": NEXT, "b": NEXT}}`, `{"type": "null"}`), object},
		{"dependencies", `{"$schema": "http://json-schema.org/draft-07/schema#",` + doubling(40, `{"dependencies": {"a": NEXT, "b": NEXT}}`, `{"type": "null"}`)[1:], object},
		{"down a value", `{"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}, {"type": "string"}]}`, deep},
		{"patterns", `{"items": {"pattern": "^(` + strings.Repeat("a?", 2000) + `)$"}}`, wide},
		{"values", `{"items": {"enum": [` + strings.Repeat("1,", 1000) + `2]}}`, wide},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := Compile(row.schema)
			require.NoError(t, err)
			began := time.Now()
			assert.Equal(t, "cannot be checked: the schema asks for more than 250000 steps", s.Check(raw(t, row.value)))
			assert.Less(t, time.Since(began), 10*time.Second)
		})
	}
}

// What is common is counted as little.
func TestSchemaStepsOfWhatIsCommon(t *testing.T) {
	items := make([]any, 1000)
	for i := range items {
		items[i] = map[string]any{"name": "somebody", "tags": []any{"a", "b"}, "kind": "x"}
	}
	s, err := Compile(`{"type": "array", "uniqueItems": false, "items": {"type": "object", "required": ["name"], "additionalProperties": false,
		"properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}, "tags": {"type": "array", "uniqueItems": true, "items": {"type": "string"}},
		"kind": {"anyOf": [{"const": "x"}, {"const": "y"}, {"type": "null"}]}}}}`)
	require.NoError(t, err)
	assert.Empty(t, s.Check(raw(t, items)))
	tree, err := Compile(`{"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}, "additionalProperties": false}`)
	require.NoError(t, err)
	value := map[string]any{}
	for range 9 {
		value = map[string]any{"left": value, "right": value}
	}
	assert.Empty(t, tree.Check(raw(t, value)))
}

// A definition that refers to itself without going down ends, and fits nothing.
func TestSchemaThatRefersToItself(t *testing.T) {
	s, err := Compile(`{"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}`)
	require.NoError(t, err)
	assert.NotEmpty(t, s.Check(raw(t, 1)))
}

func TestSchemaHasNoDynamicReferences(t *testing.T) {
	for _, text := range []string{
		`{"properties": {"a": {"$dynamicRef": "#x"}}, "$defs": {"x": {"$dynamicAnchor": "x"}}}`,
		`{"$ref": "https://json-schema.org/draft/2020-12/schema"}`,
	} {
		_, err := Compile(text)
		require.ErrorIs(t, err, errDynamicReference, text)
	}
}
