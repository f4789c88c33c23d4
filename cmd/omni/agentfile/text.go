package agentfile

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// InText finds where a line and a column of a text stand in the file, for a text that
// is written as a block, line by line (field: |). ok is false for any other: there is
// no such place in the file for a text that is folded or quoted.
func (f *File) InText(field string, line, column int) (inLine, inColumn int, ok bool) {
	n := f.find(field)
	if n == nil || n.Kind != yaml.ScalarNode || n.Style&yaml.LiteralStyle == 0 || line < 1 {
		return 0, 0, false
	}
	lines := strings.Split(string(f.src), "\n")
	if n.Line+line > len(lines) {
		return 0, 0, false
	}
	return n.Line + line, indentOf(lines[n.Line:], n.Value) + column, true
}

// indentOf is how far a block is indented: by what its first line with something in it
// has in front of the text's own.
func indentOf(block []string, text string) int {
	own, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	for _, line := range block {
		if trimmed := strings.TrimRight(line, "\r"); strings.TrimLeft(trimmed, " ") != "" {
			return max(0, utf8.RuneCountInString(trimmed)-utf8.RuneCountInString(own))
		}
	}
	return 0
}

// Has reports whether the file has a field.
func (f *File) Has(field string) bool { return f.find(field) != nil }

// find is the node of a field; nil when the file does not have all of the path.
func (f *File) find(field string) *yaml.Node {
	at := f.root
	for rest := field; rest != ""; {
		key, index, after, ok := step(rest)
		if !ok {
			return nil
		}
		next := child(at, key, index)
		if next == nil {
			return nil
		}
		at, rest = next.value, after
	}
	return at
}
