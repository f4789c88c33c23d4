package permissions

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// PE-2: DENY, then ESCALATE, then ALLOW, then default DENY. Each row lists its
// grants as "EFFECT action resource [notAfter]".
func TestEvaluatePrecedence(t *testing.T) {
	for name, row := range map[string]struct {
		grants []string
		now    int64
		effect Effect
		grant  int32
	}{
		"nothing speaks":              {nil, 0, Deny, DefaultDeny},
		"other action":                {[]string{"ALLOW shared.write echo"}, 0, Deny, DefaultDeny},
		"other resource":              {[]string{"ALLOW tool.call ech"}, 0, Deny, DefaultDeny},
		"allow":                       {[]string{"ALLOW tool.call echo"}, 0, Allow, 0},
		"allow by action pattern":     {[]string{"ALLOW shared.* **", "ALLOW tool.* **"}, 0, Allow, 1},
		"first allow is named":        {[]string{"ALLOW tool.call *", "ALLOW tool.call echo"}, 0, Allow, 0},
		"first of two actions":        {[]string{"ALLOW tool.* *", "ALLOW tool.call echo"}, 0, Allow, 0},
		"first of two actions, again": {[]string{"ALLOW tool.call echo", "ALLOW tool.* *"}, 0, Allow, 0},
		"escalate before allow":       {[]string{"ALLOW tool.call echo", "ESCALATE tool.call **"}, 0, Escalate, 1},
		"deny before allow":           {[]string{"ALLOW tool.call echo", "DENY tool.call **"}, 0, Deny, 1},
		"deny before escalate":        {[]string{"ESCALATE tool.call echo", "DENY tool.* **"}, 0, Deny, 1},
		"deny before all":             {[]string{"ALLOW tool.* echo", "ESCALATE tool.call echo", "DENY tool.call *"}, 0, Deny, 2},
		"escalate over another group": {[]string{"ESCALATE tool.* echo", "ALLOW tool.call echo"}, 0, Escalate, 0},
		"order does not save":         {[]string{"DENY tool.call echo", "ALLOW tool.call echo"}, 0, Deny, 0},
		"narrow does not beat broad":  {[]string{"DENY tool.* **", "ALLOW tool.call echo"}, 0, Deny, 0},
		"last moment":                 {[]string{"ALLOW tool.call echo 100"}, 100, Allow, 0},
		"past":                        {[]string{"ALLOW tool.call echo 100"}, 101, Deny, DefaultDeny},
		"past deny frees":             {[]string{"DENY tool.call echo 100", "ALLOW tool.call echo"}, 101, Allow, 1},
		"past, next of its effect":    {[]string{"ALLOW tool.call echo 100", "ALLOW tool.call echo 200"}, 150, Allow, 1},
		"zero is for ever":            {[]string{"ALLOW tool.call echo"}, 1 << 62, Allow, 0},
	} {
		t.Run(name, func(t *testing.T) {
			set, refusal := Compile(parseGrants(t, row.grants))
			require.Nil(t, refusal)
			assert.Equal(t, Verdict{row.effect, row.grant}, set.Evaluate("tool.call", "echo", row.now))
		})
	}
}

func parseGrants(t testing.TB, lines []string) []Grant {
	t.Helper()
	grants := make([]Grant, len(lines))
	for i, line := range lines {
		fields := strings.Fields(line)
		require.NoError(t, grants[i].Effect.UnmarshalText([]byte(fields[0])))
		grants[i].Action, grants[i].Resource = fields[1], fields[2]
		if len(fields) > 3 {
			millis, err := strconv.ParseInt(fields[3], 10, 64)
			require.NoError(t, err)
			grants[i].NotAfterMillis = millis
		}
	}
	return grants
}

// Among many grants of one effect the first in the list is the one on record.
func TestFirstOfManyIsNamed(t *testing.T) {
	grants := slices.Repeat(parseGrants(t, []string{"ALLOW tool.call b", "DENY tool.call b", "ALLOW tool.call a", "DENY tool.call c"}), 50)
	set, refusal := Compile(grants)
	require.Nil(t, refusal)
	assert.Equal(t, Verdict{Allow, 2}, set.Evaluate("tool.call", "a", 0))
	assert.Equal(t, Verdict{Deny, 1}, set.Evaluate("tool.call", "b", 0))
	assert.Equal(t, Verdict{Deny, 3}, set.Evaluate("tool.call", "c", 0))
}

