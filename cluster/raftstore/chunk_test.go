package raftstore

import (
	"bytes"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawEntry(t *rapid.T, index uint64) *raft.Log {
	entry := &raft.Log{
		Index: index, Term: rapid.Uint64().Draw(t, "term"), Type: raft.LogType(rapid.Uint8Range(0, 5).Draw(t, "kind")),
		Data:       rapid.SliceOfN(rapid.Byte(), 0, 1<<rapid.IntRange(0, 13).Draw(t, "bits")).Draw(t, "data"),
		Extensions: rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "extensions"),
	}
	if rapid.Bool().Draw(t, "timed") {
		entry.AppendedAt = time.Unix(0, rapid.Int64Min(1).Draw(t, "at"))
	}
	return entry
}

// requireSame compares what a log store must keep. No bytes are no bytes,
// whether nil or empty.
func requireSame(t require.TestingT, want, got *raft.Log) {
	require.Equal(t, want.Index, got.Index)
	require.Equal(t, want.Term, got.Term)
	require.Equal(t, want.Type, got.Type)
	require.True(t, want.AppendedAt.Equal(got.AppendedAt))
	require.True(t, bytes.Equal(want.Data, got.Data))
	require.True(t, bytes.Equal(want.Extensions, got.Extensions))
}

// A chunk in two holds what it held in one.
func TestChunkIsParted(t *testing.T) {
	var entries []*raft.Log
	for i := uint64(10); i < 20; i++ {
		entries = append(entries, &raft.Log{Index: i, Term: 3, Data: []byte{byte(i)}})
	}
	b, n := appendChunk(nil, entries)
	require.Equal(t, 10, n)
	whole, err := openChunk(10, b)
	require.NoError(t, err)
	before, after, err := whole.part(13)
	require.NoError(t, err)
	require.Equal(t, [4]uint64{10, 12, 13, 19}, [4]uint64{before.first, before.last(), after.first, after.last()})
	for _, part := range []chunk{before, after} {
		c, err := openChunk(part.first, part.seal())
		require.NoError(t, err)
		for i := c.first; i <= c.last(); i++ {
			var got raft.Log
			require.NoError(t, c.read(i, &got))
			requireSame(t, entries[i-10], &got)
		}
		var got raft.Log
		require.ErrorIs(t, c.read(c.last()+1, &got), ErrCorrupt)
		require.ErrorIs(t, c.read(c.first-1, &got), ErrCorrupt)
	}
}

// A chunk goes on to its bound and not beyond, but for an entry that is larger.
func TestChunkBytes(t *testing.T) {
	entry := func(size int) *raft.Log { return &raft.Log{Data: make([]byte, size)} }
	b, n := appendChunk(nil, []*raft.Log{entry(5000), entry(2500), entry(1000)})
	require.Equal(t, 2, n)
	require.LessOrEqual(t, len(b), chunkBytes)
	b, n = appendChunk(nil, []*raft.Log{entry(3 * chunkBytes), entry(1)})
	require.Equal(t, 1, n)
	require.Greater(t, len(b), 3*chunkBytes)
}

// FuzzChunk: bytes that are no chunk are an error, never a panic or an
// allocation by what they claim.
func FuzzChunk(f *testing.F) {
	b, _ := appendChunk(nil, []*raft.Log{{Index: 7, Term: 1, Data: []byte("data")}, {Index: 8, Term: 2, Extensions: []byte("x")}})
	f.Add(b[chunkHead:], uint32(2))
	f.Add([]byte{}, uint32(1))
	f.Fuzz(func(t *testing.T, entries []byte, count uint32) {
		b := append(make([]byte, chunkHead), entries...)
		sealChunk(b, 7, uint64(count))
		c, err := openChunk(7, b)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		var entry raft.Log
		for i := c.first; i <= c.last() && err == nil; i++ {
			err = c.read(i, &entry)
		}
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
		}
	})
}
