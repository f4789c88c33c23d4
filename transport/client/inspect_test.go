package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/api"
)

// A tree is walked depth first, and its pages join to the whole, wherever they
// are cut.
func TestTreePages(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	const sleeper = `{"kind":"WAIT","payload":{"ms":60000}}`
	inner := `{"kind":"DELEGATE","payload":{"children":[{"name":"c1","program":` + sleeper + `},{"name":"c2","program":` + sleeper + `}]}}`
	root := start(t, c, `{"kind":"DELEGATE","payload":{"children":[
		{"name":"a","max_depth":1,"program":`+inner+`,"grants":[{"effect":"ALLOW","action":"agent.delegate","resource":"**"}]},
		{"name":"b","program":`+sleeper+`}]}}`, allow("agent.delegate", "**"), allow("tool.call", "**"))
	whole, err := c.Tree(ctx, root, api.TreeQuery{})
	require.NoError(t, err)
	var names []string
	var levels []uint32
	for _, a := range whole.Agents {
		names, levels = append(names, a.Name), append(levels, a.Level)
	}
	assert.Equal(t, []string{"", "a", "c1", "c2", "b"}, names)
	assert.Equal(t, []uint32{0, 1, 2, 2, 1}, levels)
	assert.Empty(t, whole.Next)
	for limit := 1; limit <= 5; limit++ {
		var joined []api.TreeAgent
		q := api.TreeQuery{Limit: limit}
		for more := true; more; more = q.After != "" {
			page, err := c.Tree(ctx, root, q)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page.Agents), limit)
			joined, q.After = append(joined, page.Agents...), page.Next
		}
		assert.Equal(t, whole.Agents, joined, "limit %d", limit)
	}
	below, err := c.Tree(ctx, whole.Agents[1].AgentID, api.TreeQuery{})
	require.NoError(t, err)
	assert.Len(t, below.Agents, 3, "a subtree ends with itself")
	_, err = c.Tree(ctx, whole.Agents[1].AgentID, api.TreeQuery{After: whole.Agents[4].AgentID})
	says(t, err, "INVALID_ARGUMENT", "after")
	a, err := c.Agent(ctx, root)
	require.NoError(t, err)
	assert.Equal(t, uint32(2), a.Children)
}

// DE-4: what a child calls its parent's memory is the parent's own, one level
// up, and is judged as that there.
func TestExplainReadsUpwards(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	parent := start(t, c, `{"kind":"DELEGATE","payload":{"children":[{"program":{"kind":"WAIT","payload":{"ms":60000}},
		"grants":[{"effect":"ALLOW","action":"memory.read","resource":"parent/notes/**"},{"effect":"ALLOW","action":"tool.call","resource":"timer.sleep"}]}]}}`,
		allow("agent.delegate", "**"), allow("memory.read", "self/**"), allow("tool.call", "**"))
	tree, err := c.Tree(ctx, parent, api.TreeQuery{})
	require.NoError(t, err)
	require.Len(t, tree.Agents, 2)
	x, err := c.Explain(ctx, tree.Agents[1].AgentID, "memory.read", "parent/notes/1")
	require.NoError(t, err)
	assert.Equal(t, "ALLOW", x.Verdict)
	assert.Equal(t, []string{"parent/notes/1", "self/notes/1"}, []string{x.Levels[0].Resource, x.Levels[1].Resource})
	assert.Equal(t, permissions.Allow, x.Levels[1].Considered[0].Effect)
}
