package permissions

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// PE-3: a grant taken back says nothing any more, and stands where it stood.
func TestRevoke(t *testing.T) {
	grants := parseGrants(t, []string{"ALLOW tool.call a", "DENY tool.call b", "ALLOW tool.call c 500", "ALLOW tool.call d 10", "ESCALATE tool.call e"})
	before := slices.Clone(grants)
	for i, until := range map[int]int64{0: 99, 2: 99, 3: 10} {
		revoked, refusal := Revoke(grants, i, 100)
		require.Nil(t, refusal)
		require.Equal(t, before, grants, "the list given stays")
		want := slices.Clone(before)
		want[i].NotAfterMillis = until
		assert.Equal(t, want, revoked)
		assert.Equal(t, DefaultDeny, compile(t, revoked).Evaluate("tool.call", grants[i].Resource, 100).Grant)
	}
	soon, refusal := Revoke(grants, 0, 2)
	require.Nil(t, refusal)
	assert.EqualValues(t, 1, soon[0].NotAfterMillis)
}

func TestRevokeRefuses(t *testing.T) {
	grants := parseGrants(t, []string{"ALLOW tool.call a", "DENY tool.call b", "ESCALATE tool.call c"})
	for name, row := range map[string]struct {
		i     int
		now   int64
		field string
	}{
		"a DENY":                 {1, 100, "grants[1].effect"},
		"an ESCALATE":            {2, 100, "grants[2].effect"},
		"before the first":       {-1, 100, "grant"},
		"behind the last":        {3, 100, "grant"},
		"zero would be for ever": {0, 1, "grant"},
		"a negative time":        {0, 0, "grant"},
		"the first of times":     {0, math.MinInt64, "grant"},
	} {
		revoked, refusal := Revoke(grants, row.i, row.now)
		assert.Nil(t, revoked, name)
		if assert.NotNil(t, refusal, name) {
			assert.Equal(t, failure.InvalidArgument, refusal.Code, name)
			assert.Equal(t, row.field, refusal.Field, name)
			assert.NotEmpty(t, refusal.Rule, name)
		}
	}
}

// PE-3: taking back never widens: what is allowed afterwards was allowed before.
func TestRevokeOnlyNarrows(t *testing.T) {
	one := grantOf([]string{"tool.call", "tool.*"}, fewPatterns, Allow, Allow, Deny, Escalate)
	rapid.Check(t, func(t *rapid.T) {
		grants := rapid.SliceOfN(one, 1, 8).Draw(t, "grants")
		now := rapid.Int64Range(2, 4).Draw(t, "now")
		revoked, refusal := Revoke(grants, rapid.IntRange(0, len(grants)-1).Draw(t, "i"), now)
		if refusal != nil {
			return
		}
		before, after := compile(t, grants), compile(t, revoked)
		_, widens := before.Widens(after)
		require.False(t, widens)
		for _, resource := range words([]string{"a", "b", "c"}, "/", 3) {
			for at := range int64(6) {
				was, is := before.Evaluate("tool.call", resource, at), after.Evaluate("tool.call", resource, at)
				require.Equal(t, Level{1, is}, Strictest(Level{1, is}, Level{0, was}), "%s at %d", resource, at)
			}
		}
	})
}
