package permissions

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// PE-1: containment as a person reads it.
func TestContainsResource(t *testing.T) {
	for _, row := range []struct {
		outer, inner string
		want         bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a/b", "a", false},
		{"a", "a/b", false},
		{"*", "a", true},
		{"a", "*", false},
		{"*/b", "a/b", true},
		{"a/*", "a/*", true},
		{"a/**", "a", true},
		{"a/**", "a/*/c", true},
		{"a/**", "a/*/**", true},
		{"a/*/**", "a/**", false},
		{"a/*/**", "a/b/**", true},
		{"a/b/**", "a/*/**", false},
		{"a/*", "a/**", false},
		{"a/**", "ab/**", false},
		{"**", "a/b", true},
		{"a", "**", false},
		{"*", "**", false},
		{"*/**", "**", true}, // a resource has at least one segment
		{"**", "*/**", true},
		{"*/*/**", "**", false},
		{"http.request/GET/*/v1/**", "http.request/GET/api.example.com/v1/items", true},
		{"http.request/GET/api.example.com/**", "http.request/GET/*/v1/**", false},
		// What is no pattern.
		{"**", "", false},
		{"", "a", false},
		{"**", "a//b", false},
		{"**/a", "a", false},
	} {
		assert.Equal(t, row.want, ContainsResource(row.outer, row.inner), "%q around %q", row.outer, row.inner)
	}
}

// PE-1: the limits on segments and bytes leave every open pattern resources of
// two lengths, and every `*` a choice.
func TestContainmentAtTheLimits(t *testing.T) {
	chain := strings.Repeat("*/", MaxSegments-1) // 63 segments and a separator
	almost := strings.TrimSuffix(chain, "/")     // 63 segments
	long := strings.Repeat("a", MaxBytes-3)
	for _, row := range []struct {
		outer, inner string
		want         bool
	}{
		{"**", chain + "*", true},
		{"**", chain + "**", true},
		{chain + "**", chain + "*", true},
		{chain + "**", almost, true},
		{chain + "*", chain + "**", false}, // 64 segments, but 63 as well
		{almost, chain + "**", false},
		{chain + "**", "*/*/**", false},
		{long + "/**", long, true},
		{long + "/**", long + "/*", true},
		{long + "/*", long + "/**", false},
		{long, long + "/**", false},
		{long + "/bc", long + "/*", false},
		{"*/**", long + "/**", true},
		{"*/*/**", long + "/**", false},
	} {
		assert.Equal(t, row.want, ContainsResource(row.outer, row.inner), "%.20q… around %.20q…", row.outer, row.inner)
		for _, text := range []string{row.outer, row.inner} {
			p, broken := parsePattern(text)
			require.Empty(t, broken)
			shortest := max(len(p.segments), 1)
			assert.NotZero(t, p.lengths()&(1<<(shortest-1)))
			if p.open {
				assert.NotZero(t, p.lengths()&(1<<shortest), "%.20q", text)
			}
		}
	}
}

// The lengths of a pattern are those of which it has a resource within the limits.
func TestLengths(t *testing.T) {
	for _, row := range []struct {
		pattern      string
		fewest, most int
	}{
		{"a", 1, 1},
		{"*/b", 2, 2},
		{"**", 1, MaxSegments},
		{"*/**", 1, MaxSegments},
		{"a/*/**", 2, MaxSegments},
		{strings.Repeat("*/", MaxSegments-1) + "**", MaxSegments - 1, MaxSegments},
		{strings.Repeat("a", 1000) + "/**", 1, 13}, // twelve times a separator and a byte fill what is left
		{strings.Repeat("a", 1001) + "/**", 1, 12},
		{strings.Repeat("a", 998) + "/*/**", 2, 14},
		{strings.Repeat("a", MaxBytes-3) + "/**", 1, 2},
	} {
		p, broken := parsePattern(row.pattern)
		require.Empty(t, broken)
		var want uint64
		for n := row.fewest; n <= row.most; n++ {
			want |= 1 << (n - 1)
		}
		assert.Equal(t, want, p.lengths(), "%.20q", row.pattern)
	}
}

// words lists every sequence of 1 … most of the letters, joined.
func words(letters []string, separator string, most int) []string {
	layer, all := []string{""}, []string(nil)
	for range most {
		var next []string
		for _, before := range layer {
			for _, letter := range letters {
				next = append(next, strings.TrimPrefix(before+separator+letter, separator))
			}
		}
		layer = next
		all = append(all, layer...)
	}
	return all
}

// matched tells for each pattern which of the resources it matches.
func matched(patterns, resources []string) [][]bool {
	table := make([][]bool, len(patterns))
	for i, pattern := range patterns {
		table[i] = make([]bool, len(resources))
		for j, resource := range resources {
			table[i][j] = naiveMatch(strings.Split(pattern, "/"), strings.Split(resource, "/"))
		}
	}
	return table
}

func subset(inner, outer []bool) bool {
	for i := range inner {
		if inner[i] && !outer[i] {
			return false
		}
	}
	return true
}

func intersect(a, b []bool) bool {
	for i := range a {
		if a[i] && b[i] {
			return true
		}
	}
	return false
}

func wellFormedPatterns(all []string) (good []string) {
	for _, text := range all {
		if _, broken := parsePattern(text); broken == "" {
			good = append(good, text)
		}
	}
	return good
}

