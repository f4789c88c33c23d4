package check_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

func (b *book) says(text string) { b.record("EMITTED", "a1", map[string]any{"value": text}) }

func (b *book) listed(said ...string) {
	b.op(history.Op{
		Workload: model.Append, Name: "list", Key: "a1", Outcome: history.Ok, Node: "n2", Index: b.index, Out: b.json(model.ListOut{Said: said}),
	})
}

// appendWritten: two acknowledged messages, one unknown between them that happened,
// one that failed, and what was said, read twice.
func appendWritten(b *book) {
	w := model.Append
	b.send(w, "send", "a1", nil, "AGENT_SEND", message("one"), "a1", "ACTIVE")
	b.says("one")
	b.listed("one")
	b.event("AGENT_SEND", message("two"), nil)
	b.outcome("a1", "ACTIVE", "")
	b.says("two")
	b.op(history.Op{Workload: w, Name: "send", Key: "a1", Outcome: history.Unknown, Sent: &history.Sent{Event: "AGENT_SEND", Body: b.json(message("two"))}})
	b.op(history.Op{Workload: w, Name: "send", Key: "a1", Outcome: history.Failed, Code: "NO_LEADER", Sent: &history.Sent{Event: "AGENT_SEND", Body: b.json(message("no"))}})
	b.send(w, "send", "a1", nil, "AGENT_SEND", message("three"), "a1", "ACTIVE")
	b.says("three")
	b.op(history.Op{Workload: w, Name: "list", Key: "a1", Outcome: history.Failed, Code: "NOT_CAUGHT_UP", Index: 1})
	b.listed("one", "two", "three")
}

// CL-3, ME-5
func TestAppend(t *testing.T) {
	last := func(b *book) *history.Op { return &b.e.Ops[len(b.e.Ops)-1] }
	finds(t, check.Append{}, appendWritten, []wrong{
		{"lost", func(b *book) { b.change(1, "event", "PULSE") }, "acknowledged, and is lost"},
		{"twice", func(b *book) {
			b.event("AGENT_SEND", message("one"), nil)
			b.outcome("a1", "ACTIVE", "")
		}, "got the message one twice"},
		{"refused and there", func(b *book) {
			b.event("AGENT_SEND", message("no"), nil)
			b.outcome("a1", "ACTIVE", "")
		}, "was refused with NO_LEADER, and is there"},
		{"from nobody", func(b *book) { b.change(4, "body", message("odd")) }, "nobody sent it"},
		{"out of order", func(b *book) { last(b).Index, b.e.Ops[4].Index = 9, 1 }, "was asked for after"},
		{"said out of order", func(b *book) { b.change(b.last("EMITTED"), "value", "two") }, "said [one two two], and got"},
		{"said less", func(b *book) { b.change(b.last("EMITTED"), "value", "") }, "and got [one two three]"},
		{"read in another order", func(b *book) { last(b).Out = b.json(model.ListOut{Said: []string{"two", "one"}}) }, "was read at n2"},
		{"read what was never said", func(b *book) {
			last(b).Out = b.json(model.ListOut{Said: []string{"one", "two", "three", "four"}})
		}, "was read at n2"},
		{"read too little", func(b *book) { last(b).Out = b.json(model.ListOut{Said: []string{"one"}}) }, "did not see it"},
	})
}
