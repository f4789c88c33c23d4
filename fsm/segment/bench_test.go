package segment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// kibibyte appends blocks of one KiB that differ only where they must: the
// tables are made by hand, so that nothing but the store is measured.
type kibibyte struct {
	store  *Store
	raw    []byte
	tables logging.Tables
}

func newKibibyte(t testing.TB) *kibibyte {
	t.Helper()
	options := Options{Owner: testOwner}
	s, err := Open(t.TempDir(), options)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	require.NoError(t, s.Resume(logging.Genesis("default")))
	var b logging.Builder
	tables := logging.Genesis("default")
	b.Begin(1, 1, 1, 0)
	b.Open(logging.Header{Kind: 1, Agent: 1})
	b.Buf = append(b.Buf, make([]byte, 1024-logging.MinBlockBytes-44-1)...)
	b.Close()
	b.Touch(1, 0, [32]byte{})
	raw, _ := b.Seal(tables.Chain)
	require.Len(t, raw, 1024)
	return &kibibyte{store: s, raw: raw, tables: tables}
}

func (k *kibibyte) append() error {
	k.tables.NextSeq++
	k.tables.Position += uint64(len(k.raw))
	return k.store.Append(k.raw, &k.tables)
}

// Appending and publishing allocate nothing on the applying goroutine.
func TestAppendAllocatesNothing(t *testing.T) {
	k := newKibibyte(t)
	for range 20_000 {
		require.NoError(t, k.append())
	}
	syncAll(t, k.store)
	assert.Zero(t, testing.AllocsPerRun(5000, func() {
		if err := k.append(); err != nil {
			panic(err)
		}
		k.store.Publish()
	}))
}

// BenchmarkAppend: the applying goroutine's and the flusher's time together,
// fsyncs and write-back included, when the disk is the limit.
func BenchmarkAppend(b *testing.B) {
	k := newKibibyte(b)
	b.ReportAllocs()
	b.SetBytes(1024)
	for b.Loop() {
		if err := k.append(); err != nil {
			b.Fatal(err)
		}
		k.store.Publish()
	}
}

// BenchmarkReadFrom reads one MiB of small blocks from files.
func BenchmarkReadFrom(b *testing.B) {
	s := openAt(b, b.TempDir(), logging.Genesis("default"))
	source := newSource(91, 1<<18)
	for source.tables.Position < 1<<20 {
		require.NoError(b, s.Append(source.step()))
	}
	s.Publish()
	syncAll(b, s)
	b.SetBytes(1 << 20)
	for b.Loop() {
		if _, err := s.ReadFrom(1, func(uint64, *logging.Block) bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
}
