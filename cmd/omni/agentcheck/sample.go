package agentcheck

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// maxSampleDepth bounds how deep a made value goes: a schema may refer to itself.
const maxSampleDepth = 8

// sample makes a small value that fits a JSON Schema: what it names as default, example
// or constant, else the least that its types, lengths and required members ask for. ok
// is false where that does not fit, as with a pattern.
func sample(of value.Raw) (value.Raw, bool) {
	root := of.ToGo()
	made, problem := value.FromGo(sampler{root: root}.of(root, 0))
	if problem != nil {
		return nil, false
	}
	compiled, err := schema.Compile(schema.Text(of))
	if err != nil || compiled.Check(made) != "" {
		return nil, false
	}
	return made, true
}

type sampler struct{ root any }

func (s sampler) of(node any, depth int) any {
	m, ok := node.(map[string]any)
	if !ok || depth > maxSampleDepth {
		return nil
	}
	if ref, ok := m["$ref"].(string); ok {
		return s.of(s.at(ref), depth+1)
	}
	for _, given := range [...]string{"const", "default"} {
		if v, ok := m[given]; ok {
			return v
		}
	}
	for _, list := range [...]string{"examples", "enum"} {
		if all, ok := m[list].([]any); ok && len(all) > 0 {
			return all[0]
		}
	}
	for _, list := range [...]string{"oneOf", "anyOf", "allOf"} {
		if all, ok := m[list].([]any); ok && len(all) > 0 && m["type"] == nil {
			return s.of(all[0], depth+1)
		}
	}
	switch kindOf(m) {
	case "object":
		return s.object(m, depth)
	case "array":
		return s.array(m, depth)
	case "string":
		return strings.Repeat("x", int(number(m, "minLength", 0)))
	case "integer":
		return int64(math.Ceil(least(m)))
	case "number":
		return least(m)
	case "boolean":
		return false
	}
	return nil
}

// at finds what a reference within the schema refers to.
func (s sampler) at(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := s.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if part == "" {
			continue
		}
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}

func (s sampler) object(m map[string]any, depth int) any {
	properties, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	made := make(map[string]any, len(required))
	for _, name := range required {
		if name, ok := name.(string); ok {
			made[name] = s.of(properties[name], depth+1)
		}
	}
	return made
}

// maxSampleItems bounds a made list.
const maxSampleItems = 16

func (s sampler) array(m map[string]any, depth int) any {
	made := []any{}
	prefix, _ := m["prefixItems"].([]any)
	for i := range int(min(maxSampleItems, number(m, "minItems", 0))) {
		if i < len(prefix) {
			made = append(made, s.of(prefix[i], depth+1))
			continue
		}
		made = append(made, s.of(m["items"], depth+1))
	}
	return made
}

// kindOf is the type that a schema asks for, or what its keywords are about.
func kindOf(m map[string]any) string {
	switch t := m["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			kind, _ := t[0].(string)
			return kind
		}
	}
	if m["properties"] != nil || m["required"] != nil {
		return "object"
	}
	return ""
}

func least(m map[string]any) float64 {
	if n := number(m, "exclusiveMinimum", math.NaN()); !math.IsNaN(n) {
		return math.Floor(n) + 1
	}
	n := number(m, "minimum", 0)
	return min(n, number(m, "maximum", n))
}

func number(m map[string]any, name string, otherwise float64) float64 {
	switch n := m[name].(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	case json.Number:
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return otherwise
}
