package check_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

// call writes a record about a call of the first tick of agent a1.
func (b *book) call(kind string, call int, more map[string]any) uint64 {
	body := map[string]any{"call": call}
	for k, v := range more {
		body[k] = v
	}
	seq := b.record(kind, "a1", body)
	b.e.Log[seq-1].Tick = 1
	return seq
}

// hit writes that the service was called for site s.
func (b *book) hit(key, fate string) int64 {
	n := int64(len(b.e.Hits) + 1)
	b.e.Hits = append(b.e.Hits, history.Hit{At: b.now, Key: key, Name: "s", Fate: fate, N: n})
	return n
}

func good(n int64, key string) map[string]any {
	return map[string]any{"ok": true, "value": map[string]any{"status": 200, "body": model.ServiceAnswer{N: n, Name: "s", Key: key}}}
}

// errandWritten is an agent whose first call was dropped, whose second was answered,
// and one more that may be made again, which two leaders made.
func errandWritten(b *book) {
	b.send(model.Errands, "start", "a1", model.ErrandIn{}, "AGENT_START", map[string]any{"agent": map[string]any{"id": "a1"}}, "a1", "ACTIVE")
	b.record("AGENT_DEFINED", "a1", nil)
	b.call("CALL_REQUESTED", 1, nil)
	b.event("TOOL_DISPATCHED", nil, nil)
	b.call("CALL_DISPATCHED", 1, map[string]any{"node": "n1", "term": 2})
	b.hit("a1-1-1", model.FateDropped)
	b.event("TOOL_RESULT", nil, nil)
	b.call("ACTION_FAILED", 1, map[string]any{"code": "OUTCOME_UNKNOWN"})
	b.call("RESULT_DELIVERED", 1, map[string]any{"code": "OUTCOME_UNKNOWN"})
	b.call("CALL_REQUESTED", 2, nil)
	b.event("TOOL_DISPATCHED", nil, nil)
	b.call("CALL_DISPATCHED", 2, map[string]any{"node": "n1", "term": 2})
	n := b.hit("a1-1-2", model.FateAnswered)
	b.event("TOOL_RESULT", nil, nil)
	b.call("ACTION_EXECUTED", 2, nil)
	b.call("RESULT_DELIVERED", 2, good(n, "a1-1-2"))
	b.call("CALL_REQUESTED", 3, map[string]any{"idempotent": true})
	b.hit("a1-1-3", model.FateDropped)
	b.e.Hits[2].Name = "s2"
	b.event("LEADER_STARTED", nil, nil)
	b.hit("a1-1-3", model.FateLate)
	b.e.Hits[3].Name = "s2"
	b.event("TOOL_RESULT", nil, nil)
	b.call("RESULT_DELIVERED", 3, map[string]any{"code": "TOOL_TIMEOUT"})
	b.record("TICK_COMPLETED", "a1", map[string]any{"value": map[string]any{"b": 1, "a": 2}})
	b.goes("a1", model.Active, model.Terminated, "x", "kernel")
	b.op(history.Op{
		Workload: model.Errands, Name: "result", Key: "a1", Outcome: history.Ok,
		Out: b.json(model.ErrandOut{State: model.Terminated, Result: `{"a":2,"b":1}`}),
	})
}

// TO-2, TO-4
func TestErrands(t *testing.T) {
	finds(t, check.Errands{}, errandWritten, []wrong{
		{"hit twice for one dispatch", func(b *book) { b.hit("a1-1-1", model.FateDropped) }, "hit the service 2 times"},
		{"hit too often for its leaders", func(b *book) { b.hit("a1-1-3", model.FateAnswered) }, "hit the service 3 times"},
		{"hit without a dispatch", func(b *book) { b.change(6, "call", 9) }, "no dispatch is on record"},
		{"dispatched without a request", func(b *book) { b.change(6, "call", 9) }, "was not requested"},
		{"hit under another key", func(b *book) { b.hit("a9-1-1", model.FateDropped) }, "the log has no such call"},
		{"dispatched twice", func(b *book) { b.call("CALL_DISPATCHED", 2, nil) }, "and again at"},
		{"dispatched when it was over", func(b *book) {
			b.call("CALL_REQUESTED", 7, nil)
			b.call("ACTION_FAILED", 7, nil)
			b.call("CALL_DISPATCHED", 7, nil)
		}, "and was over at"},
		{"requested twice", func(b *book) { b.call("CALL_REQUESTED", 2, nil) }, "requested a second time"},
		{"dispatched although it may be made again", func(b *book) {
			b.call("CALL_REQUESTED", 7, map[string]any{"idempotent": true})
			b.call("CALL_DISPATCHED", 7, nil)
			b.call("ACTION_FAILED", 7, nil)
		}, "may be made again anyway"},
		{"a result that nobody gave", func(b *book) { b.e.Hits[1].N = 77 }, "did not answer so"},
		{"a result of a request that was dropped", func(b *book) { b.e.Hits[1].Fate = model.FateDropped }, "did not answer so"},
		{"called again after a good result", func(b *book) {
			b.call("CALL_REQUESTED", 4, nil)
			b.call("CALL_DISPATCHED", 4, nil)
			b.call("RESULT_DELIVERED", 4, nil)
			b.hit("a1-1-4", model.FateDropped)
		}, "after a good result"},
		{"a call without an end", func(b *book) { b.call("CALL_REQUESTED", 4, nil) }, "has no result"},
		{"an agent without an end", func(b *book) { b.change(b.last("LIFECYCLE"), "to", "WAITING") }, "is WAITING in the end"},
		{"an agent that waits for a retry", func(b *book) {
			b.change(b.last("LIFECYCLE"), "to", "FAULTED")
			b.change(b.last("LIFECYCLE"), "class", "TRANSIENT")
		}, "is FAULTED in the end"},
		{"an agent that is not there", func(b *book) { b.e.Ops[0].Key = "a3" }, "is not there"},
		{"another result was read", func(b *book) {
			b.e.Ops[1].Out = b.json(model.ErrandOut{State: model.Terminated, Result: `{"a":3}`})
		}, "was read to have come to"},
	})
}
