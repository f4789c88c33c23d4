package agentfile

import (
	"math"
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"
)

// jsonNumber is RFC 8259, section 6. YAML knows many more ways to write a
// number, and readers disagree about them.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// maxNumberText is longer than any number that is still exact.
const maxNumberText = 64

// quoted are the styles of scalars that are text whatever they look like.
const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// scalar writes a leaf.
func (c *converter) scalar(n *yaml.Node, field string) *Problem {
	switch n.ShortTag() {
	case "!!str":
		if n.Style&quoted == 0 && jsonNumber.MatchString(n.Value) {
			// The YAML reader takes what overflows for text.
			return c.problem(n, field, "the number is too large", "")
		}
		c.text(n.Value)
	case "!!null":
		c.out = append(c.out, "null"...)
	case "!!bool":
		return c.boolean(n, field)
	case "!!int", "!!float":
		return c.number(n, field)
	case "!!timestamp":
		return c.problem(n, field, "a date is text here", "put it in quotes: \""+n.Value+"\"")
	default:
		return c.problem(n, field, "is no value of the JSON data model", "")
	}
	return nil
}

func (c *converter) boolean(n *yaml.Node, field string) *Problem {
	switch n.Value {
	case "true", "false":
		c.out = append(c.out, n.Value...)
		return nil
	}
	return c.problem(n, field, "a boolean is written true or false", "or put it in quotes to make it text")
}

func (c *converter) number(n *yaml.Node, field string) *Problem {
	if len(n.Value) > maxNumberText || !jsonNumber.MatchString(n.Value) {
		return c.problem(n, field, "a number is written as in JSON", "such as 10, -1.5 or 1e6; or put it in quotes to make it text")
	}
	if f, err := strconv.ParseFloat(n.Value, 64); err != nil || math.IsInf(f, 0) {
		return c.problem(n, field, "the number is too large", "")
	}
	c.out = append(c.out, n.Value...)
	return nil
}
