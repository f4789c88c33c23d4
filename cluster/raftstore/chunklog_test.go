package raftstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

var errPower = errors.New("power cut")

// crashBeforeRemoval lets the next deletion part a chunk and go no further.
func crashBeforeRemoval(d *disk) {
	chunks := d.backend.(*chunkLog)
	chunks.backend = &disk{backend: chunks.backend, before: func(operation string) error {
		if operation == "delete" {
			return errPower
		}
		return nil
	}}
}

// Whatever is stored, cut at either end, stopped in the middle of that and
// opened again, the log is what a plain list would be.
func TestLogIsAList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		require.NoError(rt, err)
		defer func() { _ = os.RemoveAll(dir) }()
		store, d, _ := onDisk(t, Bolt, dir)
		defer func() { require.NoError(rt, store.Close()) }()
		var model []*raft.Log
		next := rapid.Uint64Range(1, 1<<40).Draw(rt, "first index")
		for range rapid.IntRange(1, 8).Draw(rt, "operations") {
			switch operation := rapid.SampledFrom([]string{"store", "store", "gap", "front", "end", "open", "crash"}).Draw(rt, "operation"); {
			case operation == "store" || operation == "gap":
				if operation == "gap" {
					model, next = nil, next+rapid.Uint64Range(1, 100).Draw(rt, "gap")
				}
				var batch []*raft.Log
				for range rapid.IntRange(1, 40).Draw(rt, "entries") {
					batch = append(batch, drawEntry(rt, next))
					next++
				}
				require.NoError(rt, store.Logs().StoreLogs(batch))
				model = append(model, batch...)
			case operation == "open":
				require.NoError(rt, store.Close())
				store, d, _ = onDisk(t, Bolt, dir)
			case len(model) > 0:
				n := rapid.IntRange(1, len(model)).Draw(rt, "gone")
				end := operation == "end" || operation == "crash" && rapid.Bool().Draw(rt, "at the end")
				gone := model[:n]
				if end {
					gone = model[len(model)-n:]
				}
				if operation == "crash" {
					crashBeforeRemoval(d)
				}
				err := store.Logs().DeleteRange(gone[0].Index, gone[n-1].Index)
				switch {
				case operation == "crash":
					require.ErrorIs(rt, err, errPower)
					require.NoError(rt, store.Close())
					store, d, _ = onDisk(t, Bolt, dir)
				case end:
					require.NoError(rt, err)
					model, next = model[:len(model)-n], next-uint64(n)
				default:
					require.NoError(rt, err)
					model = model[n:]
				}
			}
			requireModel(rt, store, model, next)
		}
	})
}

func requireModel(t require.TestingT, store *Store, model []*raft.Log, next uint64) {
	var bounds [2]uint64
	if len(model) > 0 {
		bounds = [2]uint64{model[0].Index, model[len(model)-1].Index}
	}
	first, err := store.backend.FirstIndex()
	require.NoError(t, err)
	last, err := store.backend.LastIndex()
	require.NoError(t, err)
	require.Equal(t, bounds, [2]uint64{first, last})
	for _, want := range model {
		var got raft.Log
		require.NoError(t, store.backend.GetLog(want.Index, &got))
		requireSame(t, want, &got)
	}
	for _, outside := range []uint64{first - 1, next, next + 100} {
		var got raft.Log
		require.ErrorIs(t, store.backend.GetLog(outside, &got), raft.ErrLogNotFound, "entry %d", outside)
	}
}

// damages are what may be wrong with the chunk from 2, one of three.
var damages = map[string]func(files backend, two *raft.Log) error{
	"a bit": func(files backend, two *raft.Log) error {
		two.Data[len(two.Data)-2] ^= 4
		return files.StoreLog(two)
	},
	"the count": func(files backend, two *raft.Log) error {
		two.Data[4]++
		return files.StoreLog(two)
	},
	"cut short": func(files backend, two *raft.Log) error {
		two.Data = two.Data[:5]
		return files.StoreLog(two)
	},
	"in another's place": func(files backend, two *raft.Log) error {
		var one raft.Log
		err := files.GetLog(1, &one)
		one.Index = 2
		return errors.Join(err, files.StoreLog(&one))
	},
	"missing": func(files backend, _ *raft.Log) error { return files.DeleteRange(2, 2) },
}

// Pages have no checksum in the database. A damaged chunk is not read: the node
// must not apply something else than the others.
func TestDamagedChunkEndsTheStore(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store, d, died := onDisk(t, Bolt, dir)
			for i := uint64(1); i <= 3; i++ {
				fill(t, store, i, i)
			}
			files := d.backend.(*chunkLog).backend
			var two, entry raft.Log
			require.NoError(t, files.GetLog(2, &two))
			require.NoError(t, damage(files, &two))
			require.ErrorIs(t, logs{store}.GetLog(2, &entry), ErrCorrupt)
			require.ErrorIs(t, <-died, ErrCorrupt)
			require.NoError(t, store.Close())

			_, err := openBolt(filepath.Join(dir, boltFile), time.Second)
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
}

