package permissions

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hundredLines is the worst case of an ordinary list: one action, resources
// that begin alike, and the grant that decides last.
func hundredLines(t testing.TB) []Grant {
	var lines []string
	for i := range 99 {
		lines = append(lines, fmt.Sprintf("ALLOW tool.call http.request/GET/host-%02d.example.com/v1/**", i))
	}
	return parseGrants(t, append(lines, "ALLOW tool.call http.request/GET/api.example.com/v1/**"))
}

func hundredGrants(t testing.TB) *Set {
	set := compile(t, hundredLines(t))
	require.Equal(t, Verdict{Allow, 99}, set.Evaluate("tool.call", benchResource, 1))
	return set
}

const benchResource = "http.request/GET/api.example.com/v1/items"

// PE-2: the gate stands on the hot path and must not allocate.
func TestEvaluateDoesNotAllocate(t *testing.T) {
	set := hundredGrants(t)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		set.Evaluate("tool.call", benchResource, 1)
		set.Evaluate("shared.write", "a//b", 1)
		upwards([]*Set{set, set, set}, "tool.call", benchResource, 1)
	}))
}

// upwards asks one list after the other, as a request of a grandchild is judged.
func upwards(levels []*Set, action, resource string, now int64) Level {
	strictest := Level{Verdict: levels[0].Evaluate(action, resource, now)}
	for i, set := range levels[1:] {
		resource = Upwards(action, resource)
		strictest = Strictest(strictest, Level{Agent: uint32(i + 1), Verdict: set.Evaluate(action, resource, now)})
	}
	return strictest
}

// DE-1: what a child may is judged at every level.
func TestUpwardsTheStrictestDecides(t *testing.T) {
	child := compile(t, parseGrants(t, []string{"ALLOW memory.read parent/**", "ALLOW tool.call **"}))
	parent := compile(t, parseGrants(t, []string{"ALLOW memory.read self/notes/**", "ESCALATE tool.call mail/**", "ALLOW tool.call **"}))
	root := compile(t, parseGrants(t, []string{"ALLOW memory.* **", "ALLOW tool.* **", "DENY tool.call mail/ceo"}))
	for _, row := range []struct {
		action, resource string
		want             Level
	}{
		{"memory.read", "parent/notes/x", Level{0, Verdict{Allow, 0}}},
		{"memory.read", "parent/keys", Level{1, Verdict{Deny, DefaultDeny}}},
		{"memory.read", "self/notes/x", Level{0, Verdict{Deny, DefaultDeny}}},
		{"tool.call", "echo", Level{0, Verdict{Allow, 1}}},
		{"tool.call", "mail/bob", Level{1, Verdict{Escalate, 1}}},
		{"tool.call", "mail/ceo", Level{2, Verdict{Deny, 2}}},
	} {
		assert.Equal(t, row.want, upwards([]*Set{child, parent, root}, row.action, row.resource, 0), "%s %s", row.action, row.resource)
	}
}

func BenchmarkEvaluate100Grants(b *testing.B) {
	set := hundredGrants(b)
	b.ReportAllocs()
	for b.Loop() {
		set.Evaluate("tool.call", benchResource, 1)
	}
}

func BenchmarkEvaluate100Grants3Levels(b *testing.B) {
	levels := []*Set{hundredGrants(b), hundredGrants(b), hundredGrants(b)}
	b.ReportAllocs()
	for b.Loop() {
		upwards(levels, "tool.call", benchResource, 1)
	}
}

// benchChild holds narrower grants than its parent, in the opposite order: the
// search for the one that contains goes through half of them.
func benchChild(b *testing.B) *Set {
	grants := hundredLines(b)
	slices.Reverse(grants)
	for i := range grants {
		grants[i].Resource = strings.TrimSuffix(grants[i].Resource, "**") + "*/items"
	}
	return compile(b, grants)
}

func BenchmarkWidens100In100(b *testing.B) {
	parent, child := hundredGrants(b), benchChild(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, widens := parent.Widens(child); widens {
			b.Fatal("every grant is contained")
		}
	}
}

// The dearest answer is no: nothing is found, at the end.
func BenchmarkStrict100In100(b *testing.B) {
	parent, same := hundredGrants(b), hundredGrants(b)
	b.ReportAllocs()
	for b.Loop() {
		if Strict(parent, same, 1) {
			b.Fatal("it keeps nothing")
		}
	}
}

func BenchmarkEvaluate3Grants(b *testing.B) {
	set, _ := Compile(parseGrants(b, []string{
		"ALLOW tool.call echo", "ALLOW tool.call http.request/GET/api.example.com/**", "DENY tool.* admin/**",
	}))
	b.ReportAllocs()
	for b.Loop() {
		set.Evaluate("tool.call", benchResource, 1)
	}
}

func BenchmarkCompile3Grants(b *testing.B) {
	grants := parseGrants(b, []string{
		"ALLOW tool.call echo", "ALLOW tool.call http.request/GET/api.example.com/**", "DENY tool.* admin/**",
	})
	b.ReportAllocs()
	for b.Loop() {
		Compile(grants)
	}
}
