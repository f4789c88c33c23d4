package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// find returns the cell behind a name; nil when no program of this tick can
// have bound it.
func (t *tick) find(name string) *cell {
	if slot, known := t.program.slots[name]; known {
		return &t.vars[slot]
	}
	switch name {
	case nameInput:
		return given(&t.input, t.ctx.Input, value.Null)
	case nameEnv:
		return given(&t.env, t.ctx.Env, value.EmptyMap)
	case nameAgent:
		if !t.agent.set() {
			t.agent.raw = agentFacts(t.ctx)
		}
		return &t.agent
	}
	return nil
}

// given fills a cell from the context when it is first asked for.
func given(c *cell, raw, otherwise value.Raw) *cell {
	if !c.set() {
		c.raw = raw
		if raw == nil {
			c.raw = otherwise
		}
	}
	return c
}

// agentFacts is the map that programs see as agent. Its keys stand in canonical
// order.
func agentFacts(ctx Context) value.Raw {
	raw := value.AppendMapHeader(nil, 4)
	raw = value.AppendString(raw, "id")
	raw = value.AppendString(raw, ctx.AgentID)
	raw = value.AppendString(raw, "name")
	raw = value.AppendString(raw, ctx.AgentName)
	raw = value.AppendString(raw, "tick_seq")
	raw = value.AppendInt(raw, int64(ctx.TickSeq))
	raw = value.AppendString(raw, "bus_seq_at")
	return value.AppendInt(raw, int64(ctx.BusSeqAt))
}

// bind gives a variable a value, within the bound on the ephemeral store. If
// it does not fit, the variable keeps the old one: a TRY may go on from there.
func (t *tick) bind(slot int32, v cell) *failure.Failure {
	old := &t.vars[slot]
	more := int64(len(v.raw)) - int64(len(old.raw))
	t.store += more
	if fail := t.checkStore(); fail != nil {
		t.store -= more
		return fail
	}
	*old = v
	return nil
}

// checkStore keeps the ephemeral store within what a checkpoint may hold, at
// every step and not only where a CALL would write one: so it bounds the memory
// of a tick too.
func (t *tick) checkStore() *failure.Failure {
	if t.store <= t.maxStore {
		return nil
	}
	limit := t.ctx.MaxCheckpointBytes
	if limit == 0 {
		limit = DefaultMaxCheckpointBytes
	}
	return tooLarge("what the tick has to remember", limit)
}
