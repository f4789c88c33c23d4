package segment

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Sealing writes the sidecar in the background, the same bytes on every replica.
func TestSealingWritesSidecars(t *testing.T) {
	blocks := history(51, small, 60)
	sealed := blocks[59].after.Sealed
	var first map[string][]byte
	for range 2 {
		dir := t.TempDir()
		s := openAt(t, dir, logging.Genesis("default"))
		appendAll(t, s, blocks)
		eventually(t, "the sidecars", func() bool { return len(filesIn(t, dir, indexSuffix)) == len(sealed) })
		require.NoError(t, s.Close())
		files := filesIn(t, dir, indexSuffix)
		if first != nil {
			requireSameFiles(t, first, files, "another replica")
		}
		first = files
	}
	for i := range sealed {
		x, ok := parseIndex(first[name(sealed[i].Start, indexSuffix)])
		require.True(t, ok)
		require.True(t, x.belongs(&sealed[i], sealed[i].Start, 0))
		for agent := uint32(0); agent <= agents+1; agent++ {
			all, _ := touching(t, blocks, agent)
			var want []uint64
			for _, b := range all {
				if at := blocks[b].before.Position; at >= sealed[i].Start && at < sealed[i].End() {
					want = append(want, at)
				}
			}
			require.Equal(t, want, x.positions(agent), "segment %d, agent %d", i, agent)
		}
	}
}

// The sidecar of a kept segment is written as well after a restart.
func TestComparingWritesSidecars(t *testing.T) {
	blocks := history(52, small, 60)
	dir := logOf(t, blocks)
	for file := range filesIn(t, dir, indexSuffix) {
		require.NoError(t, os.Remove(filepath.Join(dir, file)))
	}
	s := openAt(t, dir, logging.Genesis("default"))
	appendAll(t, s, blocks)
	syncAll(t, s)
	s.kickFlusher()
	eventually(t, "the sidecars", func() bool {
		return len(filesIn(t, dir, indexSuffix)) == len(blocks[59].after.Sealed)
	})
}

// A sidecar that is missing, damaged anywhere, cut anywhere, of a newer format, of
// another segment or another cluster is built again, and answers are right meanwhile.
func TestSidecarRebuilt(t *testing.T) {
	blocks := history(53, small, 60)
	at := blocks[59].after
	entry := at.Sealed[1]
	original := logOf(t, blocks)
	s := openAt(t, original, at)
	requireAgents(t, s, blocks, 0) // builds what Close was too quick for
	require.NoError(t, s.Close())
	want := filesIn(t, original, indexSuffix)
	require.Len(t, want, len(at.Sealed))
	file := name(entry.Start, indexSuffix)

	check := func(t *testing.T, content []byte, there bool) {
		dir := copyDir(t, original)
		path := filepath.Join(dir, file)
		require.NoError(t, os.Remove(path))
		if there {
			require.NoError(t, os.WriteFile(path, content, 0o640))
		}
		s := openAt(t, dir, at)
		from := slices.IndexFunc(blocks, func(w written) bool { return w.before.NextSeq > entry.FirstSeq+3 })
		requireLog(t, s, blocks[from].before.NextSeq, blocks[from:])
		_, last := touching(t, blocks, 4)
		seen := 0
		require.NoError(t, s.AgentHistory(4, last, 1, func(uint64, *logging.Block) bool { seen++; return true }))
		all, _ := touching(t, blocks, 4)
		require.Equal(t, len(all), seen)
		require.NoError(t, s.Close())
		requireSameFiles(t, want, filesIn(t, dir, indexSuffix), "built again")
	}
	check(t, nil, false)
	for n := 0; n < len(want[file]); n += 11 {
		check(t, want[file][:n], true)
		damaged := slices.Clone(want[file])
		damaged[n] ^= 32
		check(t, damaged, true)
	}
	check(t, append(slices.Clone(want[file]), 0), true)
	check(t, want[name(at.Sealed[2].Start, indexSuffix)], true)
	for _, at := range []int{offsetVersion, 40} { // of a newer format, and of a segment with another chain: another cluster's
		other := slices.Clone(want[file])
		other[at] ^= 7
		check(t, sealHeader(other), true)
	}
}

