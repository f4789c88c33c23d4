package permissions

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hundredGrants is the worst case of an ordinary set: one action, resources
// that begin alike, and the grant that decides last.
func hundredGrants(t testing.TB) *Set {
	var lines []string
	for i := range 99 {
		lines = append(lines, fmt.Sprintf("ALLOW tool.call http.request/GET/host-%02d.example.com/v1/**", i))
	}
	lines = append(lines, "ALLOW tool.call http.request/GET/api.example.com/v1/**")
	set, refusal := Compile(parseGrants(t, lines))
	require.Nil(t, refusal)
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
	}))
}

func BenchmarkEvaluate100Grants(b *testing.B) {
	set := hundredGrants(b)
	b.ReportAllocs()
	for b.Loop() {
		set.Evaluate("tool.call", benchResource, 1)
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
