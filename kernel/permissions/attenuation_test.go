package permissions

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func compile(t require.TestingT, grants []Grant) *Set {
	set, refusal := Compile(grants)
	require.Nil(t, refusal)
	return set
}

// DE-4: what a child calls its parent's is the parent's own.
func TestUpwards(t *testing.T) {
	for _, row := range []struct{ action, resource, want string }{
		{"memory.read", "parent/notes", "self/notes"},
		{"memory.read", "parent", "self"},
		{"memory.*", "parent/**", "self/**"},
		{"memory.list", "parent/*/x", "self/*/x"},
		{"memory.read", "self/notes", "self/notes"},
		{"memory.read", "self/parent/x", "self/parent/x"},
		{"memory.read", "parents/x", "parents/x"},
		{"memory.read", "**", "**"},
		{"memory.read", "*/x", "*/x"},
		{"memory.read", "", ""},
		{"shared.read", "parent/notes", "parent/notes"}, // a namespace of that name
		{"tool.call", "parent", "parent"},
		{"memory", "parent/x", "parent/x"},
	} {
		assert.Equal(t, row.want, Upwards(row.action, row.resource), "%s %s", row.action, row.resource)
	}
}

// The compiled form is read upwards as the written one is.
func TestUpwardsOfAPattern(t *testing.T) {
	for _, text := range wellFormedPatterns(words([]string{"self", "parent", "a", "*", "**"}, "/", 3)) {
		p, _ := parsePattern(text)
		want, broken := parsePattern(Upwards("memory.read", text))
		require.Empty(t, broken)
		require.Equal(t, want, p.upwards(), text)
		again, _ := parsePattern(text)
		require.Equal(t, again, p, "the pattern itself stays")
	}
}

// DE-4, DE-1: for memory a child's pattern is contained if and only if the
// parent's matches, read upwards, whatever the child's matches. That covers the
// patterns that begin with a wildcard and so speak of `self` and `parent` at once.
func TestContainmentReadUpwardsIsExact(t *testing.T) {
	const segments = 3
	patterns := wellFormedPatterns(words([]string{"self", "parent", "a", "*", "**"}, "/", segments))
	resources := words([]string{"self", "parent", "a", "c"}, "/", segments+2)
	upwards := make([]string, len(resources))
	for i, resource := range resources {
		upwards[i] = Upwards("memory.read", resource)
	}
	below, above := matched(patterns, resources), matched(patterns, upwards)
	sets := make([]*Set, len(patterns))
	for i, pattern := range patterns {
		sets[i] = compile(t, []Grant{{Effect: Allow, Action: "memory.read", Resource: pattern}})
	}
	for i, outer := range patterns {
		for j, inner := range patterns {
			if _, widens := sets[i].Widens(sets[j]); widens == subset(below[j], above[i]) {
				t.Fatalf("%q above %q: widens %v", outer, inner, widens)
			}
		}
	}
}

// DE-1: the first grant that widens is named; DENY and ESCALATE need nobody's leave.
func TestWidens(t *testing.T) {
	parent := compile(t, parseGrants(t, []string{
		"ALLOW tool.call http.request/GET/**", "ALLOW shared.* docs/**", "ALLOW shared.* self/**", "ALLOW memory.* self/** 100", "DENY tool.call http.request/GET/internal/**",
		"ESCALATE tool.call mail/**", "ALLOW agent.delegate agent/*",
	}))
	for name, row := range map[string]struct {
		child    []string
		position int32 // -1: it does not widen
	}{
		"nothing":                    {nil, -1},
		"the same":                   {[]string{"ALLOW tool.call http.request/GET/**", "ALLOW agent.delegate agent/*"}, -1},
		"narrower":                   {[]string{"ALLOW shared.read docs/a", "ALLOW tool.call http.request/GET/*/v1"}, -1},
		"another method":             {[]string{"ALLOW shared.read docs/a", "ALLOW tool.call http.request/POST/**"}, 1},
		"the first of two":           {[]string{"ALLOW tool.call echo", "ALLOW a.b c"}, 0},
		"the first, in another way":  {[]string{"DENY a.b c", "ALLOW tool.call echo", "ALLOW a.b c", "ALLOW tool.call x"}, 1},
		"DENY and ESCALATE are free": {[]string{"DENY ghost.* **", "ESCALATE tool.call **"}, -1},
		"a wider action":             {[]string{"ALLOW tool.* http.request/GET/x"}, 0},
		"escalated is not allowed":   {[]string{"ALLOW tool.call mail/x"}, 0},
		"denied is asked above":      {[]string{"ALLOW tool.call http.request/GET/internal/x"}, -1},
		"a memory of its own":        {[]string{"ALLOW memory.read self/** 100"}, -1},
		"for longer":                 {[]string{"ALLOW memory.read self/** 101"}, 0},
		"for ever":                   {[]string{"ALLOW memory.read self/**"}, 0},
		"the parent's memory":        {[]string{"ALLOW memory.read parent/notes/** 50"}, -1},
		"either memory":              {[]string{"ALLOW memory.read */notes 50"}, 0},
		"a namespace named parent":   {[]string{"ALLOW shared.read parent/docs"}, 0},
	} {
		position, widens := parent.Widens(compile(t, parseGrants(t, row.child)))
		assert.Equal(t, row.position >= 0, widens, name)
		if widens {
			assert.Equal(t, row.position, position, name)
		}
	}
	position, widens := (*Set)(nil).Widens(parent)
	assert.True(t, widens)
	assert.Zero(t, position)
	_, widens = parent.Widens(nil)
	assert.False(t, widens)
}

