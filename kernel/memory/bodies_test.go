package memory_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// body lifts a decoder to what the tests need of it.
func body[T bus.Body](decode func([]byte) (T, bool)) func([]byte) (bus.Body, bool) {
	return func(raw []byte) (bus.Body, bool) {
		b, ok := decode(raw)
		return b, ok
	}
}

var decoders = []func([]byte) (bus.Body, bool){
	body(memory.DecodeAccess), body(memory.DecodeRestored), body(memory.DecodeReleased),
	body(memory.DecodeSnapshotted), body(memory.DecodeSnapshotDropped),
}

// bodies are one or more of each kind, with the number of its decoder.
func bodies() (list []bus.Body, decoder []int) {
	add := func(n int, b bus.Body) { list, decoder = append(list, b), append(decoder, n) }
	add(0, &memory.Access{Op: memory.OpWrite, Scope: memory.ScopePersistent, Owner: 7, Key: "a/b", Value: value.True, Call: 3, Run: 2})
	add(0, &memory.Access{Op: memory.OpRead, Scope: memory.ScopeShared, Namespace: "plan", Key: "k", Found: true, Version: 900, Call: 1, Run: 1})
	add(0, &memory.Access{Op: memory.OpDelete, Scope: memory.ScopeShared, Namespace: "plan", Key: "k", Found: true, Version: 1})
	add(0, &memory.Access{Op: memory.OpList, Scope: memory.ScopePersistent, Owner: 1})
	add(1, &memory.Restored{Entries: []memory.Before{
		{Key: "a"}, {Key: "b", Existed: true, Value: value.Null, Version: 5, Writer: 7, At: -9},
	}})
	add(1, &memory.Restored{Entries: []memory.Before{}})
	add(2, &memory.Released{Keys: 300, Bytes: 1 << 40})
	add(3, &memory.Snapshotted{Tick: 8, Checksum: [32]byte{1, 31: 2}})
	add(4, memory.SnapshotDropped{})
	return list, decoder
}

// Bodies come back from the log as they were, and not from anything shorter or
// longer.
func TestBodies(t *testing.T) {
	list, decoder := bodies()
	for i, b := range list {
		raw := b.AppendTo(nil)
		decoded, ok := decoders[decoder[i]](raw)
		require.True(t, ok, "%+v", b)
		require.Equal(t, b, decoded)
		for cut := range raw {
			_, ok := decoders[decoder[i]](raw[:cut])
			assert.False(t, ok, "%+v cut to %d", b, cut)
		}
		_, ok = decoders[decoder[i]](append(bytes.Clone(raw), 0))
		assert.False(t, ok, "%+v with a byte more", b)
	}
}

// What no flow can have made does not decode.
func TestImpossibleBodies(t *testing.T) {
	for name, a := range map[string]memory.Access{
		"no operation":         {Op: 0, Scope: memory.ScopeShared, Namespace: "n", Key: "k"},
		"an unknown operation": {Op: 5, Scope: memory.ScopeShared, Namespace: "n", Key: "k"},
		"nobody's memory":      {Op: memory.OpRead, Scope: memory.ScopePersistent, Key: "k"},
	} {
		_, ok := memory.DecodeAccess(a.AppendTo(nil))
		assert.False(t, ok, name)
	}
	for _, scope := range []byte{0, 3} {
		_, ok := memory.DecodeAccess([]byte{1, scope, 1, 1, 'k', 0, 0, 0, 0})
		assert.False(t, ok)
	}
	_, ok := memory.DecodeRestored((&memory.Restored{Entries: make([]memory.Before, memory.MaxUndo+1)}).AppendTo(nil))
	assert.False(t, ok)
}

// Bytes that decode are the bytes that the body gives: one body, one form.
func FuzzDecode(f *testing.F) {
	list, decoder := bodies()
	for i, b := range list {
		f.Add(byte(decoder[i]), b.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, which byte, raw []byte) {
		if b, ok := decoders[int(which)%len(decoders)](raw); ok {
			require.Equal(t, string(raw), string(b.AppendTo(nil)))
		}
	})
}

func TestNames(t *testing.T) {
	for op, name := range []string{"unknown", "read", "write", "delete", "list", "unknown"} {
		text, err := memory.Op(op).MarshalText()
		require.NoError(t, err)
		require.Equal(t, name, string(text))
	}
	for scope, name := range []string{"UNKNOWN", "PERSISTENT", "SHARED", "UNKNOWN"} {
		text, err := memory.Scope(scope).MarshalText()
		require.NoError(t, err)
		require.Equal(t, name, string(text))
	}
	for op, changes := range map[memory.Op]bool{memory.OpRead: false, memory.OpWrite: true, memory.OpDelete: true, memory.OpList: false} {
		require.Equal(t, changes, (&memory.Access{Op: op}).Changes())
	}
}
