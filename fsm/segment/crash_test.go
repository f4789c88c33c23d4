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

// place gives the file and offset of a byte of the log.
func place(tables *logging.Tables, position uint64) (file string, offset int64) {
	start := tables.Tail.Start
	for _, entry := range tables.Sealed {
		if position >= entry.Start && position < entry.End() {
			start = entry.Start
		}
	}
	return name(start, segmentSuffix), offsetIn(start, position)
}

// cutLog cuts the log at a position, as a crash may: what follows is gone.
func cutLog(t *testing.T, dir string, tables *logging.Tables, position uint64) {
	t.Helper()
	file, offset := place(tables, position)
	require.NoError(t, os.Truncate(filepath.Join(dir, file), offset))
	for later := range filesIn(t, dir, segmentSuffix) {
		if later > file {
			require.NoError(t, os.Remove(filepath.Join(dir, later)))
		}
	}
}

func changeByte(t *testing.T, path string, offset int64, change byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], offset)
	require.NoError(t, err)
	b[0] ^= change
	_, err = f.WriteAt(b[:], offset)
	require.NoError(t, err)
}

// rederive resumes at the tables before block from, appends everything from
// there on again, and compares all files with those of a run without a crash.
func rederive(t *testing.T, dir string, blocks []written, from int, want map[string][]byte, what string) Status {
	t.Helper()
	s, err := Open(dir, testOptions())
	require.NoError(t, err, what)
	defer s.Close()
	require.NoError(t, s.Resume(blocks[from].before), what)
	require.Equal(t, blocks[from].before.NextSeq, s.Status().NextSeq, "%s: nothing is published before it was derived again", what)
	for i := range blocks[from:] {
		require.NoError(t, s.Append(blocks[from+i].raw, &blocks[from+i].after), what)
	}
	s.Publish()
	requireLog(t, s, 1, blocks)
	status := s.Status()
	require.NoError(t, s.Close(), what)
	requireSameFiles(t, want, filesIn(t, dir, segmentSuffix), what)
	return status
}

// LO-2: a log that lost its end at any byte after the snapshot is derived again
// to the same bytes, and what was whole is kept.
func TestCutAtEveryByte(t *testing.T) {
	blocks := history(11, small, 40)
	last := &blocks[len(blocks)-1].after
	original := logOf(t, blocks)
	want := filesIn(t, original, segmentSuffix)
	// From two blocks before the last rollover.
	snapshot := slices.IndexFunc(blocks, func(w written) bool { return w.after.Tail.Start == last.Tail.Start }) - 1
	require.Less(t, snapshot, len(blocks)-2)
	from := blocks[snapshot].before.Position
	for at := from; at <= last.Position; at++ {
		dir := copyDir(t, original)
		cutLog(t, dir, last, at)
		status := rederive(t, dir, blocks, snapshot, want, "cut")
		whole := from
		for _, b := range blocks[snapshot:] {
			if b.after.Position <= at {
				whole = b.after.Position
			}
		}
		require.Equal(t, whole-from, status.KeptBytes, "cut at %d", at)
		require.Equal(t, at-whole, status.CutBytes, "cut at %d", at)
		require.False(t, status.Comparing)
	}
}

// The same from the beginning of the log and from a segment's very beginning,
// where the tail file may be missing altogether.
func TestCutBeforeTheFirstBlock(t *testing.T) {
	blocks := history(12, small, 30)
	last := &blocks[29].after
	original := logOf(t, blocks)
	want := filesIn(t, original, segmentSuffix)
	boundary := slices.IndexFunc(blocks, func(w written) bool {
		return w.before.Position > 0 && w.before.Tail.Start == w.before.Position
	})
	require.Positive(t, boundary)
	for _, from := range []int{0, boundary} {
		position := blocks[from].before.Position
		for _, size := range []int64{-1, 0, 1, 11, headerBytes - 1, headerBytes, headerBytes + 1} {
			dir := copyDir(t, original)
			cutLog(t, dir, last, position)
			path := filepath.Join(dir, name(position, segmentSuffix))
			if size < 0 {
				require.NoError(t, os.Remove(path))
			} else {
				require.NoError(t, os.WriteFile(path, want[name(position, segmentSuffix)][:size], 0o640))
			}
			rederive(t, dir, blocks, from, want, "no first block")
		}
	}
}

// A file in the middle of the rest is missing, torn in its header, or of length
// zero: what follows is not reachable and is derived again.
func TestMiddleFileLost(t *testing.T) {
	blocks := history(13, small, 40)
	original := logOf(t, blocks)
	want := filesIn(t, original, segmentSuffix)
	names := slices.Sorted(maps.Keys(want))
	require.Greater(t, len(names), 4)
	for what, lose := range map[string]func(path string) error{
		"missing":     os.Remove,
		"empty":       func(path string) error { return os.Truncate(path, 0) },
		"torn header": func(path string) error { return os.Truncate(path, 50) },
		"only header": func(path string) error { return os.Truncate(path, headerBytes) },
		"zeroed":      func(path string) error { return os.WriteFile(path, make([]byte, 3000), 0o640) },
		"grown by one": func(path string) error {
			return os.WriteFile(path, append(want[names[2]][:len(want[names[2]]):len(want[names[2]])], 0), 0o640)
		},
	} {
		dir := copyDir(t, original)
		require.NoError(t, lose(filepath.Join(dir, names[2])))
		status := rederive(t, dir, blocks, 0, want, what)
		assert.Less(t, status.KeptBytes, blocks[39].after.Position+1, what)
		assert.Positive(t, status.KeptBytes, what)
	}
}

