package raftstore

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// damagedStore is a database with entries, and its bytes.
func damagedStore(t *testing.T) (dir string, sound []byte) {
	t.Helper()
	dir = t.TempDir()
	store, _, _ := onDisk(t, Bolt, dir)
	for i := range uint64(40) {
		fill(t, store, 50*i+1, 50*i+50)
	}
	require.NoError(t, store.Logs().StoreLog(&raft.Log{Index: 2001, Term: 1, Data: make([]byte, 30_000)})) // overflows its page
	require.NoError(t, store.Stable().SetUint64([]byte("CurrentTerm"), 7))
	require.NoError(t, store.Close())
	sound, err := os.ReadFile(filepath.Join(dir, boltFile))
	require.NoError(t, err)
	return dir, sound
}

// tryOpen opens a store, and reads every entry when it is not refused.
func tryOpen(t *testing.T, dir string) error {
	t.Helper()
	store, err := Open(Options{Dir: dir, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		return err
	}
	defer store.Close()
	last, err := store.Logs().LastIndex()
	require.NoError(t, err)
	require.Equal(t, uint64(2001), last)
	for i := uint64(1); i <= last; i++ {
		var entry raft.Log
		require.NoError(t, store.Logs().GetLog(i, &entry), "entry %d", i)
	}
	return nil
}

// A file whose pages are damaged is refused by an error, which says where. The
// database itself would end the process.
func TestDamagedPagesAreRefused(t *testing.T) {
	dir, sound := damagedStore(t)
	path := filepath.Join(dir, boltFile)
	damage := func(change func(b []byte) []byte) error {
		require.NoError(t, os.WriteFile(path, change(append([]byte(nil), sound...)), 0o600))
		return tryOpen(t, dir)
	}
	page := int64(os.Getpagesize())
	for size := int64(0); size < int64(len(sound)); size += page/2 + 13 {
		if err := damage(func(b []byte) []byte { return b[:size] }); err != nil {
			require.ErrorContains(t, err, path)
		}
	}
	refused := 0
	for id := int64(0); id < int64(len(sound))/page; id++ {
		err := damage(func(b []byte) []byte { clear(b[id*page : (id+1)*page]); return b })
		if err != nil {
			refused++
			require.ErrorContains(t, err, path)
		}
	}
	require.Greater(t, refused, 10)
	require.ErrorIs(t, damage(func(b []byte) []byte { return b[:3*page] }), ErrCorrupt)
	require.ErrorIs(t, damage(func(b []byte) []byte { clear(b[:2*page]); return b }), ErrCorrupt)
	require.NoError(t, damage(func(b []byte) []byte { return b }))
}

// Whatever bytes of a page's head and elements are changed, the store is refused or
// sound.
func TestChangedPagesAreRefusedOrSound(t *testing.T) {
	dir, sound := damagedStore(t)
	path, page := filepath.Join(dir, boltFile), os.Getpagesize()
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 400 {
		b := append([]byte(nil), sound...)
		at := (2+random.IntN(len(b)/page-2))*page + random.IntN(64)
		switch random.IntN(3) {
		case 0:
			b[at] ^= 1 << random.IntN(8)
		case 1:
			b[at] = byte(random.Uint32())
		default:
			binary.LittleEndian.PutUint32(b[at:], random.Uint32())
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		if err := tryOpen(t, dir); err != nil {
			refused++
			require.ErrorContains(t, err, path)
		}
	}
	require.Greater(t, refused, 20)
}
