package agentfile

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// keywords are those of JSON Schema, draft 2020-12, that say anything of a value.
var keywords = []string{
	"$defs", "$dynamicRef", "$ref", "additionalProperties", "allOf", "anyOf", "const", "contains", "default", "dependentRequired",
	"dependentSchemas", "description", "else", "enum", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "if", "items",
	"maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties",
	"minimum", "multipleOf", "not", "oneOf", "pattern", "patternProperties", "prefixItems", "properties", "propertyNames",
	"required", "then", "title", "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
}

// schema refuses a mapping that would accept everything, since it has no word of JSON
// Schema in it: somebody wrote an input where its schema goes.
func (c *converter) schema(n *yaml.Node, field string) *Problem {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if slices.Contains(keywords, n.Content[i].Value) {
			return nil
		}
	}
	return c.problem(n, field, "is no JSON Schema: none of its members means anything in one",
		"what an agent begins with is given on the command line: --input JSON")
}
