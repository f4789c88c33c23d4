package check_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// tried writes an attempt of a command that stands at an index and a busSeq.
func (b *book) tried(in model.RepeatIn, index, seq uint64, repeated bool) {
	b.op(history.Op{
		Workload: model.Repeat, Name: "attempt", Key: "r1", In: b.json(in), Outcome: history.Ok, Index: index, Seq: seq,
		Out: b.json(api.Done{AgentID: "a1", State: "DEFINED", Index: index, BusSeq: seq, Repeated: repeated, Version: 3}),
	})
}

func (b *book) tryFailed(in model.RepeatIn, code string, outcome history.Outcome, index uint64) {
	b.op(history.Op{Workload: model.Repeat, Name: "attempt", Key: "r1", In: b.json(in), Outcome: outcome, Code: code, Index: index})
}

// repeatWritten is one command, sent six times: to a follower, without an answer,
// done, done again, and too late.
func repeatWritten(b *book) {
	in := model.RepeatIn{Session: "s", Sequence: 4}
	place := map[string]any{"session": "s", "sequence": 4}
	in.Node = "n2"
	b.tryFailed(in, "NOT_LEADER", history.Failed, 0)
	in.Node = "n1"
	b.tryFailed(in, "", history.Unknown, 0)
	seq := b.event("AGENT_DEFINE", map[string]any{"name": "r1"}, place)
	b.outcome("a1", "DEFINED", "")
	b.tried(in, 1, seq, false)
	b.event("AGENT_DEFINE", map[string]any{"name": "r1"}, place)
	b.record("DUPLICATE", "", map[string]any{"index": 1})
	b.tried(in, 1, seq, true)
	b.event("AGENT_DEFINE", map[string]any{"name": "r1"}, place)
	b.outcome("", "", "ALREADY_ACKNOWLEDGED")
	b.tryFailed(in, "ALREADY_ACKNOWLEDGED", history.Failed, 3)
}

// CL-3, CL-10
func TestRepeat(t *testing.T) {
	in := model.RepeatIn{Session: "s", Sequence: 4}
	finds(t, check.Repeat{}, repeatWritten, []wrong{
		{"done twice", func(b *book) {
			b.event("AGENT_DEFINE", nil, map[string]any{"session": "s", "sequence": 4})
			b.outcome("a2", "DEFINED", "")
		}, "was judged 2 times"},
		{"repeats nothing", func(b *book) { b.change(4, "index", 7) }, "and that is not there"},
		{"acknowledged and not there", func(b *book) { b.change(1, "session", "x"); b.change(3, "session", "x") }, "is not in the log"},
		{"another index", func(b *book) { b.tried(in, 2, 1, true) }, "was answered with index 2"},
		{"another busSeq", func(b *book) { b.tried(in, 1, 2, true) }, "busSeq 2"},
		{"another agent", func(b *book) { b.change(2, "agent_id", "a2") }, `and the first time with 1, 1, "a2"`},
		{"another version", func(b *book) {
			b.e.Ops[3].Out = b.json(api.Done{AgentID: "a1", State: "DEFINED", Index: 1, BusSeq: 1, Repeated: true, Version: 4})
		}, "version 4, and before with 3"},
		{"new twice", func(b *book) { b.tried(in, 1, 1, false) }, "said to be new 2 times"},
		{"another command", func(b *book) { b.tryFailed(in, "SEQUENCE_REUSED", history.Failed, 9) }, "refused with SEQUENCE_REUSED"},
		{"refused after it was done", func(b *book) { b.tryFailed(in, "ALREADY_EXISTS", history.Failed, 9) }, "refused with ALREADY_EXISTS"},
		{"never asked and done", func(b *book) {
			for i := range b.e.Ops {
				b.e.Ops[i].Outcome, b.e.Ops[i].Code, b.e.Ops[i].Index = history.Failed, "NOT_LEADER", 0
			}
		}, "every attempt failed before it was asked"},
	})
}
