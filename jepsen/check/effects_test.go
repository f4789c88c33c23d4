package check_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
)

func message(text string) map[string]any {
	return map[string]any{"agent": "a1", "message": text}
}

// effectsWritten: one acknowledged, one refused, one unknown that happened, one that
// did not, one that nobody judged, and one that was sent again.
func effectsWritten(b *book) {
	b.send("w", "send", "a1", nil, "AGENT_SEND", message("one"), "a1", "ACTIVE")
	b.refuse("w", "send", "a1", nil, "AGENT_SEND", message("two"), "a1", "TERMINATED", "INVALID_STATE")
	b.event("AGENT_SEND", message("three"), nil)
	b.outcome("a1", "ACTIVE", "")
	b.event("AGENT_SEND", message("one"), nil)
	b.record("DUPLICATE", "", map[string]any{"index": 1})
	b.event("PULSE", nil, nil)
	sent := func(text string) *history.Sent {
		return &history.Sent{Event: "AGENT_SEND", Body: b.json(message(text))}
	}
	b.op(history.Op{Workload: "w", Name: "send", Sent: sent("three"), Outcome: history.Unknown})
	b.op(history.Op{Workload: "w", Name: "send", Sent: sent("four"), Outcome: history.Unknown})
	b.op(history.Op{Workload: "w", Name: "send", Sent: sent("five"), Outcome: history.Failed, Code: "NO_LEADER"})
	b.op(history.Op{Workload: "w", Name: "get", Outcome: history.Ok, Index: 3})
}

// CL-2, CL-3
func TestEffects(t *testing.T) {
	finds(t, check.Effects{}, effectsWritten, []wrong{
		{"acknowledged and lost", func(b *book) { b.change(1, "event", "PULSE") }, "the log has no command there"},
		{"acknowledged and another", func(b *book) { b.change(1, "body", message("other")) }, "the log has AGENT_SEND"},
		{"acknowledged and refused", func(b *book) { b.change(2, "code", "QUEUE_FULL") }, `with the outcome "QUEUE_FULL"`},
		{"acknowledged elsewhere", func(b *book) { b.e.Ops[0].Index = 7 }, "acknowledged at index 7"},
		{"acknowledged otherwise", func(b *book) { b.change(2, "state", "WAITING") }, `in state "ACTIVE", and the log has`},
		{"acknowledged and done twice", func(b *book) {
			b.event("AGENT_SEND", message("one"), nil)
			b.outcome("a1", "ACTIVE", "")
		}, "took effect 2 times"},
		{"refused and done", func(b *book) { b.change(4, "code", "") }, "failed, and took effect"},
		{"refused with another code", func(b *book) { b.change(4, "code", "QUEUE_FULL") }, `has the outcome "QUEUE_FULL"`},
		{"refused and not there", func(b *book) { b.e.Ops[1].Index = 1 }, "the log does not have it there"},
		{"failed and done", func(b *book) {
			b.event("AGENT_SEND", message("five"), nil)
			b.outcome("a1", "ACTIVE", "")
		}, "failed, and took effect"},
		{"unknown and done twice", func(b *book) {
			b.event("AGENT_SEND", message("three"), nil)
			b.outcome("a1", "ACTIVE", "")
		}, "took effect 2 times"},
	})
}
