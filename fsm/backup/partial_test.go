package backup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// archivedHistory is a history in a log some segments of which are archived; every
// third block of those is dropped. The archive lies in the directory given.
func archivedHistory(t testing.TB, archive string) (*kerneltest.History, *segment.Store) {
	t.Helper()
	h := kerneltest.NewHistory(t, 1, 40, kerneltest.NewSeeded(7))
	store, err := segment.Open(t.TempDir(), segment.Options{Owner: segment.Owner("test", "default"), ArchiveDir: archive})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	tables := logging.Genesis("default")
	require.NoError(t, store.Resume(tables))
	for len(h.State().Log.Sealed) < 6 {
		h.Run(20)
	}
	require.Empty(t, h.Command(event.LogArchive, event.ArchiveLog{Before: h.State().Log.NextSeq}).Refusal)
	keep(h, store, &tables)
	for len(h.State().Log.Sealed) < 9 {
		h.Run(20)
	}
	h.Pulse()
	last := len(h.Blocks) - 1
	for _, raw := range h.Blocks[:last] {
		if b, _ := logging.Decode(raw); b.Index > tables.LastIndex {
			tables.Advance(raw, b.Digest(), h.State().Config.SegmentBytes)
			require.NoError(t, store.Append(raw, &tables))
		}
	}
	end := h.State().Log
	require.NoError(t, store.Append(h.Blocks[last], &end))
	store.Publish()
	require.NoError(t, store.Sync(t.Context(), end.Position))
	require.NotZero(t, end.Sealed[0].ArchivedAt)
	store.Archive(end.Sealed, func(position uint64, b *logging.Block, _ uint64) bool { return position > 0 && b.Index%3 == 0 })
	require.Eventually(t, func() bool { return !store.Status().Archiving }, 10*time.Second, time.Millisecond)
	require.Zero(t, store.Status().ToArchive)
	return h, store
}

// A node that has lost its archive, or some of it, makes a backup nevertheless: it
// holds stubs, says from where on it is whole, and its chain verifies; nobody takes it
// for a whole one (EV-17, LO-8).
func TestBackupWithoutTheArchive(t *testing.T) {
	archive := t.TempDir()
	h, store := archivedHistory(t, archive)
	s := h.State()
	var whole bytes.Buffer
	sum, err := backup.Write(t.Context(), &whole, source(s, store))
	require.NoError(t, err)
	require.Zero(t, sum.FullFrom)
	require.Zero(t, sum.Stubs)

	files, err := filepath.Glob(filepath.Join(archive, "*.seg"))
	require.NoError(t, err)
	require.Greater(t, len(files), 3)
	gone := slices.IndexFunc(s.Log.Sealed, func(m logging.Segment) bool { // that something was dropped from, and not the first
		return m.Start > 0 && m.LastIndex-m.FirstIndex >= 3
	})
	require.Positive(t, gone)
	require.Less(t, gone, len(files)-1)
	require.NoError(t, os.Remove(files[gone]))
	var file bytes.Buffer
	some, err := backup.Write(t.Context(), &file, source(s, store))
	require.NoError(t, err)
	require.Equal(t, s.Log.Sealed[gone].LastSeq+1, some.FullFrom)
	require.NoError(t, os.RemoveAll(archive))
	file.Reset()
	made, err := backup.Write(t.Context(), &file, source(s, store))
	require.NoError(t, err)
	require.Greater(t, made.FullFrom, some.FullFrom)
	require.Greater(t, made.Stubs, some.Stubs)
	require.Equal(t, sum.Chain, made.Chain)
	require.Equal(t, sum.Blocks, made.Blocks)
	require.Equal(t, sum.StateDigest, made.StateDigest)
	require.Less(t, made.Bytes, sum.Bytes)

	report, err := backup.Verify(t.Context(), bytes.NewReader(file.Bytes()), backup.Options{Evaluators: kerneltest.Lookup})
	require.NoError(t, err)
	require.Equal(t, made, report.Summary)
	inspected, err := backup.Inspect(t.Context(), bytes.NewReader(file.Bytes()), int64(file.Len()), kerneltest.Lookup)
	require.NoError(t, err)
	require.Equal(t, made, inspected.Summary)
	_, err = backup.Verify(t.Context(), bytes.NewReader(file.Bytes()), backup.Options{Deep: true, Evaluators: kerneltest.Lookup})
	require.Equal(t, &backup.PartialError{FullFrom: made.FullFrom}, err)

	for at := 0; at < file.Len(); at += 211 {
		damaged := bytes.Clone(file.Bytes())
		damaged[at] ^= 4
		_, err := backup.Copy(t.Context(), bytes.NewBuffer(nil), bytes.NewReader(damaged), nil)
		require.Error(t, err, "byte %d", at)
	}
	// Who says that it is whole has to have every block.
	frames := framesOf(t, file.Bytes())
	lying := rebuilt(file.Bytes(), frames, func(i int) []byte {
		body := file.Bytes()[frames[i].offset+headBytes : frames[i].end-sumBytes]
		if i == 0 {
			at := bytes.Index(body, []byte(`,"full_from":`))
			end := at + 1 + bytes.IndexByte(body[at+1:], ',')
			return append(bytes.Clone(body[:at]), body[end:]...)
		}
		return body
	})
	require.ErrorContains(t, verify(lying, false), "a stub stands where the header says that blocks do")
}
