package segment

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// requireBehind checks that history begins at the block from, for every way to
// read.
func requireBehind(t *testing.T, s *Store, blocks []written, from int) {
	t.Helper()
	floor := blocks[from].before
	want := &HistoryBehindError{FirstSeq: floor.NextSeq}
	visit := func(uint64, *logging.Block) bool { return true }
	_, err := s.ReadFrom(floor.NextSeq-1, visit)
	require.Equal(t, want, err)
	_, err = s.ReadFrom(1, visit)
	require.Equal(t, want, err)
	_, err = s.BlockAt(blocks[from-1].before.Position)
	require.Equal(t, want, err)
	require.Equal(t, want, s.AgentHistory(1, 0, floor.NextSeq-1, visit))
	require.Equal(t, floor.NextSeq, s.Status().FirstSeq)
	requireLog(t, s, floor.NextSeq, blocks[from:])
}

// middleOf gives a block in the middle of a segment, not of the first.
func middleOf(t *testing.T, blocks []written) int {
	t.Helper()
	i := slices.IndexFunc(blocks, func(w written) bool {
		return len(w.before.Sealed) >= 2 && w.before.Position > w.before.Tail.Start+500
	})
	require.Positive(t, i)
	return i
}

// LO-2: a node that got a snapshot from the leader goes on from there without the
// history before it, restarts so, and seals the segment it began in the middle.
func TestResetIntoTheMiddle(t *testing.T) {
	blocks := history(31, small, 60)
	at := middleOf(t, blocks)
	dir := t.TempDir()
	s := openAt(t, dir, logging.Genesis("default"))
	appendAll(t, s, blocks[:5]) // what a lagging follower has
	_, more := s.Grown()
	require.NoError(t, s.Reset(blocks[at].before))
	<-more
	appendAll(t, s, blocks[at:at+1])
	requireBehind(t, s, blocks[:at+1], at)
	syncAll(t, s)
	require.NoError(t, s.Close())

	// Restarted in the same segment, from the same snapshot.
	s = openAt(t, dir, blocks[at].before)
	assert.True(t, s.Status().Comparing)
	appendAll(t, s, blocks[at:])
	requireBehind(t, s, blocks, at)
	syncAll(t, s)
	require.NoError(t, s.Close())

	// Restarted with the partial segment sealed long ago.
	s = openAt(t, dir, blocks[59].after)
	requireBehind(t, s, blocks, at)
	requireAgents(t, s, blocks, at)

	// Everything but the missing bytes is as on other replicas.
	want := filesIn(t, logOf(t, blocks), segmentSuffix)
	start := blocks[at].before.Tail.Start
	partial := want[name(start, segmentSuffix)]
	clear(partial[headerBytes:offsetIn(start, blocks[at].before.Position)])
	got := filesIn(t, dir, segmentSuffix)
	for missing := range want {
		if missing < name(start, segmentSuffix) {
			delete(want, missing)
		}
	}
	for stale := range got {
		if stale < name(start, segmentSuffix) {
			delete(got, stale)
		}
	}
	requireSameFiles(t, want, got, "after reset")
}

// A snapshot that ends at a segment's boundary needs no marker.
func TestResetAtABoundary(t *testing.T) {
	blocks := history(32, small, 60)
	at := slices.IndexFunc(blocks, func(w written) bool {
		return len(w.before.Sealed) >= 2 && w.before.Position == w.before.Tail.Start
	})
	dir := t.TempDir()
	s := openAt(t, dir, logging.Genesis("default"))
	require.NoError(t, s.Reset(blocks[at].before))
	appendAll(t, s, blocks[at:])
	requireBehind(t, s, blocks, at)
	require.NoError(t, s.Close())
	assert.Empty(t, filesIn(t, dir, gapSuffix))
	s = openAt(t, dir, blocks[50].before)
	appendAll(t, s, blocks[50:])
	requireBehind(t, s, blocks, at)
}

