package backup_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// A backup says what it was made of, whoever reads it and in whatever pieces, and
// gives all of it back: the state, and the log from its genesis.
func TestRoundTrip(t *testing.T) {
	file, sum, s := sample(t, 300)
	digest := kernel.Digest(s)
	require.Equal(t, backup.Header{
		ClusterID: s.Config.ClusterID, KernelID: "default", KernelVersion: 2, Index: s.Index, Term: s.Term, ClockMillis: s.Clock,
		BusSeq: s.Log.NextSeq - 1, LogBytes: s.Log.Position, Chain: hex.EncodeToString(s.Log.Chain[:]),
		MadeAt: time.Date(2025, 11, 21, 2, 4, 5, 0, time.UTC), Node: "n1", Binary: "v0",
	}, sum.Header)
	require.Equal(t, hex.EncodeToString(digest[:]), sum.StateDigest)
	require.EqualValues(t, s.Index, sum.Blocks)
	require.Greater(t, len(s.Log.Sealed), 3, "the log has several segments")

	var copied bytes.Buffer
	found, err := backup.Copy(t.Context(), &copied, iotest.OneByteReader(bytes.NewReader(file)), nil)
	require.NoError(t, err)
	require.Equal(t, sum, found)
	require.Equal(t, file, copied.Bytes())

	for deep, checked := range map[bool]backup.Checked{false: backup.CheckedAll, true: backup.CheckedDeep} {
		report, err := backup.Verify(t.Context(), bytes.NewReader(file), backup.Options{Deep: deep, Evaluators: kerneltest.Lookup})
		require.NoError(t, err)
		require.Equal(t, backup.Report{Summary: sum, Content: backup.ContentOf(s), Checked: checked}, report)
	}
	inspected, err := backup.Inspect(t.Context(), bytes.NewReader(file), int64(len(file)), kerneltest.Lookup)
	require.NoError(t, err)
	require.Equal(t, backup.Report{Summary: sum, Content: backup.ContentOf(s), Checked: backup.CheckedState}, inspected)
}

// The state that was published is what is backed up, though the log goes on
// meanwhile, and even if it went on before.
func TestTheLogMayGoOn(t *testing.T) {
	h, store := history(t, 40)
	s := h.State().Publish()
	want := kernel.Digest(s)
	tables := s.Log
	grow := func() {
		h.Run(3)
		keep(h, store, &tables)
	}
	grow()
	var file bytes.Buffer
	out := writerFunc(func(b []byte) (int, error) { grow(); return file.Write(b) })
	sum, err := backup.Write(t.Context(), out, source(s, store))
	require.NoError(t, err)
	require.Greater(t, h.State().Index, sum.Index+3)
	report, err := backup.Verify(t.Context(), &file, backup.Options{Deep: true, Evaluators: kerneltest.Lookup})
	require.NoError(t, err)
	require.Equal(t, sum, report.Summary)
	require.Equal(t, hex.EncodeToString(want[:]), report.StateDigest)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// logOf is a log that answers as it is told.
type logOf func(visit segment.Visit) (uint64, error)

func (l logOf) Whole(uint64) error { return nil }

func (l logOf) Walk(_ uint64, visit func(*segment.Item) bool) (uint64, error) {
	return l(func(position uint64, b *logging.Block) bool {
		return visit(&segment.Item{Position: position, FirstSeq: b.FirstSeq, Block: *b})
	})
}

// What cannot be backed up is told, and what was written by then is no backup.
func TestWhatCannotBeBackedUp(t *testing.T) {
	h, store := history(t, 20)
	var file bytes.Buffer
	_, err := backup.Write(t.Context(), &file, source(state.New("default"), store))
	require.ErrorIs(t, err, backup.ErrNotBooted)
	require.Zero(t, file.Len())

	failures := map[string]struct {
		log  logOf
		says string
	}{
		"a node without the beginning": {func(segment.Visit) (uint64, error) { return 1, &segment.HistoryBehindError{FirstSeq: 9} }, "busSeq 9"},
		"a log that ends too early":    {func(segment.Visit) (uint64, error) { return 1, nil }, "not where the state does"},
		"a damaged block": {func(visit segment.Visit) (uint64, error) {
			b, err := logging.Decode(h.Blocks[0])
			require.NoError(t, err)
			b.Raw = bytes.Clone(b.Raw)
			b.Raw[90] ^= 1
			visit(0, &b)
			return 1, nil
		}, "block"},
	}
	for name, c := range failures {
		file.Reset()
		_, err := backup.Write(t.Context(), &file, source(h.State(), c.log))
		require.ErrorContains(t, err, c.says, name)
		_, err = backup.Copy(t.Context(), io.Discard, &file, nil)
		var broken *backup.Broken
		require.ErrorAs(t, err, &broken, name)
	}

	disk := errors.New("disk full")
	for room := range 4 {
		written := 0
		_, err := backup.Write(t.Context(), writerFunc(func(b []byte) (int, error) {
			if written == room {
				return 0, disk
			}
			written++
			return len(b), nil
		}), source(h.State(), store))
		require.ErrorIs(t, err, disk, "after %d writes", room)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = backup.Write(ctx, io.Discard, source(h.State(), store))
	require.ErrorIs(t, err, context.Canceled)
	whole, _, _ := sample(t, 20)
	_, err = backup.Copy(ctx, io.Discard, bytes.NewReader(whole), nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = backup.Copy(t.Context(), writerFunc(func([]byte) (int, error) { return 0, disk }), bytes.NewReader(whole), nil)
	require.ErrorIs(t, err, disk)
	for _, at := range []int{0, 100, len(whole) - 1, len(whole)} {
		_, err = backup.Copy(t.Context(), io.Discard, io.MultiReader(bytes.NewReader(whole[:at]), iotest.ErrReader(disk)), nil)
		require.ErrorIs(t, err, disk, "after %d bytes", at)
	}
}

// Reading tells how far it has come: sections of the state, then bytes of the log.
func TestProgress(t *testing.T) {
	file, sum, _ := sample(t, 60)
	var sections, position uint64
	_, err := backup.Copy(t.Context(), io.Discard, bytes.NewReader(file), func(part backup.Part, done, total uint64) {
		if part == backup.PartState {
			require.Equal(t, sections+1, done)
			require.Zero(t, total)
			sections = done
			return
		}
		require.Equal(t, backup.PartLog, part)
		require.Greater(t, done, position)
		require.Equal(t, sum.LogBytes, total)
		position = done
	})
	require.NoError(t, err)
	require.Equal(t, sum.Sections, sections)
	require.Equal(t, sum.LogBytes, position)
}
