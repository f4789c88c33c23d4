package edn

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendMember appends one member of a body that is an object, nil when it has no
// such member; a body that is none is appended whole.
func appendMember(text []byte, body json.RawMessage, name string) []byte {
	value, ok := decode(body)
	if members, isObject := value.(map[string]any); ok && isObject {
		return appendAny(text, members[name])
	}
	return appendBody(text, body)
}

// appendBody appends a body as it is.
func appendBody(text []byte, body json.RawMessage) []byte {
	value, ok := decode(body)
	if !ok {
		return appendString(text, string(body))
	}
	return appendAny(text, value)
}

func decode(body json.RawMessage) (any, bool) {
	if len(body) == 0 {
		return nil, true
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

func appendAny(text []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(text, "nil"...)
	case bool:
		return strconv.AppendBool(text, v)
	case json.Number:
		return appendNumber(text, string(v))
	case string:
		return appendString(text, v)
	case []any:
		text = append(text, '[')
		for i, element := range v {
			if i > 0 {
				text = append(text, ' ')
			}
			text = appendAny(text, element)
		}
		return append(text, ']')
	case map[string]any:
		text = append(text, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				text = append(text, ", "...)
			}
			text = appendName(text, name)
			text = appendAny(append(text, ' '), v[name])
		}
		return append(text, '}')
	}
	panic("edn: no JSON has this type")
}

// appendNumber appends a JSON number, which EDN reads as well; a whole one that is
// too large for 64 bits says so.
func appendNumber(text []byte, number string) []byte {
	text = append(text, number...)
	if strings.ContainsAny(number, ".eE") {
		return text
	}
	if n, ok := new(big.Int).SetString(number, 10); ok && !n.IsInt64() {
		text = append(text, 'N')
	}
	return text
}

// appendName appends a keyword, or a string of what can be none.
func appendName(text []byte, name string) []byte {
	if !isKeyword(name) {
		return appendString(text, name)
	}
	return append(append(text, ':'), name...)
}

// isKeyword takes fewer than EDN: letters first, then what nobody reads otherwise.
func isKeyword(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-' || c == '_' || c == '.')) {
			return false
		}
	}
	return name != ""
}

// appendString appends a string of EDN. It knows five escapes; what else has no
// shape is left as it is, and what is no UTF-8 is replaced.
func appendString(text []byte, s string) []byte {
	text = append(text, '"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			text = append(text, '\\', byte(r))
		case '\n':
			text = append(text, '\\', 'n')
		case '\r':
			text = append(text, '\\', 'r')
		case '\t':
			text = append(text, '\\', 't')
		default:
			text = utf8.AppendRune(text, r)
		}
	}
	return append(text, '"')
}
