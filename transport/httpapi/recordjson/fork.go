package recordjson

import (
	"encoding/hex"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// forking renders an AGENT_FORK event: who was forked, and when, and what is to
// be otherwise. What the fork brings stands in the records that follow.
func forking(b *event.Fork) fields {
	set := make(map[string]value.Raw, len(b.Set))
	for i := range b.Set {
		set[b.Set[i].Key] = b.Set[i].Value
	}
	f := fields{"agent": &b.Define, "source": b.Source, "at": b.At, "head": hex.EncodeToString(b.Head[:])}
	if len(set) > 0 {
		f["set"] = set
	}
	if b.Submit != nil {
		f["input"] = b.Submit.Input
	}
	return f
}

// phases are the phases that a fork's tick can be in.
var phases = map[execution.Phase]string{execution.Pending: "PENDING", execution.Answered: "ANSWERED", execution.Restored: "RESTORED"}

// forkedTick renders TICK_FORKED. The checkpoint is the evaluator's own, and is
// told by its size, as that of an exit is.
func forkedTick(b *execution.ForkedBody) fields {
	f := fields{"last_tick": b.LastTick, "emitted": b.Emitted}
	t := b.Tick
	if t == nil {
		return f
	}
	f["phase"], f["program"], f["input"] = phases[t.Phase], t.Program, t.Input
	f["runs"], f["steps"], f["calls"], f["checkpoint_bytes"] = t.Runs, t.Steps, t.Calls, len(t.Checkpoint)
	requests := make([]fields, len(t.Requests))
	for i := range t.Requests {
		r, a := &t.Requests[i], t.Answers[i]
		requests[i] = fields{"call": t.First + uint32(i), "tool": r.Tool, "answered": a != nil}
		if a == nil {
			requests[i]["args"] = r.Args
			continue
		}
		requests[i]["ok"], requests[i]["value"] = a.OK, a.Value
		set(set(requests[i], "code", a.Code), "message", a.Message)
	}
	if len(requests) > 0 {
		f["requests"] = requests
	}
	return set(f, "orphan", t.Orphan)
}
