package permissions

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// PE-1: `*` is one segment, a final `**` is the rest, none included.
func TestPatternMatches(t *testing.T) {
	for _, row := range []struct {
		pattern, resource string
		want              bool
	}{
		{"echo", "echo", true},
		{"echo", "echo/x", false},
		{"echo", "ech", false},
		{"echo", "echoes", false},
		{"echo/x", "echo", false},
		{"*", "echo", true},
		{"*", "echo/x", false},
		{"*/x", "echo/x", true},
		{"a/*/c", "a/b/c", true},
		{"a/*/c", "a/b/b/c", false},
		{"a/*", "a", false},
		{"a/**", "a", true},
		{"a/**", "a/b", true},
		{"a/**", "a/b/c/d", true},
		{"a/**", "ab", false},
		{"a/**", "b/a", false},
		{"a/*/**", "a", false},
		{"a/*/**", "a/b", true},
		{"**", "a", true},
		{"**", "a/b/c", true},
		{"*", "*", true},
		{"a", "A", false},
		{"http.request/GET/api.example.com/v1/**", "http.request/GET/api.example.com/v1/items", true},
		{"http.request/GET/api.example.com/v1/**", "http.request/POST/api.example.com/v1/items", false},
		{"http.request/GET/api.example.com/v1/**", "http.request/GET/api.example.com.evil.org/v1/items", false},
		// Ill-formed resources match nothing, not even what matches all.
		{"**", "", false},
		{"*", "", false},
		{"**", "/a", false},
		{"**", "a/", false},
		{"a/*/c", "a//c", false},
		{"**", strings.Repeat("a", MaxBytes+1), false},
		{"**", strings.Repeat("a/", MaxSegments) + "a", false},
		{"**", strings.Repeat("a/", MaxSegments-1) + "a", true},
		{"**", strings.Repeat("a", MaxBytes), true},
	} {
		p, broken := parsePattern(row.pattern)
		assert.Empty(t, broken, row.pattern)
		got := wellFormed(row.resource) && p.matches(row.resource)
		assert.Equal(t, row.want, got, "%q on %.80q", row.pattern, row.resource)
	}
}

func TestActionMatches(t *testing.T) {
	for _, row := range []struct {
		pattern, action string
		want            bool
	}{
		{"tool.call", "tool.call", true},
		{"tool.call", "tool.calls", false},
		{"tool.call", "tool", false},
		{"tool.*", "tool.call", true},
		{"tool.*", "tool.call.again", true},
		{"tool.*", "tool", false},
		{"tool.*", "tool.", false},
		{"tool.*", "toolbox.open", false},
		{"tool.call.*", "tool.call", false},
		{"tool.call.*", "tool.call.x", true},
		{"spawn", "spawn", true},
	} {
		a, broken := parseAction(row.pattern)
		assert.Empty(t, broken, row.pattern)
		assert.Equal(t, row.want, a.matches(row.action), "%q on %q", row.pattern, row.action)
	}
}

// naiveMatch is the definition of PE-1, by recursion over segments.
func naiveMatch(pattern, resource []string) bool {
	switch {
	case len(pattern) == 1 && pattern[0] == "**":
		return true
	case len(pattern) == 0 || len(resource) == 0:
		return len(pattern) == len(resource)
	case pattern[0] != "*" && pattern[0] != resource[0]:
		return false
	}
	return naiveMatch(pattern[1:], resource[1:])
}

// PE-1
func TestPatternMatchesLikeItsDefinition(t *testing.T) {
	literal := rapid.SampledFrom([]string{"a", "b", "ab", "*a", "é"})
	rapid.Check(t, func(t *rapid.T) {
		resource := rapid.SliceOfN(literal, 1, 6).Draw(t, "resource")
		// Derive the pattern from the resource, so that matches are common.
		var pattern []string
		for _, segment := range resource[:rapid.IntRange(0, len(resource)).Draw(t, "kept")] {
			pattern = append(pattern, rapid.SampledFrom([]string{segment, segment, "*", "b"}).Draw(t, "segment"))
		}
		if len(pattern) == 0 || rapid.Bool().Draw(t, "open") {
			pattern = append(pattern, rapid.SampledFrom([]string{"**", "*", "a"}).Draw(t, "last"))
		}
		parsed, broken := parsePattern(strings.Join(pattern, "/"))
		if strings.Contains(strings.Join(pattern, "/"), "*a") {
			assert.NotEmpty(t, broken, pattern) // `*` inside a segment has no meaning
			return
		}
		assert.Empty(t, broken, pattern)
		assert.Equal(t, naiveMatch(pattern, resource), parsed.matches(strings.Join(resource, "/")), "%q on %q", pattern, resource)
	})
}