// A node that already has the log up to the snapshot loses nothing by Reset, but
// for what lies beyond.
func TestResetOnACompleteLog(t *testing.T) {
	blocks := history(33, small, 60)
	original := logOf(t, blocks)
	at := middleOf(t, blocks)
	for what, reset := range map[string]func(t *testing.T, dir string) *Store{
		"at the start": func(t *testing.T, dir string) *Store {
			s, err := Open(dir, testOptions())
			require.NoError(t, err)
			t.Cleanup(func() { s.Close() })
			require.NoError(t, s.Reset(blocks[at].before))
			return s
		},
		"while running": func(t *testing.T, dir string) *Store {
			s := openAt(t, dir, blocks[59].after)
			require.NoError(t, s.Reset(blocks[at].before))
			return s
		},
		"while comparing": func(t *testing.T, dir string) *Store {
			s := openAt(t, dir, blocks[at-2].before)
			appendAll(t, s, blocks[at-2:at+3])
			require.True(t, s.Status().Comparing)
			require.NoError(t, s.Reset(blocks[at].before))
			return s
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := copyDir(t, original)
			s := reset(t, dir)
			require.False(t, s.Status().Comparing)
			requireLog(t, s, 1, blocks[:at])
			for _, b := range filesIn(t, dir, segmentSuffix) {
				require.LessOrEqual(t, len(b), int(blocks[59].after.Position))
			}
			file, offset := place(&blocks[at].before, blocks[at].before.Position)
			require.Len(t, filesIn(t, dir, segmentSuffix)[file], int(offset))
			require.NotContains(t, filesIn(t, dir, segmentSuffix), name(blocks[59].after.Tail.Start, segmentSuffix))
			// Another history may follow from here.
			other := variant(blocks[at].before, "body of a record")
			require.NoError(t, s.Append(other.raw, &other.after))
			s.Publish()
			requireLog(t, s, 1, append(blocks[:at:at], other))
			require.NoError(t, s.Close())
		})
	}
}

// Files that contradict the manifest go; files that match it stay, even when a
// gap keeps them from being read.
func TestResetKeepsWhatMatches(t *testing.T) {
	blocks := history(34, small, 60)
	at := blocks[59].after
	dir := logOf(t, blocks)
	path := func(i int) string { return filepath.Join(dir, name(at.Sealed[i].Start, segmentSuffix)) }
	require.NoError(t, os.Truncate(path(2), 700))                                     // too short
	changeByte(t, path(3), offsetChain, 1)                                            // not a header
	require.NoError(t, os.WriteFile(filepath.Join(dir, name(5, ".seg")), nil, 0o640)) // unknown
	s, err := Open(dir, testOptions())
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Reset(at))
	left := filesIn(t, dir, segmentSuffix)
	for i, entry := range at.Sealed {
		_, there := left[name(entry.Start, segmentSuffix)]
		assert.Equal(t, i != 2 && i != 3, there, "segment %d", i)
	}
	assert.NotContains(t, left, name(5, segmentSuffix))
	from := slices.IndexFunc(blocks, func(w written) bool { return w.before.Position == at.Sealed[4].Start })
	requireBehind(t, s, blocks, from)
}

// A crash anywhere inside Reset leaves something that Resume refuses or accepts
// rightly, and Reset repairs.
func TestCrashInsideReset(t *testing.T) {
	blocks := history(35, small, 60)
	at := middleOf(t, blocks)
	tables := blocks[at].before
	seg, marker := name(tables.Tail.Start, segmentSuffix), name(tables.Tail.Start, gapSuffix)
	lagging := logOf(t, blocks[:3])
	after := copyDir(t, lagging)
	s, err := Open(after, testOptions())
	require.NoError(t, err)
	require.NoError(t, s.Reset(tables))
	require.NoError(t, s.Close())
	files := filesIn(t, after, "")
	for what, build := range map[string]map[string][]byte{
		"before anything":   {},
		"marker only":       {marker: files[marker]},
		"empty file":        {marker: files[marker], seg: nil},
		"header only":       {marker: files[marker], seg: files[seg][:headerBytes]},
		"half extended":     {marker: files[marker], seg: files[seg][:headerBytes+100]},
		"all of it":         {marker: files[marker], seg: files[seg]},
		"marker damaged":    {marker: files[marker][:50], seg: files[seg]},
		"marker lost":       {seg: files[seg]},
		"file lost":         {marker: files[marker]},
		"torn marker alone": {marker: nil},
	} {
		t.Run(what, func(t *testing.T) {
			dir := copyDir(t, lagging)
			for file, content := range build {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), content, 0o640))
			}
			s, err := Open(dir, testOptions())
			require.NoError(t, err)
			defer s.Close()
			if err := s.Resume(tables); err != nil {
				require.True(t, aboutContent(err), "%v", err)
				require.NoError(t, s.Reset(tables))
			}
			appendAll(t, s, blocks[at:])
			requireBehind(t, s, blocks, at)
			require.NoError(t, s.Close())
			again := openAt(t, dir, blocks[59].after)
			requireBehind(t, again, blocks, at)
		})
	}
}

