package memory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/kernel/memory"
)

// PE-1: what is a key or a namespace can be named by a resource, and is none of
// its patterns.
func TestAddresses(t *testing.T) {
	segments := strings.Repeat("a/", memory.MaxKeySegments-1) + "a"
	for _, key := range []string{"a", "a/b", "ä/日", "a b", "..", "a.b-c", strings.Repeat("x", 256), segments} {
		assert.Empty(t, memory.CheckKey(key), "%q", key)
	}
	for key, rule := range map[string]string{
		"":                       "1 to 256",
		strings.Repeat("x", 257): "1 to 256",
		segments + "/a":          "63 segments",
		"/":                      "empty", "/a": "empty", "a/": "empty", "a//b": "empty",
		"*": "no *", "a/**": "no *", "a*b": "no *",
		"a\x00": "control", "a\nb": "control", "\x7f": "control",
		"a\xff": "UTF-8", "\xed\xa0\x80": "UTF-8",
	} {
		assert.Contains(t, memory.CheckKey(key), rule, "%q", key)
	}
	for _, namespace := range []string{"a", "team plan", "self", strings.Repeat("x", 64)} {
		assert.Empty(t, memory.CheckNamespace(namespace), "%q", namespace)
	}
	for namespace, rule := range map[string]string{
		"": "1 to 64", strings.Repeat("x", 65): "1 to 64", "a/b": "one segment", "/": "one segment",
		"*": "no *", "a\t": "control", "\xc3": "UTF-8",
	} {
		assert.Contains(t, memory.CheckNamespace(namespace), rule, "%q", namespace)
	}
}
