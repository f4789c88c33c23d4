package permissions

import (
	"maps"
	"slices"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func listed(yield func(func(*Escalation) bool)) (ids []uint64) {
	yield(func(e *Escalation) bool {
		ids = append(ids, e.ID)
		return true
	})
	return ids
}

func withHandler(t *Tables, handler uint32) func(func(*Escalation) bool) {
	return func(yield func(*Escalation) bool) { t.OfHandler(handler, yield) }
}

func withAgent(t *Tables, agent uint32) func(func(*Escalation) bool) {
	return func(yield func(*Escalation) bool) { t.OfAgent(agent, yield) }
}

// queue is what the tables must look like: a plain map.
type queue map[uint64]Escalation

func (q queue) where(wanted func(Escalation) bool) (ids []uint64) {
	for _, id := range slices.Sorted(maps.Keys(q)) {
		if wanted(q[id]) {
			ids = append(ids, id)
		}
	}
	return ids
}

// check compares everything that can be read.
func (q queue) check(t require.TestingT, tables *Tables) {
	require.Equal(t, len(q), tables.Len())
	require.Equal(t, q.where(func(Escalation) bool { return true }), listed(tables.All))
	for id, want := range q {
		got, ok := tables.Get(id)
		require.True(t, ok)
		require.Equal(t, want, *got)
	}
	for no := range uint32(4) {
		require.Equal(t, q.where(func(e Escalation) bool { return e.Agent == no }), listed(withAgent(tables, no)))
		require.Equal(t, q.where(func(e Escalation) bool { return e.Handler == no }), listed(withHandler(tables, no)))
		next, found := tables.Next(no)
		waiting := q.where(func(e Escalation) bool { return e.Handler == no && !e.Offered })
		require.Equal(t, len(waiting) > 0, found)
		if found {
			require.Equal(t, waiting[0], next.ID)
		}
	}
}

// PE-3: the queue against a plain map; what was published stays, and what
// stands in a snapshot is the same queue again.
func TestEscalationsAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tables, want, seq := New(), queue{}, uint64(0)
		before, wantBefore := tables.Publish(), queue{}
		agents := rapid.Uint32Range(0, 3)
		known := func() uint64 { return rapid.Uint64Range(0, seq+1).Draw(t, "id") }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				seq += rapid.Uint64Range(1, 3).Draw(t, "gap")
				body := &Escalated{Call: 1, Tool: "echo", Args: value.EmptyMap, Handler: agents.Draw(t, "handler"), Deadline: 7}
				agent := agents.Draw(t, "agent")
				tables.ApplyEscalated(agent, 9, bus.At{Seq: seq}, body)
				want[seq] = Escalation{ID: seq, Agent: agent, Tick: 9, Call: 1, Tool: "echo", Args: value.EmptyMap, Handler: body.Handler, Deadline: 7}
			case 2:
				id, handler := known(), agents.Draw(t, "handler")
				tables.ApplyOffered(&EscalationOffered{ID: id, Handler: handler})
				if e, ok := want[id]; ok {
					e.Handler, e.Offered = handler, true
					want[id] = e
				}
			case 3:
				id := known()
				tables.ApplyOffered(&EscalationOffered{ID: id})
				if e, ok := want[id]; ok {
					e.Handler, e.Offered = 0, true
					want[id] = e
				}
			case 4:
				id := known()
				tables.ApplyDecided(&EscalationDecided{ID: id})
				delete(want, id)
			case 5:
				before, wantBefore = tables.Publish(), maps.Clone(want)
			}
			want.check(t, &tables)
		}
		wantBefore.check(t, &before)

		loaded := New()
		tables.All(func(e *Escalation) bool {
			raw, err := cbor.Marshal(e)
			require.NoError(t, err)
			var back Escalation
			require.NoError(t, cbor.Unmarshal(raw, &back))
			loaded.Load(&back)
			return true
		})
		want.check(t, &loaded)
	})
}

// The entry holds its own copy of the arguments: the record's bytes belong to
// a buffer of the log.
func TestEscalatedKeepsItsArguments(t *testing.T) {
	args := value.Raw{0x81, 0x01}
	tables := New()
	tables.ApplyEscalated(1, 2, bus.At{Seq: 3}, &Escalated{Args: args})
	args[1] = 0x02
	kept, ok := tables.Get(3)
	require.True(t, ok)
	assert.Equal(t, value.Raw{0x81, 0x01}, kept.Args)
}

// Yielding stops when it is told to.
func TestYieldStops(t *testing.T) {
	tables := New()
	for seq := range uint64(5) {
		tables.ApplyEscalated(1, 2, bus.At{Seq: seq + 1}, &Escalated{Handler: 4})
	}
	for _, all := range []func(func(*Escalation) bool){tables.All, withAgent(&tables, 1), withHandler(&tables, 4)} {
		seen := 0
		all(func(*Escalation) bool {
			seen++
			return seen < 2
		})
		assert.Equal(t, 2, seen)
	}
}

