package mcpimport

import (
	"strings"

	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// Name is what programs call a server's tool: the prefix and the tool's own name, as
// dotted lower-case words. Slashes become dots, a capital begins a word, and what
// cannot stand in a name is an underscore. Empty when nothing is left.
func Name(prefix, tool string) string {
	var words []string
	if prefix != "" {
		words = append(words, dotted(prefix)...)
	}
	own := dotted(tool)
	if len(own) == 0 {
		return ""
	}
	name := strings.Join(append(words, own...), ".")
	if !kerneltools.IsName(name) {
		return ""
	}
	return name
}

func dotted(text string) (words []string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '/' }) {
		if word = strings.Trim(lower(word), "_"); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func lower(word string) string {
	var b strings.Builder
	small := false // what came last is a small letter or a digit
	for _, r := range word {
		switch {
		case r >= 'A' && r <= 'Z':
			if small {
				b.WriteByte('_')
			}
			b.WriteRune(r + 'a' - 'A')
			small = false
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
			small = true
		case r == '-':
			b.WriteRune(r)
			small = false
		default:
			b.WriteByte('_')
			small = false
		}
	}
	return b.String()
}