// Two chunks with one entry in both are no log.
func TestOverlapIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), boltFile)
	files, err := openBolt(path, time.Second)
	require.NoError(t, err)
	require.NoError(t, files.StoreLogs([]*raft.Log{{Index: 4}, {Index: 5}}))
	b, _ := appendChunk(nil, []*raft.Log{{Index: 5}})
	require.NoError(t, files.(*chunkLog).backend.StoreLog(recordOf(5, b)))
	require.NoError(t, files.Close())
	_, err = openBolt(path, time.Second)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "the chunk from 4 reaches 5 and over the one from 5")
}

// An entry that is there must be deleted before another takes its place, and
// entries come without a gap.
func TestEntriesFollowTheLast(t *testing.T) {
	store, _, died := onDisk(t, Bolt, t.TempDir())
	fill(t, store, 1, 9)
	require.Error(t, store.Logs().StoreLog(&raft.Log{Index: 9, Term: 2}))
	require.ErrorContains(t, <-died, "the log reaches 9")

	store, _, died = onDisk(t, Bolt, t.TempDir())
	require.Error(t, store.Logs().StoreLogs([]*raft.Log{{Index: 1}, {Index: 3}}))
	require.ErrorContains(t, <-died, "entry 3 is to be stored, and the log reaches 1")
}

// A file of another version is left as it is.
func TestOtherLayoutIsRefused(t *testing.T) {
	others := map[string]func(t *testing.T, path string){
		"an entry by itself": func(t *testing.T, path string) {
			files, err := raftboltdb.NewBoltStore(path)
			require.NoError(t, err)
			require.NoError(t, files.StoreLog(&raft.Log{Index: 1, Data: []byte("command")}))
			require.NoError(t, files.Close())
		},
		"other buckets": func(t *testing.T, path string) {
			db, err := bbolt.Open(path, 0o600, nil)
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("entries"))
				return err
			}))
			require.NoError(t, db.Close())
		},
		"a later layout": func(t *testing.T, path string) {
			files, err := openBolt(path, time.Second)
			require.NoError(t, err)
			require.NoError(t, files.Set([]byte(keyLayout), []byte("chunks 2")))
			require.NoError(t, files.Close())
		},
	}
	for name, write := range others {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), boltFile)
			write(t, path)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = openBolt(path, time.Second)
			require.ErrorIs(t, err, ErrLayout)
			require.ErrorContains(t, err, path)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}

// Reads run beside deletions at both ends and beside what takes the place of
// deleted entries. They find an entry or that there is none, and never an older
// one than was stored before they began.
func TestReadsBesideDeletions(t *testing.T) {
	files, err := openBolt(filepath.Join(t.TempDir(), boltFile), time.Second)
	require.NoError(t, err)
	var terms [64]atomic.Uint64 // of the newest entry at an index, modulo
	var done atomic.Bool
	var readers sync.WaitGroup
	for start := range 3 {
		readers.Go(func() {
			for i := uint64(start); !done.Load(); i++ {
				first, _ := files.FirstIndex()
				last, _ := files.LastIndex()
				index := first + i%(last-first+1)
				if err := readBeside(files, index, &terms[index%64]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	next := uint64(1)
	for term := uint64(1); term <= 60; term++ {
		var batch []*raft.Log
		for range 20 {
			batch = append(batch, &raft.Log{Index: next, Term: term, Data: binary.AppendUvarint(nil, next)})
			next++
		}
		require.NoError(t, files.StoreLogs(batch))
		for _, entry := range batch {
			terms[entry.Index%64].Store(term)
		}
		first, err := files.FirstIndex()
		require.NoError(t, err)
		if next-first > 30 {
			require.NoError(t, files.DeleteRange(first, next-17))
		}
		require.NoError(t, files.DeleteRange(next-7, next-1))
		next -= 7
	}
	done.Store(true)
	readers.Wait()
	require.NoError(t, files.Close())
}

func readBeside(files backend, index uint64, newest *atomic.Uint64) error {
	atLeast := newest.Load()
	var entry raft.Log
	err := files.GetLog(index, &entry)
	if errors.Is(err, raft.ErrLogNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if stored, _ := binary.Uvarint(entry.Data); stored != index || entry.Term < atLeast {
		return fmt.Errorf("entry %d of term %d, asked for %d of term %d", stored, entry.Term, index, atLeast)
	}
	return nil
}
