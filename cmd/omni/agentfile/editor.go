package agentfile

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Document is one of the files that people write, as editors are told about it.
type Document struct {
	Name  string // docs/schemas/NAME.json
	title string
	shape *Shape
	means reflect.Type // what the file becomes: its fields say what they are
}

// Documents are the files that there are a schema of.
var Documents = []Document{
	{"agent", "An agent of Omni Kernel: omni agent start -f", Agent, reflect.TypeFor[event.Define]()},
	{"instruction", "An instruction of Omni Kernel: omni agent submit -f", Work, reflect.TypeFor[event.Submit]()},
	{"run", "A run of Omni Kernel: omni run plan -f", Run, reflect.TypeFor[event.PlanRun]()},
	{"tool", "A tool's manifest of Omni Kernel: omni tool register -f", Tool, reflect.TypeFor[tools.Manifest]()},
}

// Schema is the JSON Schema (draft 2020-12) of a document by its name; nil when there
// is no such document. What it accepts, the reader does; the cluster looks closer.
func Schema(name string) []byte {
	for _, d := range Documents {
		if d.Name != name {
			continue
		}
		s := d.shape.schema(d.means)
		s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", d.title
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			panic("agentfile: a schema that does not encode: " + err.Error())
		}
		return append(text, '\n')
	}
	return nil
}

// schema says in JSON Schema what the shape says. means is the Go type of the part; nil
// when nothing more is known of it.
func (s *Shape) schema(means reflect.Type) map[string]any {
	switch s.kind {
	case text:
		out := map[string]any{"type": "string"}
		if s.words != nil {
			out["enum"] = s.words
		}
		return out
	case integer:
		return map[string]any{"type": "integer"}
	case flag:
		return map[string]any{"type": "boolean"}
	case texts:
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
	case schema:
		return map[string]any{"type": []string{"object", "boolean"}}
	case list:
		return map[string]any{"type": "array", "items": s.item.schema(elem(means))}
	case object:
		return s.object(means)
	}
	return map[string]any{}
}

func (s *Shape) object(means reflect.Type) map[string]any {
	out := map[string]any{"type": "object"}
	if s == instruction {
		out["required"] = []string{"kind", "payload"}
		out["properties"] = map[string]any{
			"kind":    map[string]any{"type": "string", "enum": evaluator.Kinds(), "description": "what it does: docs/instructions.md"},
			"payload": map[string]any{"type": "object"},
		}
		return out
	}
	if s.members == nil {
		return out
	}
	properties, required := make(map[string]any, len(s.members)), []string{}
	fields := fieldsOf(means)
	for name, member := range s.members {
		field := fields[name]
		property := member.schema(elem(field.Type))
		if about := field.Tag.Get("doc"); about != "" {
			property["description"] = about
		} else if s.about[name] != "" {
			property["description"] = s.about[name]
		}
		if words := field.Tag.Get("enum"); words != "" {
			property["enum"] = strings.Split(words, ",")
		}
		properties[name] = property
	}
	for _, field := range reflect.VisibleFields(elemOrEmpty(means)) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if s.members[name] != nil && options == "" {
			required = append(required, name)
		}
	}
	out["properties"], out["additionalProperties"] = properties, false
	if len(required) > 0 {
		out["required"] = required
	}
	if s.members["program"] != nil && s.members["script"] != nil {
		out["not"] = map[string]any{"required": []string{"program", "script"}}
	}
	return out
}

// fieldsOf are the fields of a struct by their names in JSON.
func fieldsOf(means reflect.Type) map[string]reflect.StructField {
	fields := make(map[string]reflect.StructField)
	for _, field := range reflect.VisibleFields(elemOrEmpty(means)) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields[name] = field
	}
	return fields
}

// elem is what a pointer, or a list of structs, has in it.
func elem(t reflect.Type) reflect.Type {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
		t = t.Elem()
	}
	return t
}

func elemOrEmpty(t reflect.Type) reflect.Type {
	if t = elem(t); t == nil || t.Kind() != reflect.Struct {
		return reflect.TypeFor[struct{}]()
	}
	return t
}
