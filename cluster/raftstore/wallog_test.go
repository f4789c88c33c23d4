package raftstore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/stretchr/testify/require"
)

// A flipped bit in a segment is found when the store is opened, or nothing is read
// that was not written: the library alone would hand it on.
func TestFlippedBitsInSegments(t *testing.T) {
	dir := t.TempDir()
	o := Options{Kind: WAL, Dir: dir, Fatal: func(err error) { t.Error(err) }}
	data := func(i uint64) []byte { return []byte(fmt.Sprintf("the data of entry %d", i)) }
	store, err := Open(o)
	require.NoError(t, err)
	const count = 40
	for i := uint64(1); i <= count; i++ {
		require.NoError(t, store.Logs().StoreLog(&raft.Log{Index: i, Term: 3, Data: data(i), Extensions: []byte("x")}))
	}
	require.NoError(t, store.Close())
	files, err := filepath.Glob(filepath.Join(dir, walDir, "*.wal"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	meta, err := os.ReadFile(filepath.Join(dir, walDir, walMeta))
	require.NoError(t, err)
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	segment := make([]byte, count*100) // what is used of it
	file, err := os.Open(files[0])
	require.NoError(t, err)
	defer file.Close()
	_, err = file.ReadAt(segment, 0)
	require.NoError(t, err)
	refused, short := 0, 0
	for at := 0; at < len(segment); at += 131 {
		// The library keeps the files locked that it could not open.
		o.Dir = t.TempDir()
		into := filepath.Join(o.Dir, walDir)
		require.NoError(t, os.Mkdir(into, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(into, walMeta), meta, 0o600))
		path := filepath.Join(into, filepath.Base(files[0]))
		segment[at] ^= 4
		require.NoError(t, os.WriteFile(path, segment, 0o600))
		require.NoError(t, os.Truncate(path, info.Size()))
		segment[at] ^= 4
		damaged, err := Open(o)
		if err != nil {
			refused++
			require.ErrorContains(t, err, into)
			continue
		}
		last, err := damaged.Logs().LastIndex()
		require.NoError(t, err)
		if last < count {
			short++ // taken for a torn write: the node finds that its log reaches further
		}
		for i := uint64(1); i <= last; i++ {
			var entry raft.Log
			require.NoError(t, damaged.backend.GetLog(i, &entry))
			require.Equal(t, string(data(i)), string(entry.Data), "a bit at %d", at)
			require.Equal(t, "x", string(entry.Extensions))
		}
		require.NoError(t, damaged.Close())
	}
	t.Logf("%d refused, %d short", refused, short)
	require.Greater(t, refused+short, 5)
}

// A log that has no checksums was written by another version.
func TestSegmentsWithoutChecksums(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, walDir), 0o700))
	files, err := wal.Open(filepath.Join(dir, walDir))
	require.NoError(t, err)
	require.NoError(t, files.StoreLog(&raft.Log{Index: 1, Term: 1}))
	require.NoError(t, files.Close())
	_, err = Open(Options{Kind: WAL, Dir: dir, Fatal: func(err error) { t.Error(err) }})
	require.ErrorIs(t, err, ErrLayout)
}
