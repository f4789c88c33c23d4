package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// shape of one write or delete that CheckWrite judges.
type request struct {
	op        memory.Op
	namespace string // shared when there is one, else agent 1's own
	key       string
	bytes     int // of the value
	expected  int // version; -1 for any
}

func (r request) access() *memory.Access {
	a := &memory.Access{Op: r.op, Scope: memory.ScopePersistent, Owner: 1, Key: r.key, Run: 2}
	if r.op == memory.OpWrite {
		a.Value = make(value.Raw, r.bytes)
	}
	if r.namespace != "" {
		a.Scope, a.Owner, a.Namespace = memory.ScopeShared, 0, r.namespace
	}
	return a
}

// ME-1: compare-and-set by version, judged before anything else; then the
// limits, of which a memory that is at one takes what makes it no larger.
// Agent 1 has "a" (version 1, 10 bytes) and "b" (version 2, 10 bytes); agent 2
// has 10 bytes; shared memory has p/a (version 4, 10 bytes).
func TestCheckWrite(t *testing.T) {
	const w, d = memory.OpWrite, memory.OpDelete
	roomy := memory.Limits{MaxKeys: 9, MaxBytes: 900, MaxPersistentBytes: 900, MaxSharedKeys: 9, MaxSharedBytes: 900}
	limit := func(change func(*memory.Limits)) memory.Limits {
		l := roomy
		change(&l)
		return l
	}
	keysFull := limit(func(l *memory.Limits) { l.MaxKeys, l.MaxSharedKeys = 2, 1 })
	bytesFull := limit(func(l *memory.Limits) { l.MaxBytes, l.MaxSharedBytes = 20, 10 })
	oneLeft := limit(func(l *memory.Limits) { l.MaxBytes, l.MaxPersistentBytes, l.MaxSharedBytes = 21, 31, 11 })
	allFull := limit(func(l *memory.Limits) { l.MaxPersistentBytes = 30 })
	over := limit(func(l *memory.Limits) {
		l.MaxKeys, l.MaxBytes, l.MaxPersistentBytes, l.MaxSharedKeys, l.MaxSharedBytes = 1, 5, 5, 0, 5
	})
	for _, test := range []struct {
		limits  memory.Limits
		r       request
		code    failure.Code
		message string
	}{
		{roomy, request{w, "", "a", 9, -1}, "", ""},
		{roomy, request{w, "", "a", 9, 1}, "", ""},
		{roomy, request{w, "", "a", 9, 2}, "VERSION_CONFLICT", "the key has version 1"},
		{roomy, request{w, "", "a", 9, 0}, "VERSION_CONFLICT", "the key has version 1"},
		{roomy, request{w, "", "new", 9, 0}, "", ""},
		{roomy, request{w, "", "new", 9, 3}, "VERSION_CONFLICT", "does not exist"},
		{roomy, request{d, "", "a", 0, 1}, "", ""},
		{roomy, request{d, "", "a", 0, 2}, "VERSION_CONFLICT", "the key has version 1"},
		{roomy, request{d, "", "new", 0, -1}, "", ""},
		{roomy, request{d, "", "new", 0, 3}, "VERSION_CONFLICT", "does not exist"},
		{roomy, request{w, "p", "a", 9, 4}, "", ""},
		{roomy, request{w, "p", "a", 9, 5}, "VERSION_CONFLICT", "the key has version 4"},
		{roomy, request{w, "q", "a", 9, 4}, "VERSION_CONFLICT", "does not exist"},

		{keysFull, request{w, "", "a", 99, -1}, "", ""},
		{keysFull, request{w, "", "c", 1, -1}, "MEMORY_FULL", "the agent's memory has as many keys"},
		{keysFull, request{w, "", "c", 1, 7}, "VERSION_CONFLICT", "does not exist"},
		{keysFull, request{d, "", "a", 0, -1}, "", ""},
		{keysFull, request{w, "p", "a", 99, -1}, "", ""},
		{keysFull, request{w, "p", "b", 1, -1}, "MEMORY_FULL", "shared memory has as many keys"},

		{bytesFull, request{w, "", "a", 9, -1}, "", ""},
		{bytesFull, request{w, "", "a", 8, -1}, "", ""},
		{bytesFull, request{w, "", "a", 10, -1}, "MEMORY_FULL", "the agent's memory is as large"},
		{bytesFull, request{w, "", "c", 1, -1}, "MEMORY_FULL", "the agent's memory is as large"},
		{bytesFull, request{w, "p", "a", 8, -1}, "", ""},
		{bytesFull, request{w, "p", "a", 9, -1}, "MEMORY_FULL", "shared memory is as large"},
		{oneLeft, request{w, "", "a", 10, -1}, "", ""},
		{oneLeft, request{w, "", "a", 11, -1}, "MEMORY_FULL", "the agent's memory is as large"},
		{oneLeft, request{w, "p", "a", 9, -1}, "", ""},
		{oneLeft, request{w, "p", "a", 10, -1}, "MEMORY_FULL", "shared memory is as large"},
		{allFull, request{w, "", "a", 9, -1}, "", ""},
		{allFull, request{w, "", "a", 10, -1}, "MEMORY_FULL", "memories together"},
		{allFull, request{w, "p", "c", 99, -1}, "", ""},

		{over, request{w, "", "a", 9, -1}, "", ""},
		{over, request{w, "", "a", 1, -1}, "", ""},
		{over, request{w, "", "a", 10, -1}, "MEMORY_FULL", ""},
		{over, request{w, "p", "a", 8, -1}, "", ""},
		{over, request{d, "p", "a", 0, -1}, "", ""},
	} {
		tables, rows := memory.New(), make([]memory.Row, 3)
		for i, owner := range []uint32{1, 1, 2} {
			tables.ApplyAccess(&rows[owner], owner, 1, bus.At{Seq: uint64(i + 1)}, &memory.Access{
				Op: w, Scope: memory.ScopePersistent, Owner: owner, Key: string(rune('a' + i)), Value: make(value.Raw, 9), Run: 1,
			})
		}
		tables.ApplyAccess(nil, 2, 1, bus.At{Seq: 4}, &memory.Access{Op: w, Scope: memory.ScopeShared, Namespace: "p", Key: "a", Value: make(value.Raw, 8)})

		var expected *uint64
		if test.r.expected >= 0 {
			n := uint64(test.r.expected)
			expected = &n
		}
		row := &rows[1]
		if test.r.namespace != "" {
			row = nil
		}
		f := tables.CheckWrite(row, 1, test.r.access(), expected, &test.limits)
		if test.code == "" {
			assert.Nil(t, f, "%+v", test)
			continue
		}
		if assert.NotNil(t, f, "%+v", test) {
			assert.Equal(t, test.code, f.Code, "%+v", test)
			assert.Contains(t, f.Message, test.message, "%+v", test)
			assert.Equal(t, failure.Permanent, f.Class())
		}
	}
}

// What recovery would have to put back is bounded: a run may write MaxUndo keys,
// those again and again.
func TestUndoIsBounded(t *testing.T) {
	tables, row := memory.New(), memory.Row{}
	limits := memory.Limits{MaxKeys: 99, MaxBytes: 9_000, MaxPersistentBytes: 9_000}
	write := func(key string, run uint32) *failure.Failure {
		a := &memory.Access{Op: memory.OpWrite, Scope: memory.ScopePersistent, Owner: 1, Key: key, Value: value.Null, Run: run}
		if f := tables.CheckWrite(&row, 1, a, nil, &limits); f != nil {
			return f
		}
		tables.ApplyAccess(&row, 1, 1, bus.At{Seq: 1}, a)
		return nil
	}
	for i := range memory.MaxUndo {
		require.Nil(t, write(string(rune('a'+i)), 1))
	}
	require.Nil(t, write("a", 1))
	f := write("Z", 1)
	require.NotNil(t, f)
	require.Equal(t, failure.MemoryFull, f.Code)
	require.Len(t, row.PutBack(1, 1), memory.MaxUndo)
	require.Nil(t, write("Z", 2))
	require.Len(t, row.PutBack(1, 2), 1)
}