// PE-3: an approval is bound to the exact call.
func TestCallDigest(t *testing.T) {
	base := CallDigest(1, 2, 3, "echo", value.Raw{0x80})
	assert.Equal(t, base, CallDigest(1, 2, 3, "echo", value.Raw{0x80}))
	for name, other := range map[string][32]byte{
		"agent":                CallDigest(9, 2, 3, "echo", value.Raw{0x80}),
		"tick":                 CallDigest(1, 9, 3, "echo", value.Raw{0x80}),
		"call":                 CallDigest(1, 2, 9, "echo", value.Raw{0x80}),
		"tool":                 CallDigest(1, 2, 3, "mail", value.Raw{0x80}),
		"arguments":            CallDigest(1, 2, 3, "echo", value.Raw{0xa0}),
		"where one field ends": CallDigest(1, 2, 3, "echo\x80", nil),
	} {
		assert.NotEqual(t, base, other, name)
	}
	// The digest is in the log: its bytes are part of the format.
	assert.Equal(t, [4]byte{0xa9, 0xf0, 0x70, 0xa3}, [4]byte(base[:4]))
}

// EV-11: every body comes back as it was, and nothing else is taken for one.
func TestRecordBodies(t *testing.T) {
	escalated := &Escalated{
		Call: 1, Tool: "echo", Args: value.Raw{0x81, 0x01}, Timeout: 500, Action: "tool.call", Resource: "echo",
		Digest: [32]byte{1, 31: 2}, Handler: 7, Deadline: 1700000000000, Timer: 8, Grants: 9, Grant: 200, Level: 11,
	}
	decoded := func(body any, ok bool) any {
		if !ok {
			return nil
		}
		return body
	}
	for name, row := range map[string]struct {
		body   bus.Body
		decode func([]byte) any
	}{
		"Evaluation": {&Evaluation{"tool.call", "echo", 2, DefaultDeny, 5}, func(b []byte) any { return decoded(DecodeEvaluation(b)) }},
		"Assigned":   {&Assigned{3}, func(b []byte) any { return decoded(DecodeAssigned(b)) }},
		"Revoked":    {&Revoked{255, 4, "no longer needed"}, func(b []byte) any { return decoded(DecodeRevoked(b)) }},
		"Escalated":  {escalated, func(b []byte) any { return decoded(DecodeEscalated(b)) }},
		"Offered":    {&EscalationOffered{1 << 40, 6}, func(b []byte) any { return decoded(DecodeEscalationOffered(b)) }},
		"Decided": {
			&EscalationDecided{1 << 40, true, "parent", failure.Withdrawn, "because"},
			func(b []byte) any { return decoded(DecodeEscalationDecided(b)) },
		},
	} {
		raw := row.body.AppendTo([]byte("before"))
		require.Equal(t, "before", string(raw[:6]), name)
		raw = raw[6:]
		assert.Equal(t, row.body, row.decode(raw), name)
		assert.Nil(t, row.decode(append(slices.Clone(raw), 0)), "%s and a byte", name)
		for cut := range raw {
			assert.Nil(t, row.decode(raw[:cut]), "%s cut at %d", name, cut)
		}
	}
	// A position has 32 bits and a sign.
	wide := bus.AppendInt(nil, 1<<31)
	_, ok := DecodeRevoked(append(slices.Clone(wide), 1, 0))
	assert.False(t, ok)
	_, ok = DecodeEvaluation(append(append([]byte{1, 'a', 1, 'r', 1}, wide...), 0))
	assert.False(t, ok)
	short := (&Escalated{}).AppendTo(nil)
	_, ok = DecodeEscalated(append(append(slices.Clone(short[:len(short)-2]), wide...), 0))
	assert.False(t, ok)
}

// Records change the row that they are about, and nothing else in it.
func TestRow(t *testing.T) {
	var row Row
	row.Apply(&Assigned{Grants: 4})
	require.Equal(t, Row{Grants: 4}, row)
	row.ApplyRevoked(&Revoked{Grant: 1, Grants: 5})
	require.Equal(t, Row{Grants: 5}, row)
	row.ApplyArchived()
	require.Zero(t, row)
}

// A copy of the queue is made for every batch of events, so it must cost nothing.
func TestPublishDoesNotAllocate(t *testing.T) {
	tables := New()
	for seq := range uint64(100) {
		tables.ApplyEscalated(1, 2, bus.At{Seq: seq + 1}, &Escalated{Handler: 4})
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		published := tables.Publish()
		if _, found := published.Get(50); !found {
			t.Fatal("it is in the copy")
		}
	}))
}
