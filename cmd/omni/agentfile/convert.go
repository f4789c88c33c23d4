package agentfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// converter writes a YAML tree as JSON while it checks it. Its recursion is
// bounded by value.MaxDepth.
type converter struct {
	file string
	out  []byte
}

func (c *converter) problem(n *yaml.Node, field, rule, hint string) *Problem {
	return &Problem{File: c.file, Line: n.Line, Column: n.Column, Field: field, Rule: rule, Hint: hint}
}

// node converts one node. depth is the number of lists and maps around it.
func (c *converter) node(n *yaml.Node, shape *Shape, field string, depth int) *Problem {
	if problem := c.plain(n, field); problem != nil {
		return problem
	}
	if n.Kind != yaml.ScalarNode && depth >= value.MaxDepth {
		return c.problem(n, field, fmt.Sprintf("lists and mappings are nested deeper than %d", value.MaxDepth), "")
	}
	if problem := c.fits(n, shape, field); problem != nil {
		return problem
	}
	if shape.kind == schema {
		if problem := c.schema(n, field); problem != nil {
			return problem
		}
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, shape, field, depth)
	case yaml.SequenceNode:
		return c.sequence(n, shape, field, depth)
	default:
		return c.scalar(n, field)
	}
}

// plain refuses what makes a document mean more than it shows.
func (c *converter) plain(n *yaml.Node, field string) *Problem {
	switch {
	case n.Kind == yaml.AliasNode:
		return c.problem(n, field, "aliases (*name) are not allowed", "write the value out")
	case n.Anchor != "":
		return c.problem(n, field, "anchors (&name) are not allowed", "write the value out where it is needed")
	case n.Style&yaml.TaggedStyle != 0:
		return c.problem(n, field, "tags ("+n.Tag+") are not allowed", "")
	}
	return nil
}

// fits compares the node's kind with the shape's.
func (c *converter) fits(n *yaml.Node, shape *Shape, field string) *Problem {
	var ok bool
	hint := ""
	switch shape.kind {
	case anything:
		ok = true
	case text:
		ok = n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str"
		if !ok && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" {
			hint = "put it in quotes: \"" + n.Value + "\""
		}
	case integer:
		ok = n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int"
	case flag:
		ok = n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool"
	case object, texts:
		ok = n.Kind == yaml.MappingNode
	case list:
		ok = n.Kind == yaml.SequenceNode
	case schema:
		ok = n.Kind == yaml.MappingNode || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool"
	}
	if ok && shape.words != nil && !slices.Contains(shape.words, n.Value) {
		return c.problem(n, field, "must be one of "+strings.Join(shape.words, ", "), "")
	}
	if ok {
		return nil
	}
	return c.problem(n, field, "must be "+shape.kind.String()+", not "+describe(n), hint)
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "a boolean"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	}
	return "text"
}

func (c *converter) sequence(n *yaml.Node, shape *Shape, field string, depth int) *Problem {
	item := aValue
	if shape.kind == list {
		item = shape.item
	}
	c.out = append(c.out, '[')
	for i, child := range n.Content {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		if problem := c.node(child, item, within(field, value.JoinItem(uint64(i), "")), depth+1); problem != nil {
			return problem
		}
	}
	c.out = append(c.out, ']')
	return nil
}

func (c *converter) mapping(n *yaml.Node, shape *Shape, field string, depth int) *Problem {
	seen := make(map[string]int, len(n.Content)/2)
	c.out = append(c.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if problem := c.key(key, field); problem != nil {
			return problem
		}
		path := within(field, value.JoinKey(key.Value, ""))
		if line, again := seen[key.Value]; again {
			return c.problem(key, path, fmt.Sprintf("the key is repeated: it stands in line %d already", line), "")
		}
		seen[key.Value] = key.Line
		member, problem := c.member(key, shape, path)
		if problem != nil {
			return problem
		}
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.text(key.Value)
		c.out = append(c.out, ':')
		if problem := c.node(n.Content[i+1], member, path, depth+1); problem != nil {
			return problem
		}
	}
	c.out = append(c.out, '}')
	return nil
}

func (c *converter) key(key *yaml.Node, field string) *Problem {
	if problem := c.plain(key, field); problem != nil {
		return problem
	}
	if key.Kind != yaml.ScalarNode {
		return c.problem(key, field, "a key must be text, not "+describe(key), "")
	}
	switch key.ShortTag() {
	case "!!str":
		return nil
	case "!!merge":
		return c.problem(key, field, "merge keys (<<) are not allowed", "write the members out")
	}
	return c.problem(key, field, "a key must be text, not "+describe(key), "put it in quotes: \""+key.Value+"\"")
}

// member finds the shape of a mapping's member, or says which there are.
func (c *converter) member(key *yaml.Node, shape *Shape, path string) (*Shape, *Problem) {
	switch {
	case shape.kind == texts:
		return aText, nil
	case shape.rest != nil:
		return shape.rest, nil
	case shape.members == nil:
		return aValue, nil
	case shape.members[key.Value] != nil:
		return shape.members[key.Value], nil
	}
	known := slices.Sorted(maps.Keys(shape.members))
	hint := "known here: " + strings.Join(known, ", ")
	if instead := shape.meant(key.Value, known); instead != "" {
		hint = "did you mean " + instead + "? " + hint
	}
	return nil, c.problem(key, path, "there is no such field", hint)
}

func (c *converter) text(s string) {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("agentfile: text that does not encode: " + err.Error())
	}
	c.out = append(c.out, quoted...)
}

// within puts a path's next part behind what leads to it.
func within(field, part string) string {
	if field == "" || part[0] == '[' {
		return field + part
	}
	return field + "." + part
}