// A flipped bit after the snapshot's position is repaired, whether it hits a
// block, a header, the middle or the end.
func TestFlippedBytesAfterTheSnapshot(t *testing.T) {
	blocks := history(14, small, 30)
	last := &blocks[29].after
	original := logOf(t, blocks)
	want := filesIn(t, original, segmentSuffix)
	const snapshot = 18
	from := blocks[snapshot].before.Position
	require.NotEqual(t, blocks[snapshot].before.Tail.Start, last.Tail.Start, "a rollover lies in between")
	for position := from; position < last.Position; position += 3 {
		dir := copyDir(t, original)
		file, offset := place(last, position)
		changeByte(t, filepath.Join(dir, file), offset, 1<<(position%8))
		status := rederive(t, dir, blocks, snapshot, want, "flipped byte")
		require.Positive(t, status.CutBytes)
		require.Less(t, status.KeptBytes, last.Position-from)
	}
	// Later headers.
	for offset := int64(0); offset < headerBytes; offset += 5 {
		dir := copyDir(t, original)
		changeByte(t, filepath.Join(dir, name(last.Tail.Start, segmentSuffix)), offset, 4)
		rederive(t, dir, blocks, snapshot, want, "flipped header byte")
	}
}

// Damage below the snapshot cannot be derived again: in the tail segment Resume
// says so and changes nothing, and no read gives a wrong answer.
func TestFlippedBytesBelowTheSnapshot(t *testing.T) {
	blocks := history(15, small, 30)
	original := logOf(t, blocks)
	snapshot := 29
	at := blocks[snapshot].before
	require.Greater(t, at.Position-at.Tail.Start, uint64(500))
	for position := at.Tail.Start; position < at.Position; position += 3 {
		dir := copyDir(t, original)
		_, offset := place(&at, position)
		changeByte(t, filepath.Join(dir, name(at.Tail.Start, segmentSuffix)), offset, 1<<(position%8))
		before := filesIn(t, dir, "")
		s, err := Open(dir, testOptions())
		require.NoError(t, err)
		err = s.Resume(at)
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt, "byte %d", position)
		require.LessOrEqual(t, corrupt.Position, position)
		requireSameFiles(t, before, filesIn(t, dir, ""), "refused")
		// The way on: history begins here, and the rest works.
		require.NoError(t, s.Reset(at))
		appendAll(t, s, blocks[snapshot:])
		requireLog(t, s, at.NextSeq, blocks[snapshot:])
		_, err = s.ReadFrom(1, func(uint64, *logging.Block) bool { return true })
		require.Equal(t, &HistoryBehindError{FirstSeq: at.NextSeq}, err)
		require.NoError(t, s.Close())
	}
}

// Damage in a sealed segment: the blocks before it are read, it is named, and
// nothing wrong is ever given.
func TestFlippedBytesInSealedSegment(t *testing.T) {
	blocks := history(16, small, 40)
	last := blocks[39].after
	original := logOf(t, blocks)
	for position := uint64(0); position < last.Sealed[1].End(); position += 7 {
		dir := copyDir(t, original)
		file, offset := place(&last, position)
		changeByte(t, filepath.Join(dir, file), offset, 1<<(position%8))
		s, err := Open(dir, testOptions())
		require.NoError(t, err)
		require.NoError(t, s.Resume(last))
		victim := slices.IndexFunc(blocks, func(w written) bool { return w.after.Position > position })
		seen := 0
		_, err = s.ReadFrom(1, func(_ uint64, b *logging.Block) bool {
			require.Equal(t, blocks[seen].raw, b.Raw)
			seen++
			return true
		})
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, blocks[victim].before.Position, corrupt.Position)
		require.Equal(t, victim, seen)
		requireLog(t, s, last.Sealed[2].FirstSeq, blocks[slices.IndexFunc(blocks, func(w written) bool {
			return w.before.NextSeq == last.Sealed[2].FirstSeq
		}):])
		require.NoError(t, s.Close())
	}
}

// Zeros where the disk had not got to, with intact blocks after them, are told
// apart from a torn end only in the log; both are repaired.
func TestZeroedPages(t *testing.T) {
	blocks := history(17, 1<<20, 60)
	last := &blocks[59].after
	original := logOf(t, blocks)
	want := filesIn(t, original, segmentSuffix)
	path := name(0, segmentSuffix)
	for _, span := range [][2]int{{0, 300}, {500, 4096}, {int(last.Position) - 100, int(last.Position)}} {
		dir := copyDir(t, original)
		content := slices.Clone(want[path])
		clear(content[headerBytes+span[0] : headerBytes+span[1]])
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), content, 0o640))
		status := rederive(t, dir, blocks, 0, want, "zeros")
		require.Positive(t, status.CutBytes)
	}
}

// Comparing ends with the last stored block, also when that one ended a segment.
func TestComparingEnds(t *testing.T) {
	blocks := history(18, small, 60)
	boundary := slices.IndexFunc(blocks, func(w written) bool { return len(w.after.Sealed) == 3 })
	require.Equal(t, blocks[boundary].after.Position, blocks[boundary].after.Tail.Start)
	for _, last := range []int{boundary - 1, boundary, boundary + 1} {
		dir := logOf(t, blocks[:last+1])
		s := openAt(t, dir, logging.Genesis("default"))
		appendAll(t, s, blocks[:last])
		require.True(t, s.Status().Comparing)
		appendAll(t, s, blocks[last:last+1])
		assert.False(t, s.Status().Comparing)
		assert.Equal(t, blocks[last].after.Position, s.Status().KeptBytes)
		assert.Zero(t, s.Status().CutBytes)
		appendAll(t, s, blocks[last+1:])
		requireLog(t, s, 1, blocks)
	}
}