// Resume on a log that ends too early, or is not there at all, says where, and
// changes nothing.
func TestResumeGap(t *testing.T) {
	blocks := history(36, small, 60)
	at := middleOf(t, blocks)
	for what, test := range map[string]struct {
		dir  string
		have uint64
	}{
		"nothing":        {t.TempDir(), blocks[at].before.Tail.Start},
		"a lagging log":  {logOf(t, blocks[:3]), blocks[at].before.Tail.Start},
		"one block less": {logOf(t, blocks[:at-1]), blocks[at-1].before.Position},
	} {
		t.Run(what, func(t *testing.T) {
			before := filesIn(t, test.dir, "")
			s, err := Open(test.dir, testOptions())
			require.NoError(t, err)
			defer s.Close()
			require.Equal(t, &GapError{Have: test.have, Want: blocks[at].before.Position}, s.Resume(blocks[at].before))
			requireSameFiles(t, before, filesIn(t, test.dir, ""), "untouched")
		})
	}
}

// An older snapshot than the one a gap began at needs a gap of its own.
func TestResetBelowAnOlderGap(t *testing.T) {
	blocks := history(37, small, 60)
	at := middleOf(t, blocks)
	dir := t.TempDir()
	s, err := Open(dir, testOptions())
	require.NoError(t, err)
	require.NoError(t, s.Reset(blocks[at].before))
	appendAll(t, s, blocks[at:at+2])
	require.NoError(t, s.Close())

	boundary := slices.IndexFunc(blocks, func(w written) bool { return w.before.Tail.Start == blocks[at].before.Tail.Start })
	for _, older := range []int{at - 1, boundary} {
		mine := copyDir(t, dir)
		s, err := Open(mine, testOptions())
		require.NoError(t, err)
		var short *GapError
		require.ErrorAs(t, s.Resume(blocks[older].before), &short)
		require.NoError(t, s.Reset(blocks[older].before))
		appendAll(t, s, blocks[older:])
		requireBehind(t, s, blocks, older)
		require.NoError(t, s.Close())
		s = openAt(t, mine, blocks[59].after)
		requireBehind(t, s, blocks, older)
	}
}

// Readers lose sight of history before Reset touches a file, and what a reader
// then finds wrong in files that were exchanged is no corruption.
func TestResetWithdrawsHistoryFirst(t *testing.T) {
	blocks := history(38, small, 60)
	at := middleOf(t, blocks)
	var s *Store
	watching, looked := false, false
	s, err := open(t.TempDir(), testOptions(), func(path string) (handle, error) {
		if watching {
			looked = true
			_, err := s.BlockAt(0)
			assert.Equal(t, &HistoryBehindError{FirstSeq: blocks[at].before.NextSeq}, err)
		}
		return openFile(path)
	})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Resume(logging.Genesis("default")))
	appendAll(t, s, blocks[:3])
	syncAll(t, s)
	r := s.reader(aheadSingle)
	defer r.close()
	_, err = r.block(0)
	require.NoError(t, err)
	require.IsType(t, &CorruptError{}, r.stray(0, errNoBlock))
	watching = true
	require.NoError(t, s.Reset(blocks[at].before))
	require.True(t, looked)
	require.Equal(t, &HistoryBehindError{FirstSeq: blocks[at].before.NextSeq}, r.stray(0, errNoBlock))
}