// What is no resource is denied by default, whatever the grants say.
func TestIllFormedResourceIsDenied(t *testing.T) {
	set, refusal := Compile(parseGrants(t, []string{"ALLOW tool.* **", "ALLOW tool.call a/*/c"}))
	require.Nil(t, refusal)
	for _, resource := range []string{"", "/", "/a", "a/", "a//c", strings.Repeat("a", MaxBytes+1)} {
		assert.Equal(t, Verdict{Deny, DefaultDeny}, set.Evaluate("tool.call", resource, 0), "%.20q", resource)
	}
}

func TestNilSetDenies(t *testing.T) {
	var set *Set
	assert.Equal(t, Verdict{Deny, DefaultDeny}, set.Evaluate("tool.call", "echo", 0))
	assert.Empty(t, set.Grants())
}

// PE-1: what is refused, and the field that is named.
func TestCompileRefuses(t *testing.T) {
	good := Grant{Effect: Allow, Action: "tool.call", Resource: "echo"}
	for name, row := range map[string]struct {
		change func(*Grant)
		field  string
		rule   string
	}{
		"no effect":         {func(g *Grant) { g.Effect = 0 }, "effect", "must be ALLOW, DENY or ESCALATE"},
		"unknown effect":    {func(g *Grant) { g.Effect = 4 }, "effect", "must be ALLOW, DENY or ESCALATE"},
		"no action":         {func(g *Grant) { g.Action = "" }, "action", "must not be empty"},
		"upper case":        {func(g *Grant) { g.Action = "Tool.call" }, "action", dotted},
		"lone star":         {func(g *Grant) { g.Action = "*" }, "action", dotted},
		"star before":       {func(g *Grant) { g.Action = "*.call" }, "action", dotted},
		"star within":       {func(g *Grant) { g.Action = "tool.*.x" }, "action", dotted},
		"two stars":         {func(g *Grant) { g.Action = "tool.**" }, "action", dotted},
		"only a dot star":   {func(g *Grant) { g.Action = ".*" }, "action", dotted},
		"empty name":        {func(g *Grant) { g.Action = "tool..call" }, "action", dotted},
		"trailing dot":      {func(g *Grant) { g.Action = "tool." }, "action", dotted},
		"digit first":       {func(g *Grant) { g.Action = "tool.2" }, "action", dotted},
		"space":             {func(g *Grant) { g.Action = "tool call" }, "action", dotted},
		"long action":       {func(g *Grant) { g.Action = strings.Repeat("a", MaxBytes+1) }, "action", "must be at most 1024 bytes long"},
		"many names":        {func(g *Grant) { g.Action = strings.Repeat("a.", MaxSegments) + "a" }, "action", "must have at most 64 names"},
		"no resource":       {func(g *Grant) { g.Resource = "" }, "resource", "must not be empty"},
		"slash first":       {func(g *Grant) { g.Resource = "/echo" }, "resource", "must not have an empty segment"},
		"slash last":        {func(g *Grant) { g.Resource = "echo/" }, "resource", "must not have an empty segment"},
		"rest not last":     {func(g *Grant) { g.Resource = "**/x" }, "resource", "must have ** as its last segment only"},
		"rest twice":        {func(g *Grant) { g.Resource = "**/**" }, "resource", "must have ** as its last segment only"},
		"star with text":    {func(g *Grant) { g.Resource = "a/b*" }, "resource", "must have * as a whole segment only"},
		"three stars":       {func(g *Grant) { g.Resource = "a/***" }, "resource", "must have * as a whole segment only"},
		"not UTF-8":         {func(g *Grant) { g.Resource = "a\xff" }, "resource", "must be valid UTF-8"},
		"control":           {func(g *Grant) { g.Resource = "a\nb" }, "resource", "must not contain control characters"},
		"delete":            {func(g *Grant) { g.Resource = "a\x7fb" }, "resource", "must not contain control characters"},
		"long resource":     {func(g *Grant) { g.Resource = strings.Repeat("a", MaxBytes+1) }, "resource", "must be at most 1024 bytes long"},
		"many segments":     {func(g *Grant) { g.Resource = strings.Repeat("a/", MaxSegments) + "a" }, "resource", "must have at most 64 segments"},
		"negative notAfter": {func(g *Grant) { g.NotAfterMillis = -1 }, "not_after_ms", "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			row.change(&bad)
			set, refusal := Compile([]Grant{good, good, good, bad})
			assert.Nil(t, set)
			want := &failure.Refusal{Code: failure.InvalidArgument, Field: "grants[3]." + row.field, Rule: row.rule}
			assert.Equal(t, want, refusal)
		})
	}
}

const dotted = "must be dotted lower-case names, the last of which may be *"

