package raftstore

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// disk is a real store's files with a fault that a test arms.
type disk struct {
	backend
	deletions [][2]uint64
	// before runs in front of every write and may fail it or hang.
	before func(operation string) error
}

func (d *disk) fault(operation string) error {
	if d.before == nil {
		return nil
	}
	return d.before(operation)
}

func (d *disk) StoreLogs(entries []*raft.Log) error {
	if err := d.fault("store"); err != nil {
		return err
	}
	return d.backend.StoreLogs(entries)
}

func (d *disk) DeleteRange(low, high uint64) error {
	if err := d.fault("delete"); err != nil {
		return err
	}
	d.deletions = append(d.deletions, [2]uint64{low, high})
	return d.backend.DeleteRange(low, high)
}

func (d *disk) Set(key, value []byte) error {
	if err := d.fault("set " + string(key)); err != nil {
		return err
	}
	return d.backend.Set(key, value)
}

// onDisk opens a store whose files the test can break. Fatal calls land in the
// channel.
func onDisk(t *testing.T, kind Kind, dir string) (*Store, *disk, chan error) {
	t.Helper()
	died := make(chan error, 10)
	o, err := Options{Kind: kind, Dir: dir, Stall: 10 * time.Second, Fatal: func(err error) { died <- err }}.withDefaults()
	require.NoError(t, err)
	files, err := openBackend(o)
	require.NoError(t, err)
	d := &disk{backend: files}
	store, err := newStore(d, nil, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store, d, died
}

func fill(t *testing.T, store *Store, low, high uint64) {
	t.Helper()
	var entries []*raft.Log
	for i := low; i <= high; i++ {
		entries = append(entries, &raft.Log{Index: i, Term: 1, Data: []byte{1}})
	}
	require.NoError(t, store.Logs().StoreLogs(entries))
}

func TestDeletionInSteps(t *testing.T) {
	store, d, _ := onDisk(t, Bolt, t.TempDir())
	fill(t, store, 1, 10_000)

	require.NoError(t, store.Logs().DeleteRange(1, 5000))
	require.Equal(t, [][2]uint64{{1, 2048}, {2049, 4096}, {4097, 5000}}, d.deletions)

	d.deletions = nil
	require.NoError(t, store.Logs().DeleteRange(5904, 1<<62))
	require.Equal(t, [][2]uint64{{7953, 10_000}, {5905, 7952}, {5904, 5904}}, d.deletions)
}

// A crash in the middle of a deletion must leave a log that the library can
// start from: no entry missing between the first and the last.
func TestDeletionLeavesNoHole(t *testing.T) {
	cases := map[string][2]uint64{"front": {1, 7000}, "end": {3000, 9000}, "all": {1, 9000}}
	for name, bounds := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store, d, died := onDisk(t, Bolt, dir)
			fill(t, store, 1, 9000)
			left := 2
			d.before = func(operation string) error {
				if operation == "delete" {
					if left == 0 {
						return errors.New("power cut")
					}
					left--
				}
				return nil
			}
			require.Error(t, store.Logs().DeleteRange(bounds[0], bounds[1]))
			require.ErrorContains(t, <-died, "power cut")
			require.NoError(t, store.Close())

			again, _, _ := onDisk(t, Bolt, dir)
			first, err := again.Logs().FirstIndex()
			require.NoError(t, err)
			last, err := again.Logs().LastIndex()
			require.NoError(t, err)
			require.Equal(t, uint64(9000-2*2048), last-first+1, "two steps are gone")
			for i := first; i <= last; i++ {
				var entry raft.Log
				require.NoError(t, again.Logs().GetLog(i, &entry), "entry %d of %d to %d", i, first, last)
			}
		})
	}
}

// Segments delete by metadata: steps would only make new segments.
func TestSegmentsDeleteAtOnce(t *testing.T) {
	store, d, _ := onDisk(t, WAL, t.TempDir())
	fill(t, store, 1, 6000)
	require.NoError(t, store.Logs().DeleteRange(1, 5000))
	require.Equal(t, [][2]uint64{{1, 5000}}, d.deletions)
}

