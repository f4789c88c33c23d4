package failure_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// FA-5: the class of every code that ends a tick or answers a call.
func TestClasses(t *testing.T) {
	golden := map[failure.Class][]failure.Code{
		failure.Unclassified: {"INVALID_STATE"},
		failure.Transient:    {"WAIT_TIMEOUT", "TOOL_TIMEOUT", "TOOL_UNREACHABLE"},
		failure.Permanent: {
			"EVAL_FAILURE", "EVAL_PANIC", "TICK_OVERFLOW", "CALL_OVERFLOW", "VALUE_TOO_LARGE", "WORK_EXCEEDED",
			"CHECKPOINT_INVALID", "KILLED", "OUTCOME_UNKNOWN", "WITHDRAWN", "TOOL_UNKNOWN", "TOOL_ARGS_INVALID", "TOOL_FAILED",
			"TOOL_CRASHED", "TOOL_RESULT_TOO_LARGE", "TOOL_RESULT_INVALID", "TOOL_LIMIT_EXCEEDED", "PROGRAM_FAILED",
			"LOOP_OVERFLOW", "VERSION_CONFLICT", "MEMORY_FULL", "TOKEN_REVOKED", "TOKEN_EXPIRED",
			"REPLAY_DIVERGENCE", "MADE_UP", "", // nothing unknown is ever retried
		},
		failure.PolicyViolation: {"PERMISSION_DENIED", "REJECTED"},
		failure.InvariantBreach: {"INVARIANT_BREACH"},
	}
	for class, codes := range golden {
		for _, code := range codes {
			assert.Equal(t, class, failure.ClassOf(code), code)
			assert.Equal(t, class, (&failure.Failure{Code: code}).Class())
		}
	}
	for class, name := range map[failure.Class]string{
		0: "", 1: "TRANSIENT", 2: "PERMANENT", 3: "POLICY_VIOLATION", 4: "INVARIANT_BREACH", 5: "UNKNOWN_CLASS",
	} {
		assert.Equal(t, name, class.String())
	}
}

// TO-6: what a runner may say; nothing that would end an agent's tick as
// something else than a failed call.
func TestCodesOfCalls(t *testing.T) {
	for _, code := range []failure.Code{
		"TOOL_UNKNOWN", "TOOL_ARGS_INVALID", "TOOL_TIMEOUT", "TOOL_UNREACHABLE", "TOOL_FAILED", "TOOL_CRASHED",
		"TOOL_RESULT_TOO_LARGE", "TOOL_RESULT_INVALID", "TOOL_LIMIT_EXCEEDED", "OUTCOME_UNKNOWN", "WITHDRAWN",
	} {
		assert.True(t, code.OfCall(), code)
	}
	for _, code := range []failure.Code{
		"", "INVALID_STATE", "EVAL_PANIC", "KILLED", "PERMISSION_DENIED", "INVARIANT_BREACH", "WAIT_TIMEOUT", "PROGRAM_FAILED", "MADE_UP",
	} {
		assert.False(t, code.OfCall(), code)
	}
}

// Messages are cut at the limit, never inside a character.
func TestClip(t *testing.T) {
	require.Equal(t, "short", failure.Clip("short"))
	require.Equal(t, strings.Repeat("x", failure.MaxMessage), failure.Clip(strings.Repeat("x", failure.MaxMessage)))
	for pad := range 4 {
		long := strings.Repeat("x", failure.MaxMessage-pad) + "€€"
		cut := failure.Clip(long)
		assert.LessOrEqual(t, len(cut), failure.MaxMessage)
		assert.Greater(t, len(cut), failure.MaxMessage-4)
		assert.True(t, utf8.ValidString(cut), fmt.Sprint(pad))
		assert.True(t, strings.HasPrefix(long, cut))
	}
}
