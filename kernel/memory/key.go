package memory

import (
	"strings"
	"unicode/utf8"
)

// Bounds of an address, in bytes and in segments.
const (
	MaxKeyBytes       = 256
	MaxNamespaceBytes = 64
	// MaxKeySegments leaves one segment of a resource's 64 for what stands
	// before the key: self, parent, or the namespace (PE-1).
	MaxKeySegments = 63
)

// CheckKey returns the rule that the key breaks, or the empty string. A key is
// text of 1 to 256 bytes: segments between slashes, none empty.
func CheckKey(key string) (rule string) {
	switch {
	case key == "" || len(key) > MaxKeyBytes:
		return "a key has 1 to 256 bytes"
	case strings.Count(key, "/") >= MaxKeySegments:
		return "a key has at most 63 segments"
	case key[0] == '/' || key[len(key)-1] == '/' || strings.Contains(key, "//"):
		return "no segment of a key is empty"
	}
	return checkText(key)
}

// CheckNamespace returns the rule that the namespace breaks, or the empty
// string. A namespace is one segment of 1 to 64 bytes.
func CheckNamespace(namespace string) (rule string) {
	switch {
	case namespace == "" || len(namespace) > MaxNamespaceBytes:
		return "a namespace has 1 to 64 bytes"
	case strings.Contains(namespace, "/"):
		return "a namespace is one segment"
	}
	return checkText(namespace)
}

// checkText refuses what a resource could not name: a star would read as a
// pattern. What counts as a control character is ASCII's idea of it, which no
// table's version changes.
func checkText(s string) string {
	for i := range len(s) {
		switch {
		case s[i] == '*':
			return "keys and namespaces contain no *"
		case s[i] < 0x20 || s[i] == 0x7f:
			return "keys and namespaces contain no control characters"
		}
	}
	if !utf8.ValidString(s) {
		return "keys and namespaces are UTF-8"
	}
	return ""
}
