package raftstore

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What is written comes back, whatever follows it; and no part of it does.
func TestEntriesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := raft.Log{
			Term: rapid.Uint64().Draw(t, "term"), Type: raft.LogType(rapid.Byte().Draw(t, "kind")),
			Data: rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "data"), Extensions: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "extensions"),
		}
		switch rapid.IntRange(0, 3).Draw(t, "bare") {
		case 0:
			want.Data = nil
		case 1:
			want.Extensions = nil
		case 2:
			want.AppendedAt = time.Unix(0, rapid.Int64Min(1).Draw(t, "at"))
		}
		b := appendEntry(nil, &want)
		require.LessOrEqual(t, len(b), len(want.Data)+len(want.Extensions)+entryHead)
		after := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "after")
		r := entryReader{append(b[:len(b):len(b)], after...)}
		var got raft.Log
		require.NoError(t, r.next(&got))
		require.Equal(t, want, got)
		require.Equal(t, after, append([]byte{}, r.rest...))

		torn := entryReader{b[:rapid.IntRange(0, len(b)-1).Draw(t, "torn")]}
		have := len(torn.rest)
		require.ErrorIs(t, torn.next(&got), errTorn)
		require.Len(t, torn.rest, have)
	})
}

func FuzzEntry(f *testing.F) {
	f.Add(appendEntry(nil, &raft.Log{Term: 1, Data: []byte("data")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := entryReader{b}
		var entry raft.Log
		for len(r.rest) > 0 {
			before := len(r.rest)
			if r.next(&entry) != nil {
				return
			}
			require.Less(t, len(r.rest), before)
		}
	})
}
