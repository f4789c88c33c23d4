package permissions

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// PE-2: what was considered, in the order in which it decides.
func TestExplain(t *testing.T) {
	set := compile(t, parseGrants(t, []string{
		"ALLOW tool.call echo",
		"ALLOW shared.read echo",
		"ESCALATE tool.* **",
		"DENY tool.call echo 100",
		"DENY tool.call mail",
		"ALLOW tool.* *",
	}))
	considered, verdict := set.Explain("tool.call", "echo", 101)
	assert.Equal(t, []Considered{
		{Grant: 3, Effect: Deny, Matched: true, Expired: true},
		{Grant: 4, Effect: Deny},
		{Grant: 2, Effect: Escalate, Matched: true},
		{Grant: 0, Effect: Allow, Matched: true},
		{Grant: 5, Effect: Allow, Matched: true},
	}, considered)
	assert.Equal(t, Verdict{Escalate, 2}, verdict)

	considered, verdict = set.Explain("agent.delegate", "echo", 0)
	assert.Empty(t, considered)
	assert.Equal(t, Verdict{Deny, DefaultDeny}, verdict)

	considered, verdict = set.Explain("shared.read", "echo//", 0)
	assert.Equal(t, []Considered{{Grant: 1, Effect: Allow}}, considered, "what is no resource is matched by nothing")
	assert.Equal(t, Verdict{Deny, DefaultDeny}, verdict)

	considered, verdict = (*Set)(nil).Explain("tool.call", "echo", 0)
	assert.Empty(t, considered)
	assert.Equal(t, Verdict{Deny, DefaultDeny}, verdict)
}

// PE-2: the first that matched and is in force is the one that Evaluate names.
func TestExplainAgreesWithEvaluate(t *testing.T) {
	one := grantOf([]string{"tool.call", "tool.*", "shared.read"}, fewPatterns, Allow, Deny, Escalate)
	rapid.Check(t, func(t *rapid.T) {
		grants := rapid.SliceOfN(one, 0, 20).Draw(t, "grants")
		resource := rapid.SampledFrom([]string{"a", "a/b", "c", "b/c", "a//b"}).Draw(t, "resource")
		now := rapid.Int64Range(0, 4).Draw(t, "now")
		considered, verdict := compile(t, grants).Explain("tool.call", resource, now)
		first := Verdict{Deny, DefaultDeny}
		for _, c := range considered {
			require.Equal(t, grants[c.Grant].Effect, c.Effect)
			if c.Matched && !c.Expired {
				first = Verdict{c.Effect, c.Grant}
				break
			}
		}
		require.Equal(t, first, verdict)
		spoken := 0
		for _, g := range grants {
			if g.Action != "shared.read" {
				spoken++
			}
		}
		require.Len(t, considered, spoken)
	})
}