// PE-1: a pattern contains another if and only if it matches whatever the other
// matches; `c` is the segment that no pattern writes out, and two segments more
// than any pattern has are enough to tell `**` from every chain of `*`.
func TestContainsResourceIsExact(t *testing.T) {
	const segments = 4
	patterns := wellFormedPatterns(words([]string{"a", "b", "*", "**"}, "/", segments))
	resources := words([]string{"a", "b", "c"}, "/", segments+2)
	table := matched(patterns, resources)
	contained := 0
	for i, outer := range patterns {
		o, _ := parsePattern(outer)
		for j, inner := range patterns {
			want := subset(table[j], table[i])
			if want {
				contained++
			}
			if got := ContainsResource(outer, inner); got != want {
				t.Fatalf("%q around %q: %v", outer, inner, got)
			}
			in, _ := parsePattern(inner)
			if got := o.overlaps(&in); got != intersect(table[i], table[j]) {
				t.Fatalf("%q meets %q: %v", outer, inner, got)
			}
		}
	}
	require.Greater(t, contained, 1000, "the test has something to find")
}

// PE-1: the same for actions.
func TestContainsActionIsExact(t *testing.T) {
	const names = 3
	exact := words([]string{"a", "b"}, ".", names)
	patterns := exact
	for _, name := range exact {
		patterns = append(patterns, name+".*")
	}
	actions := words([]string{"a", "b", "c", "ab"}, ".", names+2)
	table := make([][]bool, len(patterns))
	for i, pattern := range patterns {
		prefix, open := strings.CutSuffix(pattern, "*")
		table[i] = make([]bool, len(actions))
		for j, action := range actions {
			table[i][j] = pattern == action || open && strings.HasPrefix(action, prefix)
		}
	}
	for i, outer := range patterns {
		o, _ := parseAction(outer)
		for j, inner := range patterns {
			require.Equal(t, subset(table[j], table[i]), ContainsAction(outer, inner), "%q around %q", outer, inner)
			in, _ := parseAction(inner)
			require.Equal(t, intersect(table[i], table[j]), o.overlaps(in), "%q meets %q", outer, inner)
		}
	}
	for _, bad := range []string{"", "*", ".*", "a.", "A"} {
		assert.False(t, ContainsAction("a.*", bad), bad)
		assert.False(t, ContainsAction(bad, "a"), bad)
	}
}

// DE-1: a grant is contained in time too: zero is for ever.
func TestGrantContains(t *testing.T) {
	base := Grant{Effect: Allow, Action: "tool.*", Resource: "a/**"}
	for name, row := range map[string]struct {
		outerEnd, innerEnd int64
		action, resource   string
		want               bool
	}{
		"both for ever":          {0, 0, "tool.call", "a/b", true},
		"inner ends":             {0, 5, "tool.call", "a/b", true},
		"inner ends with it":     {5, 5, "tool.call", "a/b", true},
		"inner ends before it":   {5, 4, "tool.call", "a/b", true},
		"inner ends after it":    {5, 6, "tool.call", "a/b", false},
		"inner for ever":         {5, 0, "tool.call", "a/b", false},
		"another action":         {0, 0, "shared.read", "a/b", false},
		"another resource":       {0, 0, "tool.call", "b", false},
		"a wider resource":       {0, 0, "tool.call", "*/b", false},
		"an action that is none": {0, 0, "tool", "a/b", false},
	} {
		outer, inner := base, Grant{Effect: Allow, Action: row.action, Resource: row.resource, NotAfterMillis: row.innerEnd}
		outer.NotAfterMillis = row.outerEnd
		assert.Equal(t, row.want, outer.Contains(&inner), name)
	}
}

// PE-1: whatever the words are, nothing passes the inner pattern and not the outer.
func FuzzContainsResource(f *testing.F) {
	f.Add("a/**", "a/*/b", "a/x/b")
	f.Add("*/**", "**", "a")
	f.Add("*/*", "a/é", "a/é")
	f.Add("a/*/**", "a/**", "a")
	f.Fuzz(func(t *testing.T, outer, inner, resource string) {
		o, brokenOuter := parsePattern(outer)
		i, brokenInner := parsePattern(inner)
		contained := ContainsResource(outer, inner)
		if brokenOuter != "" || brokenInner != "" {
			require.False(t, contained)
			return
		}
		require.True(t, o.contains(&o))
		if wellFormed(resource) && i.matches(resource) {
			require.True(t, o.matches(resource) || !contained)
			require.True(t, !o.matches(resource) || o.overlaps(&i))
		}
	})
}

// Two patterns overlap where a resource is matched by both.
func TestOverlapsResource(t *testing.T) {
	for _, c := range []struct {
		one, other string
		want       bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/c", false}, {"a/*", "*/b", true}, {"a/*/c", "*/b/d", false}, {"**", "a", true},
		{"a/**", "a", true}, {"a/**", "b/**", false}, {"*/acme/*", "crm/**", true}, {"*/acme", "crm/*/7", false}, {"a/b/**", "a/*", true},
		{"a//b", "a", false}, {"a", "", false},
	} {
		assert.Equal(t, c.want, OverlapsResource(c.one, c.other), "%s %s", c.one, c.other)
		assert.Equal(t, c.want, OverlapsResource(c.other, c.one), "%s %s", c.other, c.one)
	}
}