func TestCompileLimitsGrants(t *testing.T) {
	grants := slices.Repeat([]Grant{{Effect: Allow, Action: "tool.call", Resource: "echo"}}, MaxGrants+1)
	_, refusal := Compile(grants[:MaxGrants])
	assert.Nil(t, refusal)
	_, refusal = Compile(grants)
	assert.Equal(t, &failure.Refusal{Code: failure.InvalidArgument, Field: "grants", Rule: "must be at most 256 grants"}, refusal)
}

// A set does not change when the slices around it do.
func TestSetIsImmutable(t *testing.T) {
	grants := parseGrants(t, []string{"ALLOW tool.call echo"})
	set, refusal := Compile(grants)
	require.Nil(t, refusal)
	grants[0].Effect = Deny
	set.Grants()[0].Effect = Deny
	assert.Equal(t, parseGrants(t, []string{"ALLOW tool.call echo"}), set.Grants())
	assert.Equal(t, Verdict{Allow, 0}, set.Evaluate("tool.call", "echo", 0))
}

// naiveEvaluate is PE-2 read aloud: for each effect in order, the first grant
// in force that matches.
func naiveEvaluate(grants []Grant, action, resource string, now int64) Verdict {
	for _, effect := range []Effect{Deny, Escalate, Allow} {
		for i, g := range grants {
			prefix, open := strings.CutSuffix(g.Action, "*")
			spoken := g.Action == action || open && strings.HasPrefix(action, prefix)
			inForce := g.NotAfterMillis == 0 || now <= g.NotAfterMillis
			if g.Effect == effect && spoken && inForce && naiveMatch(strings.Split(g.Resource, "/"), strings.Split(resource, "/")) {
				return Verdict{effect, int32(i)}
			}
		}
	}
	return Verdict{Deny, DefaultDeny}
}

// PE-2
func TestEvaluateLikeItsDefinition(t *testing.T) {
	grant := rapid.Custom(func(t *rapid.T) Grant {
		return Grant{
			Effect:         rapid.SampledFrom([]Effect{Allow, Deny, Escalate}).Draw(t, "effect"),
			Action:         rapid.SampledFrom([]string{"tool.call", "tool.*", "shared.read", "tool.call.*"}).Draw(t, "action"),
			Resource:       rapid.SampledFrom([]string{"a", "a/b", "a/*", "*/b", "**", "a/**", "b", "a/b/c"}).Draw(t, "resource"),
			NotAfterMillis: rapid.Int64Range(0, 3).Draw(t, "notAfter"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		grants := rapid.SliceOfN(grant, 0, 40).Draw(t, "grants")
		action := rapid.SampledFrom([]string{"tool.call", "tool.list", "shared.read", "tool.call.x"}).Draw(t, "action")
		resource := rapid.SampledFrom([]string{"a", "a/b", "b", "c/b", "a/b/c", "c"}).Draw(t, "resource")
		now := rapid.Int64Range(0, 4).Draw(t, "now")
		set, refusal := Compile(grants)
		require.Nil(t, refusal)
		assert.Equal(t, naiveEvaluate(grants, action, resource, now), set.Evaluate(action, resource, now))
	})
}

func FuzzCompile(f *testing.F) {
	f.Add(uint8(1), "tool.call", "http.request/GET/*/v1/**", int64(0), "http.request/GET/h/v1/items")
	f.Add(uint8(2), "tool.*", "**", int64(5), "a/b")
	f.Add(uint8(3), "a.b.*", "a/*", int64(-5), "a/*")
	f.Add(uint8(0), "*", "a//b", int64(1), "a//b")
	f.Add(uint8(1), "tool.call", "\xff/***", int64(1), "\xff")
	f.Fuzz(func(t *testing.T, effect uint8, action, resource string, notAfter int64, asked string) {
		grants := []Grant{{Effect: Effect(effect), Action: action, Resource: resource, NotAfterMillis: notAfter}}
		set, refusal := Compile(grants)
		if refusal != nil {
			require.Nil(t, set)
			require.Equal(t, failure.InvalidArgument, refusal.Code)
			require.True(t, strings.HasPrefix(refusal.Field, "grants[0]."), refusal.Field)
			require.NotEmpty(t, refusal.Rule)
			return
		}
		require.Equal(t, grants, set.Grants())
		if !wellFormed(asked) {
			require.Equal(t, Verdict{Deny, DefaultDeny}, set.Evaluate(action, asked, 0))
			return
		}
		if !strings.HasSuffix(action, "*") {
			require.Equal(t, naiveEvaluate(grants, action, asked, 0), set.Evaluate(action, asked, 0))
		}
		// A pattern without wildcards grants exactly itself.
		if !strings.Contains(resource, "*") {
			require.Equal(t, asked == resource, set.Evaluate(strings.Replace(action, "*", "x", 1), asked, 0).Grant == 0)
		}
	})
}
