package mcpimport

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// YAML is a manifest's file, as omni tool register reads it.
func YAML(m *kerneltools.Manifest) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var document yaml.Node // JSON is YAML, and keeps its order
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	readable(&document)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// truths are texts that older readers of YAML take for true and false.
var truths = []string{"y", "yes", "n", "no", "on", "off"}

// readable writes a document as people do: no braces, quotes only where they are
// needed, long texts as blocks.
func readable(n *yaml.Node) {
	text := n.Kind == yaml.ScalarNode && n.Tag == "!!str"
	n.Style = 0
	switch {
	case text && strings.Contains(n.Value, "\n"):
		n.Style = yaml.LiteralStyle
	case text && slices.Contains(truths, strings.ToLower(n.Value)):
		n.Style = yaml.DoubleQuotedStyle
	}
	if (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	for _, child := range n.Content {
		readable(child)
	}
}