func TestWatchdogEndsAStuckWrite(t *testing.T) {
	writes := map[string]func(*Store) error{
		"store": func(s *Store) error { return s.Logs().StoreLog(&raft.Log{Index: 1, Term: 1}) },
		"set CurrentTerm": func(s *Store) error {
			return s.Stable().SetUint64([]byte("CurrentTerm"), 3)
		},
		"set Vote": func(s *Store) error {
			return errors.Join(s.Stable().SetUint64([]byte("LastVoteTerm"), 3), s.Stable().Set([]byte("LastVoteCand"), []byte("a")))
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				store, d, died := onDisk(t, Bolt, dir)
				stuck := make(chan struct{})
				d.before = func(operation string) error {
					if operation == name {
						<-stuck
					}
					return nil
				}
				began := time.Now()
				done := make(chan error, 1)
				go func() { done <- write(store) }()
				require.ErrorIs(t, <-died, ErrStalled)
				require.Equal(t, 10*time.Second, time.Since(began))
				require.ErrorIs(t, store.Err(), ErrStalled)

				close(stuck)
				require.NoError(t, <-done, "it did become durable")
				require.ErrorIs(t, store.Stable().SetUint64([]byte("CurrentTerm"), 4), ErrFailed)
				require.NoError(t, store.Close())
			})
		})
	}
}

func TestWatchdogLetsSlowWritesPass(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store, d, died := onDisk(t, Bolt, dir)
		d.before = func(string) error { time.Sleep(9 * time.Second); return nil }
		for i := uint64(1); i <= 5; i++ {
			require.NoError(t, store.Logs().StoreLog(&raft.Log{Index: i, Term: 1}))
		}
		time.Sleep(time.Minute)
		require.Empty(t, died)
		require.NoError(t, store.Close())
	})
}

// After a failed fsync a later one may report success for lost pages: the
// first failure is the last word.
func TestFailedStaysFailed(t *testing.T) {
	store, d, died := onDisk(t, Bolt, t.TempDir())
	fill(t, store, 1, 3)
	d.before = func(string) error { return io.ErrShortWrite }
	require.ErrorContains(t, store.Logs().StoreLog(&raft.Log{Index: 4, Term: 1}), io.ErrShortWrite.Error())
	d.before = nil

	require.ErrorContains(t, store.Logs().StoreLog(&raft.Log{Index: 4, Term: 1}), ErrFailed.Error())
	require.ErrorIs(t, store.Stable().SetUint64([]byte("CurrentTerm"), 9), ErrFailed)
	require.ErrorIs(t, store.Logs().DeleteRange(1, 2), ErrFailed)
	require.ErrorIs(t, store.Err(), io.ErrShortWrite)
	require.ErrorIs(t, <-died, io.ErrShortWrite)
	require.Empty(t, died, "told once")

	var entry raft.Log
	require.NoError(t, store.Logs().GetLog(3, &entry), "what was acknowledged can be read")
}

func TestHalfAVoteIsRefused(t *testing.T) {
	store, _, died := onDisk(t, Bolt, t.TempDir())
	require.Error(t, store.Stable().Set([]byte("LastVoteCand"), []byte("b")))
	require.ErrorContains(t, <-died, "candidate without a term")
}

// The crash between the library's two calls on the bare files: the torn vote
// that the wrapper is for. A node that restarts with it grants term 8 to
// "first" without looking at its log.
func TestTornVoteWithoutTheWrapper(t *testing.T) {
	path := filepath.Join(t.TempDir(), boltFile)
	files, err := openBolt(path, time.Second)
	require.NoError(t, err)
	number := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	require.NoError(t, files.Set([]byte(keyVoteTerm), number(7)))
	require.NoError(t, files.Set([]byte(keyVoteCandidate), []byte("first")))
	require.NoError(t, files.Set([]byte(keyVoteTerm), number(8)))
	require.NoError(t, files.Close()) // and the process dies here

	files, err = openBolt(path, time.Second)
	require.NoError(t, err)
	term, err := files.Get([]byte(keyVoteTerm))
	require.NoError(t, err)
	candidate, err := files.Get([]byte(keyVoteCandidate))
	require.NoError(t, err)
	require.Equal(t, number(8), term)
	require.Equal(t, "first", string(candidate))
	require.NoError(t, files.Close())
}

func TestUnfinishedFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, boltFile+".new"), []byte("half a page"), 0o600))
	store, _, _ := onDisk(t, Bolt, dir)
	fill(t, store, 1, 2)
	require.NoFileExists(t, filepath.Join(dir, boltFile+".new"))
}

func TestOptionsAreChecked(t *testing.T) {
	fatal := func(error) {}
	for _, o := range []Options{
		{Fatal: fatal},
		{Dir: t.TempDir()},
		{Dir: t.TempDir(), Fatal: fatal, Kind: "paper"},
	} {
		_, err := Open(o)
		require.Error(t, err)
	}
}
