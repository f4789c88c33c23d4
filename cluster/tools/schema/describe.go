package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// first is the broken rule that is told, in our own words: results enter the log,
// and a library's texts change with its version (EV-13). Values are never repeated,
// since a value may be what must not be logged.
func first(broken *jsonschema.ValidationError) *jsonschema.ValidationError {
	leaves := appendLeaves(nil, broken)
	return slices.MinFunc(leaves, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(ruleOf(a), ruleOf(b)))
	})
}

// appendLeaves collects the causes that have no causes. Of alternatives none
// of which fits, the alternative itself is the leaf: naming what one of them
// wants would mislead.
func appendLeaves(leaves []*jsonschema.ValidationError, e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains, *kind.PropertyNames:
		return append(leaves, e)
	}
	if len(e.Causes) == 0 {
		return append(leaves, e)
	}
	for _, cause := range e.Causes {
		leaves = appendLeaves(leaves, cause)
	}
	return leaves
}

// pathOf writes a JSON pointer's tokens as our paths are written: a.b[2].
func pathOf(tokens []string) string {
	path := ""
	for i := len(tokens) - 1; i >= 0; i-- {
		if index, err := strconv.ParseUint(tokens[i], 10, 32); err == nil {
			path = value.JoinItem(index, path)
			continue
		}
		path = value.JoinKey(tokens[i], path)
	}
	return path
}

// ruleOf says what a keyword asks for.
func ruleOf(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return "must be of type " + strings.Join(k.Want, " or ")
	case *kind.Required:
		return "must have the member " + quoted(k.Missing)
	case *kind.DependentRequired:
		return "must have the member " + quoted(k.Missing)
	case *kind.AdditionalProperties:
		return "must not have the member " + quoted(k.Properties)
	case *kind.PropertyNames:
		return "must not have the member " + quoted([]string{k.Property})
	case *kind.FalseSchema:
		return "must not be there"
	case *kind.Enum, *kind.Const:
		return "must be one of the values that the schema lists"
	case *kind.Pattern:
		return "must match the schema's pattern"
	case *kind.Format:
		return "must have the format " + k.Want
	case *kind.Not:
		return "must not fit what the schema excludes"
	case *kind.AnyOf, *kind.OneOf:
		return "must fit one of the schema's alternatives"
	}
	if rule := sizeRule(e.ErrorKind); rule != "" {
		return rule
	}
	words := e.ErrorKind.KeywordPath()
	if len(words) == 0 {
		return "must fit the schema"
	}
	return "must keep to the schema's " + words[0]
}

// sizeRule says what the keywords that compare sizes and numbers ask for.
func sizeRule(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return "must be at least " + strconv.Itoa(k.Want) + " characters long"
	case *kind.MaxLength:
		return "must be at most " + strconv.Itoa(k.Want) + " characters long"
	case *kind.MinItems:
		return "must have at least " + strconv.Itoa(k.Want) + " items"
	case *kind.MaxItems:
		return "must have at most " + strconv.Itoa(k.Want) + " items"
	case *kind.MinProperties:
		return "must have at least " + strconv.Itoa(k.Want) + " members"
	case *kind.MaxProperties:
		return "must have at most " + strconv.Itoa(k.Want) + " members"
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "must be more than " + k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "must be less than " + k.Want.RatString()
	}
	return ""
}

// quoted names the first of some members.
func quoted(names []string) string {
	if len(names) == 0 {
		return "that the schema speaks of"
	}
	return value.JoinKey(slices.Min(names), "")
}
