package raftstore

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

func benchmarkLog(b *testing.B, n int) (backend, []*raft.Log) {
	b.Helper()
	files, err := openBolt(filepath.Join(b.TempDir(), boltFile), time.Second)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, files.Close()) })
	entries := make([]*raft.Log, n)
	for i := range entries {
		entries[i] = &raft.Log{Index: uint64(i + 1), Term: 3, Data: bytes.Repeat([]byte{byte(i)}, 400), AppendedAt: time.Now()}
	}
	return files, entries
}

// One call, durable: of a full batch, of a short one and of one entry.
func BenchmarkStoreLogs(b *testing.B) {
	for _, n := range []int{512, 64, 1} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			files, entries := benchmarkLog(b, n)
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, files.StoreLogs(entries))
				for _, entry := range entries {
					entry.Index += uint64(n)
				}
			}
		})
	}
}

// One entry after the other, as a node reads them at its start and for a node
// that is behind.
func BenchmarkGetLog(b *testing.B) {
	files, entries := benchmarkLog(b, 4096)
	require.NoError(b, files.StoreLogs(entries))
	b.ReportAllocs()
	var entry raft.Log
	for i := uint64(0); b.Loop(); i++ {
		require.NoError(b, files.GetLog(1+i%4096, &entry))
	}
}
