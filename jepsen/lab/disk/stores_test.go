//go:build root && linux

package disk_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// Stores keep what they acknowledged on a faulty disk whose power is cut, and see
// what they wrote: bbolt reads through a map of the file what it writes with
// write(2), raft-wal allocates its files ahead.
func TestStoresOnAFaultyDisk(t *testing.T) {
	const rounds = 4
	for _, kind := range []string{"bolt", "wal"} {
		t.Run(kind, func(t *testing.T) {
			d := newFaulty(t)
			for round := range rounds {
				output, err := child(t, kind, d.Dir(), round).CombinedOutput()
				require.NoError(t, err, "round %d: %s", round, output)
				_, err = d.LoseUnsynced(uint64(round))
				require.NoError(t, err)
			}
		})
	}
}

// useBolt adds entries and removes older ones, looking at each; it ends without
// closing.
func useBolt(dir string, round int) error {
	const count, kept = 100, 80
	db, err := bbolt.Open(filepath.Join(dir, "raft.db"), 0o600, &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	first := round * count
	if round > 0 {
		if err := lookBolt(db, first-kept, first); err != nil {
			return err
		}
	}
	for i := first; i < first+count; i++ {
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("logs"))
			if err != nil {
				return err
			}
			if i >= kept {
				if err := b.Delete(boltKey(i - kept)); err != nil { // its page is used again
					return err
				}
			}
			return b.Put(boltKey(i), boltValue(i))
		})
		if err != nil {
			return err
		}
		if err := lookBolt(db, max(0, i-kept+1), i+1); err != nil {
			return err
		}
	}
	return nil
}

func boltKey(i int) []byte   { return []byte{byte(i >> 8), byte(i)} }
func boltValue(i int) []byte { return bytes.Repeat(boltKey(i), 500) }

func lookBolt(db *bbolt.DB, first, end int) error {
	return db.View(func(tx *bbolt.Tx) error {
		for problem := range tx.Check() {
			return problem
		}
		for i := first; i < end; i++ {
			if found := tx.Bucket([]byte("logs")).Get(boltKey(i)); !bytes.Equal(found, boltValue(i)) {
				return fmt.Errorf("entry %d is %d bytes, not what was written", i, len(found))
			}
		}
		return nil
	})
}

// useWAL reads what there is and adds to it; it ends without closing.
func useWAL(dir string, round int) error {
	const count = 100
	dir = filepath.Join(dir, "wal")
	if round == 0 {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		parent, err := os.Open(filepath.Dir(dir))
		if err != nil {
			return err
		}
		if err := parent.Sync(); err != nil {
			return err
		}
	}
	log, err := wal.Open(dir, wal.WithSegmentSize(128<<10))
	if err != nil {
		return err
	}
	for i := 1; i <= round*count; i++ {
		var entry raft.Log
		if err := log.GetLog(uint64(i), &entry); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if len(entry.Data) != 1000+i {
			return fmt.Errorf("entry %d has %d bytes", i, len(entry.Data))
		}
	}
	for i := round*count + 1; i <= (round+1)*count; i++ {
		if err := log.StoreLog(&raft.Log{Index: uint64(i), Term: 1, Data: make([]byte, 1000+i)}); err != nil {
			return err
		}
	}
	return nil
}
