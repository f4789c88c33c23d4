package agentfile

import (
	"encoding/json"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// At finds where a field stands: line and column of the deepest part of the
// path that the file has, the key for a member of a mapping. ok is false when
// the file has no part of it.
func (f *File) At(field string) (line, column int, ok bool) {
	at := f.root
	line, column = at.Line, at.Column
	for rest := field; rest != ""; {
		var key string
		var index int
		key, index, rest, ok = step(rest)
		if !ok {
			break
		}
		next := child(at, key, index)
		if next == nil {
			break
		}
		line, column = next.mark.Line, next.mark.Column
		at = next.value
	}
	return line, column, at != f.root
}

// found is a child and the node that marks its place: its key in a mapping,
// itself in a list.
type found struct{ mark, value *yaml.Node }

func child(n *yaml.Node, key string, index int) *found {
	switch n.Kind {
	case yaml.SequenceNode:
		if index >= 0 && index < len(n.Content) {
			return &found{n.Content[index], n.Content[index]}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if index < 0 && n.Content[i].Value == key {
				return &found{n.Content[i], n.Content[i+1]}
			}
		}
	}
	return nil
}

// step takes the first part off a path: a key (index is -1), or an index.
func step(path string) (key string, index int, rest string, ok bool) {
	path = strings.TrimPrefix(path, ".")
	if !strings.HasPrefix(path, "[") {
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		return path[:end], -1, path[end:], end > 0
	}
	if strings.HasPrefix(path, `["`) {
		decoder := json.NewDecoder(strings.NewReader(path[1:]))
		if decoder.Decode(&key) != nil {
			return "", 0, "", false
		}
		rest, ok = strings.CutPrefix(path[1+decoder.InputOffset():], "]")
		return key, -1, rest, ok
	}
	digits, rest, ok := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(digits)
	return "", index, rest, ok && err == nil && index >= 0
}
