package segment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

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

// BenchmarkBackfill fetches a segment of 8 MiB of small blocks from another store
// on this disk: reading, verifying, writing, fsync and rename together.
func BenchmarkBackfill(b *testing.B) {
	source := newSource(92, 8<<20)
	peer := openAt(b, b.TempDir(), source.tables)
	for len(source.tables.Sealed) == 0 {
		require.NoError(b, peer.Append(source.step()))
	}
	peer.Publish()
	syncAll(b, peer)
	s, err := Open(b.TempDir(), testOptions())
	require.NoError(b, err)
	b.Cleanup(func() { s.Close() })
	b.SetBytes(int64(source.tables.Tail.Start))
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, s.dir.removeFile(0, segmentSuffix))
		require.NoError(b, s.Reset(source.tables))
		p, missing := s.Missing()
		require.True(b, missing)
		require.NoError(b, fetchOne(peer, s, p, 1<<20))
	}
}

// BenchmarkLastOfAgentCold reads an agent's last 100 records out of 10,000,000
// records of 10,000 agents, with nothing in the page cache and a store just opened:
// of the agent's blocks hardly two lie together.
func BenchmarkLastOfAgentCold(b *testing.B) {
	const records, wanted = 10_000_000, 100
	dir := b.TempDir()
	source := newSource(93, logging.DefaultSegmentBytes)
	source.agents = 10_000
	s := openAt(b, dir, source.tables)
	for source.tables.NextSeq <= records {
		require.NoError(b, s.Append(source.step()))
	}
	require.NoError(b, s.Close())
	for agent := uint32(1); b.Loop(); agent++ {
		b.StopTimer()
		s := openAt(b, dir, source.tables)
		evict(b, dir)
		b.StartTimer()
		found := 0
		require.NoError(b, s.AgentBlocks(agent, source.last[agent], func(_ uint64, block *logging.Block) bool {
			for records := block.Records(); records.Next(); {
				if records.Record.Agent == agent {
					found++
				}
			}
			return found < wanted
		}))
		b.StopTimer()
		require.GreaterOrEqual(b, found, wanted)
		require.NoError(b, s.Close())
		b.StartTimer()
	}
}

// evict drops a log's files from the page cache.
func evict(b *testing.B, dir string) {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(b, err)
	for _, name := range names {
		f, err := os.Open(name)
		require.NoError(b, err)
		require.NoError(b, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
		require.NoError(b, f.Close())
	}
}