// buildFrom builds the index of a full segment.
func buildFrom(t testing.TB, dir directory, entry *logging.Segment) ([]byte, error) {
	src, err := openForReading(dir.path(entry.Start, segmentSuffix), entry.Start)
	require.NoError(t, err)
	defer src.close()
	return buildIndex(src, entry, entry.Start)
}

// A sidecar belongs to one segment, one content of it, and one beginning.
func TestSidecarBelongs(t *testing.T) {
	blocks := history(56, small, 60)
	dir := directory(logOf(t, blocks))
	entry := blocks[59].after.Sealed[1]
	b, err := buildFrom(t, dir, &entry)
	require.NoError(t, err)
	x, ok := parseIndex(b)
	require.True(t, ok)
	assert.True(t, x.belongs(&entry, entry.Start, 0))
	assert.False(t, x.belongs(&entry, entry.Start+1, 0))
	assert.False(t, x.belongs(&entry, entry.Start, 5))
	for _, change := range []func(e *logging.Segment){
		func(e *logging.Segment) { e.Start++ },
		func(e *logging.Segment) { e.Bytes++ },
		func(e *logging.Segment) { e.ChainOut[31] ^= 1 },
	} {
		other := entry
		change(&other)
		assert.False(t, x.belongs(&other, entry.Start, 0))
	}
	// A sound segment that is not the one in the manifest has no index.
	entry.ChainOut[0] ^= 1
	_, err = buildFrom(t, dir, &entry)
	assert.Equal(t, &CorruptError{Position: entry.Start, Path: dir.path(entry.Start, segmentSuffix), Err: errOtherChain}, err)
}

// Marks are set at the first block and then every 64 KiB, and lead to a block at
// or before what is sought.
func TestMarks(t *testing.T) {
	l := newLive(logging.Head{FirstSeq: 10, Start: 1000})
	_, ok := l.seek(10)
	assert.False(t, ok)
	for i := range uint64(1000) {
		l.note(1000+i*1024, 10+i*2)
	}
	assert.Len(t, l.marks, 16)
	for i := range uint64(1000) {
		for seq := 10 + i*2; seq < 12+i*2; seq++ {
			position, ok := l.seek(seq)
			require.True(t, ok)
			require.LessOrEqual(t, position, 1000+i*1024)
			require.Less(t, 1000+i*1024-position, uint64(markEvery))
		}
	}
	_, ok = l.seek(9)
	assert.False(t, ok)
}

// A sidecar whose checksum is right and whose lists are nonsense never panics.
func FuzzParseIndex(f *testing.F) {
	blocks := history(54, small, 30)
	dir := f.TempDir()
	s, err := Open(dir, testOptions())
	require.NoError(f, err)
	require.NoError(f, s.Resume(logging.Genesis("default")))
	appendAll(f, s, blocks)
	require.NoError(f, s.Close())
	for i := range blocks[29].after.Sealed {
		entry := blocks[29].after.Sealed[i]
		b, err := buildFrom(f, directory(dir), &entry)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= indexFixedBytes {
			copy(b, indexMagic)
			b = sealHeader(b)
		}
		x, ok := parseIndex(b)
		if !ok {
			return
		}
		x.seek(0)
		x.seek(1 << 40)
		for agent := range uint32(12) {
			x.positions(agent)
		}
	})
}

// The cache is bounded, and keeps what was used last.
func TestIndexCacheIsBounded(t *testing.T) {
	blocks := history(55, 400, 100)
	at := blocks[99].after
	require.Greater(t, len(at.Sealed), 2*maxIndexes)
	s := openAt(t, logOf(t, blocks), at)
	for i := range at.Sealed {
		_, err := s.loadIndex(&at.Sealed[i], 0)
		require.NoError(t, err)
	}
	assert.Len(t, s.indexes.recent, maxIndexes)
	oldest := at.Sealed[len(at.Sealed)-maxIndexes]
	x, err := s.loadIndex(&oldest, 0)
	require.NoError(t, err)
	assert.Same(t, x, s.indexes.recent[0])
	starts := map[uint64]bool{}
	for _, x := range s.indexes.recent {
		starts[x.start] = true
	}
	assert.Len(t, starts, maxIndexes)
	assert.Contains(t, slices.Collect(maps.Keys(starts)), oldest.Start)
}
