package mcpserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// schemaOf is the JSON Schema of a tool's arguments, and its text. Fields without
// omitempty are required; beside the library's tag for the description, enum, min and
// max bound a field.
func schemaOf[In any]() (*jsonschema.Schema, string) {
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[value.Raw](): {}, // any value
	}})
	if err == nil {
		err = constrain(schema, reflect.TypeFor[In]())
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(schema)
	}
	if err != nil {
		panic(fmt.Sprintf("mcpserver: the schema of %v: %v", reflect.TypeFor[In](), err))
	}
	return schema, string(text)
}

// constrain adds what the tags say, and takes null out of what may be left out instead.
func constrain(schema *jsonschema.Schema, t reflect.Type) error {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if len(schema.Types) == 2 && schema.Types[0] == "null" {
		schema.Type, schema.Types = schema.Types[1], nil
	}
	if schema.Items != nil {
		return constrain(schema.Items, t)
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		if err := constrain(property, field.Type); err != nil {
			return err
		}
		if words := field.Tag.Get("enum"); words != "" {
			for word := range strings.SplitSeq(words, ",") {
				property.Enum = append(property.Enum, word)
			}
		}
		for tag, bound := range map[string]**float64{"min": &property.Minimum, "max": &property.Maximum} {
			if text, given := field.Tag.Lookup(tag); given {
				number, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return err
				}
				*bound = &number
			}
		}
	}
	slices.Sort(schema.Required)
	return nil
}
