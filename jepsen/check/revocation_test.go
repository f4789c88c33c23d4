package check_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

// rightsWritten is a root agent r and its child c. Both call; then the root's grant
// is revoked and the child denied; then the child's token is, and it ends.
func rightsWritten(b *book) {
	grants := []map[string]any{
		{"effect": "ALLOW", "action": "tool.call", "resource": "post/**"},
		{"effect": "ALLOW", "action": "tool.call", "resource": "get/**"},
	}
	b.event("AGENT_START", map[string]any{"agent": map[string]any{"id": "r"}}, nil)
	b.record("INTERNED", "", map[string]any{"entries": []map[string]any{{"number": 3, "class": "grants", "content": grants}}})
	b.record("TOKEN_ISSUED", "r", map[string]any{"grants": 3})
	b.goes("r", model.Spawned, model.Active, "activate", "kernel")
	b.record("TOKEN_ISSUED", "c", map[string]any{"grants": 3, "parent_id": "r"})
	b.goes("c", model.Spawned, model.Active, "activate", "kernel")
	b.judged("ALLOW", "c", "post/x")
	b.record("CALL_REQUESTED", "c", map[string]any{"call": 1, "resource": "post/x"})
	b.event("TOOL_DISPATCHED", nil, nil)
	b.record("CALL_DISPATCHED", "c", map[string]any{"call": 1})
	b.command("GRANT_REVOKE", map[string]any{"agent": "r", "grant": 0}, "r")
	b.judged("DENY", "c", "post/x")
	b.judged("ALLOW", "c", "get/x")
	b.command("TOKEN_REVOKE", map[string]any{"agent": "c"}, "c")
	b.record("TOKEN_REVOKED", "c", map[string]any{})
	b.goes("c", model.Active, model.Terminated, "x", "kernel")
}

func (b *book) judged(kind, agent, resource string) {
	b.record(kind, agent, map[string]any{"action": "tool.call", "resource": resource})
}

func (b *book) command(kind string, body any, agent string) {
	b.event(kind, body, nil)
	b.outcome(agent, "ACTIVE", "")
}

// LC-10, PE-2, TO-5
func TestRevocation(t *testing.T) {
	finds(t, check.Revocation{}, rightsWritten, []wrong{
		{"dispatched without a token", func(b *book) { b.record("CALL_DISPATCHED", "c", map[string]any{"call": 1}) }, "the token of c was revoked"},
		{"dispatched without a grant", func(b *book) {
			b.record("CALL_REQUESTED", "r", map[string]any{"call": 7, "resource": "post/x"})
		}, "nothing allows it any more"},
		{"dispatched although its parent lost the grant", func(b *book) {
			b.e.Log[b.last("TOKEN_REVOKED")-1].Kind = "NOTHING"
			b.change(b.last("EVENT"), "event", "PULSE")
			b.change(b.last("LIFECYCLE"), "to", "ACTIVE")
			b.record("CALL_DISPATCHED", "c", map[string]any{"call": 1})
		}, "nothing allows it any more"},
		{"allowed without a grant", func(b *book) { b.judged("ALLOW", "r", "post/x") }, "its grants do not"},
		{"allowed without a token", func(b *book) { b.judged("ALLOW", "c", "get/x") }, "was revoked"},
		{"denied with a grant", func(b *book) { b.judged("DENY", "r", "get/x") }, "its grants allow it"},
		{"a token for a child of the revoked", func(b *book) {
			b.record("TOKEN_ISSUED", "d", map[string]any{"grants": 3, "parent_id": "c"})
		}, "is given a token"},
		{"goes on without a token", func(b *book) { b.change(b.last("LIFECYCLE"), "to", "WAITING") }, "is WAITING in the end"},
		{"goes on below one that ended", func(b *book) {
			b.record("TOKEN_ISSUED", "d", map[string]any{"grants": 3, "parent_id": "r"})
			b.goes("r", model.Active, model.Terminated, "x", "kernel")
			b.record("CALL_REQUESTED", "d", map[string]any{"call": 1, "resource": "get/x"})
		}, "the parent r has ended"},
		{"goes on below one that failed for good", func(b *book) {
			b.record("TOKEN_ISSUED", "d", map[string]any{"grants": 3, "parent_id": "r"})
			b.goes("r", model.Active, model.Faulted, "error", "kernel")
			b.change(b.last("LIFECYCLE"), "class", "PERMANENT")
			b.record("CALL_REQUESTED", "d", map[string]any{"call": 1, "resource": "get/x"})
		}, "were given up"},
	})
}