// grantOf draws from few words, so that grants meet, contain and miss each other.
func grantOf(actions, resources []string, effects ...Effect) *rapid.Generator[Grant] {
	return rapid.Custom(func(t *rapid.T) Grant {
		return Grant{
			Effect:         rapid.SampledFrom(effects).Draw(t, "effect"),
			Action:         rapid.SampledFrom(actions).Draw(t, "action"),
			Resource:       rapid.SampledFrom(resources).Draw(t, "resource"),
			NotAfterMillis: rapid.Int64Range(0, 3).Draw(t, "notAfter"),
		}
	})
}

var fewPatterns = []string{"a", "*", "a/b", "a/*", "*/b", "*/*", "**", "a/**", "b/**", "*/*/**", "a/b/**"}

// DE-1: a child that does not widen never gets through what its parent may not,
// at any time; nor does a grandchild that widens neither.
func TestWhatDoesNotWidenIsAllowedAbove(t *testing.T) {
	one := grantOf([]string{"memory.read", "memory.*", "tool.call"}, append(slices.Clip(fewPatterns), "parent/*", "self/**", "parent"), Allow, Allow, Deny, Escalate)
	resources := words([]string{"a", "b", "c", "self", "parent"}, "/", 3)
	through := 0
	rapid.Check(t, func(t *rapid.T) {
		levels := make([]*Set, 3) // child, parent, grandparent
		for i := range levels {
			grants := rapid.SliceOfN(one, 1, 6).Draw(t, "grants")
			if i > 0 && rapid.Bool().Draw(t, "keeps") { // else hardly any chain holds
				for _, g := range levels[i-1].Grants() {
					g.Effect, g.Resource = Allow, Upwards(g.Action, g.Resource)
					grants = append(grants, g)
				}
			}
			levels[i] = compile(t, grants)
		}
		for i, above := range levels[1:] {
			if _, widens := above.Widens(levels[i]); widens {
				return
			}
		}
		for _, action := range []string{"memory.read", "memory.write", "tool.call"} {
			for _, asked := range resources {
				for now := range int64(5) {
					resource := asked
					if levels[0].Evaluate(action, resource, now).Effect != Allow {
						continue
					}
					through++
					for _, above := range levels[1:] {
						resource = Upwards(action, resource)
						require.True(t, anyAllow(above, action, resource, now), "%s %s at %d", action, asked, now)
					}
				}
			}
		}
	})
	require.Positive(t, through, "some chain held")
}

// anyAllow reports whether an ALLOW speaks of the request, denied or not.
func anyAllow(s *Set, action, resource string, now int64) bool {
	considered, _ := s.Explain(action, resource, now)
	for _, c := range considered {
		if c.Effect == Allow && c.Matched && !c.Expired {
			return true
		}
	}
	return false
}

