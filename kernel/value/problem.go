package value

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Problem says why bytes are no value: where, as a path from the root
// ("steps[2].name", empty for the root itself), and the rule that they break,
// as a sentence of ours. Keys in the path are the input's own.
type Problem struct{ Path, Rule string }

// String joins path and rule for people.
func (p *Problem) String() string {
	if p.Path == "" {
		return p.Rule
	}
	return p.Path + ": " + p.Rule
}

// Rules that more than one border checks.
const (
	ruleDepth     = "lists and maps are nested deeper than 64"
	ruleDuplicate = "the key is repeated"
	ruleUTF8      = "text is not valid UTF-8"
	ruleInteger   = "an integer is at most 2^53 away from zero"
	ruleFinite    = "a number is finite"
)

func broken(rule string) *Problem { return &Problem{Rule: rule} }

func tooLarge(maxBytes int) *Problem {
	return broken("the value is larger than " + strconv.Itoa(maxBytes) + " bytes")
}

// inKey places a problem of a member under the member's key. Problems travel
// outwards from where they are found, so a path costs nothing until there is
// one.
func (p *Problem) inKey(key string) *Problem {
	p.Path = JoinKey(key, p.Path)
	return p
}

// inItem places a problem of an item under the item's index.
func (p *Problem) inItem(index uint64) *Problem {
	p.Path = JoinItem(index, p.Path)
	return p
}

// clip bounds the path, whose keys come from outside.
func (p *Problem) clip() *Problem {
	if p != nil {
		p.Path = failure.Clip(p.Path)
	}
	return p
}

// maxKeyInPath bounds one key's part of a path, in bytes.
const maxKeyInPath = 64

// JoinKey puts a map key in front of a path: name, name.rest, name[0], and
// ["odd name"] for a key that is not plain.
func JoinKey(key, path string) string {
	if !plainKey(key) {
		if len(key) > maxKeyInPath {
			key = key[:maxKeyInPath] + "…"
		}
		key = "[" + string(appendQuoted(nil, []byte(key))) + "]"
	}
	if path == "" || path[0] == '[' {
		return key + path
	}
	return key + "." + path
}

// JoinItem puts a list index in front of a path: [0], [0].rest.
func JoinItem(index uint64, path string) string {
	item := "[" + strconv.FormatUint(index, 10) + "]"
	if path == "" || path[0] == '[' {
		return item + path
	}
	return item + "." + path
}

func plainKey(key string) bool {
	if key == "" || len(key) > maxKeyInPath {
		return false
	}
	for i := range len(key) {
		c := key[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || (c != '-' && (c < '0' || c > '9'))) {
			return false
		}
	}
	return true
}
