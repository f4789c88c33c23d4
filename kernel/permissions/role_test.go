package permissions

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// AU-1: a role may speak of every action, cannot escalate, and is otherwise judged as
// an agent's grants are, of which none may do the first.
func TestCompileRole(t *testing.T) {
	grants := parseGrants(t, []string{"ALLOW ** a/**", "DENY tool.* a/b"})
	set, refusal := CompileRole(grants)
	require.Nil(t, refusal)
	assert.Equal(t, Verdict{Allow, 0}, set.Evaluate("agent.kill", "a/x", 0))
	assert.Equal(t, Verdict{Allow, 0}, set.Evaluate("tool.call", "a/c", 0))
	assert.Equal(t, Verdict{Deny, 1}, set.Evaluate("tool.call", "a/b", 0))
	assert.Equal(t, Verdict{Deny, DefaultDeny}, set.Evaluate("agent.kill", "b", 0))
	assert.Equal(t, Verdict{Deny, DefaultDeny}, set.Evaluate("", "a/x", 0))
	_, refusal = Compile(grants)
	assert.Equal(t, &failure.Refusal{Code: failure.InvalidArgument, Field: "grants[0].action", Rule: dotted}, refusal)
	_, refusal = CompileRole(parseGrants(t, []string{"ALLOW agent.kill a", "ESCALATE agent.kill a"}))
	assert.Equal(t, "grants[1].effect", refusal.Field)
	for _, action := range []string{"*", "***", "**.a", "a.**"} {
		_, refusal = CompileRole([]Grant{{Effect: Allow, Action: action, Resource: "**"}})
		assert.Equal(t, &failure.Refusal{Code: failure.InvalidArgument, Field: "grants[0].action", Rule: dotted}, refusal, action)
	}
}