// DE-1: what it takes for a parent to keep something.
func TestStrict(t *testing.T) {
	parent := []string{
		"ALLOW tool.call a/**", "ALLOW agent.delegate agent/**", "DENY tool.call a/secret/**", "ALLOW shared.read docs/** 50",
		"ALLOW tool.call gone/*", "DENY tool.* gone/**", // what it has only on paper
	}
	everything := []string{"ALLOW tool.call a/**", "ALLOW agent.delegate agent/**", "ALLOW shared.read docs/** 50"}
	for name, row := range map[string]struct {
		child []string
		now   int64
		want  bool
	}{
		"nothing given":               {nil, 0, true},
		"all but to delegate":         {[]string{everything[0], everything[2]}, 0, true},
		"everything":                  {everything, 0, false},
		"everything, in other words":  {append([]string{"ALLOW tool.call a", "ALLOW tool.call a/*", "ALLOW tool.call a/*/**"}, everything[1:]...), 0, false},
		"one length is missing":       {append([]string{"ALLOW tool.call a", "ALLOW tool.call a/*/*/**"}, everything[1:]...), 0, true},
		"only what nobody may":        {append([]string{"DENY tool.call a/secret/**"}, everything...), 0, false},
		"something is denied":         {append([]string{"DENY tool.call a/x"}, everything...), 0, true},
		"something needs leave":       {append([]string{"ESCALATE tool.* a/x"}, everything...), 0, true},
		"what neither has is denied":  {append([]string{"DENY tool.call b/**"}, everything...), 0, false},
		"another action is denied":    {append([]string{"DENY ghost.* a/x"}, everything...), 0, false},
		"a shorter time":              {[]string{everything[0], everything[1], "ALLOW shared.read docs/** 49"}, 0, true},
		"what is over for both":       {everything[:2], 51, false},
		"what is over in a moment":    {everything[:2], 50, true},
		"a denial that is over":       {append([]string{"DENY tool.call a/x 40"}, everything...), 41, false},
		"a denial of what is over":    {append([]string{"DENY shared.read docs/x"}, everything...), 51, false},
		"denied beyond what was held": {append([]string{"DENY tool.call a/secret/x"}, everything...), 0, false},
	} {
		assert.Equal(t, row.want, Strict(compile(t, parseGrants(t, parent)), compile(t, parseGrants(t, row.child)), row.now), name)
	}
	some := compile(t, parseGrants(t, everything))
	assert.True(t, Strict(some, nil, 0))
	assert.False(t, Strict(nil, some, 0))
	assert.False(t, Strict(nil, nil, 0))

	own := compile(t, parseGrants(t, []string{"ALLOW memory.read self/**"}))
	assert.False(t, Strict(own, compile(t, parseGrants(t, []string{"ALLOW memory.read parent/**"})), 0), "the parent's memory is the parent's own")
	assert.True(t, Strict(own, compile(t, parseGrants(t, []string{"ALLOW memory.read parent/docs/**"})), 0))
}

// DE-1: a chain of every length there is says what `**` says, and one that
// leaves a single length out does not.
func TestStrictCountsLengths(t *testing.T) {
	parent := compile(t, parseGrants(t, []string{"ALLOW tool.call a/**"}))
	for missing := range MaxSegments + 1 {
		var child []string
		for n := 1; n <= MaxSegments; n++ {
			if n != missing {
				child = append(child, "ALLOW tool.call a"+strings.Repeat("/*", n-1))
			}
		}
		chain := compile(t, parseGrants(t, child))
		require.Equal(t, missing != 0, Strict(parent, chain, 0), "without length %d", missing)
		_, widens := parent.Widens(chain)
		require.False(t, widens)
		_, widens = chain.Widens(parent)
		require.True(t, widens, "no single grant of the chain contains it")
	}
}

// keeps is Strict read aloud: some request is allowed above and not below.
func keeps(parent, child *Set, now int64) bool {
	for _, action := range []string{"tool.call", "tool.fresh", "tool.call.x", "shared.read"} {
		for _, resource := range strictResources {
			for at := now; at <= 4; at++ {
				if parent.Evaluate(action, resource, at).Effect == Allow && child.Evaluate(action, resource, at).Effect != Allow {
					return true
				}
			}
		}
	}
	return false
}

var strictResources = words([]string{"a", "b", "c"}, "/", 4)

// DE-1: Strict misses nothing; and it is exact while nothing is denied above, or
// nothing below.
func TestStrictLikeItsDefinition(t *testing.T) {
	actions := []string{"tool.call", "tool.call", "tool.*", "tool.call.*", "shared.read"}
	one := grantOf(actions, fewPatterns, Allow, Allow, Allow, Deny, Escalate)
	answers := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		above := rapid.SliceOfN(one, 0, 6).Draw(t, "parent")
		below := rapid.SliceOfN(one, 0, 6).Draw(t, "child")
		for _, g := range above {
			if rapid.IntRange(0, 7).Draw(t, "given") > 0 {
				below = append(below, g)
			}
		}
		now := rapid.Int64Range(0, 4).Draw(t, "now")
		parent, child := compile(t, above), compile(t, below)
		want, got := keeps(parent, child, now), Strict(parent, child, now)
		answers[want]++
		if want || onlyAllows(above) || onlyAllows(below) {
			require.Equal(t, want, got, "%v under %v at %d", below, above, now)
		}
	})
	require.Positive(t, answers[true])
	require.Positive(t, answers[false])
}

func onlyAllows(grants []Grant) bool {
	for _, g := range grants {
		if g.Effect != Allow {
			return false
		}
	}
	return true
}
