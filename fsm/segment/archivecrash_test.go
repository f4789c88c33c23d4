package segment

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// What a crash leaves at each step of archiving a segment is gone on with.
func TestCrashInsideArchiving(t *testing.T) {
	blocks := archivedHistory(321, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	entry := end.Sealed[2]
	full, done := fullLog(t, blocks), archivedLog(t, blocks)
	require.NoError(t, full.Close())
	require.NoError(t, done.Close())
	base := filesIn(t, string(full.dir), "*.*")
	seg, cmp := name(entry.Start, segmentSuffix), name(entry.Start, compactedSuffix)
	archived := filepath.Join("archive", seg)
	want := filesIn(t, string(done.dir), compactedSuffix)
	early := archivedHistory(321, small, 120, map[int]uint64{70: 350})
	other := archivedLog(t, early)
	for what, left := range map[string]map[string][]byte{
		"nothing yet":               {},
		"a torn temporary file":     {cmp + ".123.tmp": want[cmp][:100]},
		"compacted":                 {cmp: want[cmp]},
		"moved":                     {cmp: want[cmp], archived: base[seg], seg: nil},
		"copied, not removed":       {cmp: want[cmp], archived: base[seg]},
		"half copied elsewhere":     {cmp: want[cmp], archived + ".7.tmp": base[seg][:700]},
		"moved, name of old lost":   {archived: base[seg], seg: nil},
		"compacted once before":     {cmp: filesIn(t, string(other.dir), compactedSuffix)[cmp]},
		"… and moved":               {cmp: filesIn(t, string(other.dir), compactedSuffix)[cmp], archived: base[seg], seg: nil},
		"… and the archive is gone": {cmp: filesIn(t, string(other.dir), compactedSuffix)[cmp], seg: nil},
		"torn compacted":            {cmp: want[cmp][:len(want[cmp])-4]},
	} {
		t.Run(what, func(t *testing.T) {
			files := maps.Clone(base)
			maps.Copy(files, left)
			dir := scratch(t)
			require.NoError(t, os.Mkdir(filepath.Join(dir, "archive"), 0o750))
			for file, content := range files {
				if content != nil {
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), content, 0o640))
				}
			}
			s := openAt(t, dir, end)
			_, missing := s.Missing()
			require.False(t, missing)
			archiveAll(t, s, &end)
			if what != "… and the archive is gone" {
				requireLog(t, s, 1, blocks)
				require.Equal(t, base[seg], filesIn(t, string(s.archive), segmentSuffix)[seg])
			}
			requireSameFiles(t, want, filesIn(t, dir, compactedSuffix), what)
			require.NotContains(t, filesIn(t, dir, segmentSuffix), seg)
			require.Empty(t, filesIn(t, dir, tempSuffix))
			require.Empty(t, filesIn(t, string(s.archive), tempSuffix))
			takeAway(t, s)
			requireCompacted(t, s, blocks)
		})
	}
}

// A restart from a Raft snapshot that is older than the one behind the archive goes
// on in a segment that was archived meanwhile: it comes back.
func TestArchivedTailComesBack(t *testing.T) {
	blocks := archivedHistory(322, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	want := filesIn(t, fullLogDir(t, blocks), segmentSuffix)
	older := firstAt(blocks, end.Sealed[3].Start) + 2
	for what, from := range map[string]int{"in a segment": older, "at its beginning": older - 2, "in the first": 1} {
		t.Run(what, func(t *testing.T) {
			s := archivedLog(t, blocks)
			require.NoError(t, s.Close())
			s = openAt(t, string(s.dir), blocks[from].before)
			_, missing := s.Missing()
			require.False(t, missing)
			appendAll(t, s, blocks[from:])
			require.Equal(t, end.Position-blocks[from].before.Position, s.Status().KeptBytes, "all that was derived was compared")
			requireLog(t, s, 1, blocks)
			archiveAll(t, s, &end)
			files := filesIn(t, string(s.dir), segmentSuffix)
			maps.Copy(files, filesIn(t, string(s.archive), segmentSuffix))
			settle(t, s)
			requireSameFiles(t, want, files, "archived again")
		})
	}
}

func fullLogDir(t *testing.T, blocks []written) string { return string(fullLog(t, blocks).dir) }

// archiveEnv names the directory of a child process that archives until it is killed.
const archiveEnv = "SEGMENT_TEST_ARCHIVER_DIR"

// archivedKillHistory is what the child's log holds.
func archivedKillHistory() []written {
	return archivedHistory(killSeed, killSegment/4, killBlocks, map[int]uint64{killBlocks - 100: 650})
}

// archiveUntilKilled is the child.
func archiveUntilKilled(dir string) {
	end := archivedKillHistory()[killBlocks-1].after
	s, err := Open(dir, Options{Owner: testOwner})
	if err != nil {
		panic(err)
	}
	if err := s.Resume(end); err != nil {
		panic(err)
	}
	for {
		s.Archive(end.Sealed, func(position uint64, b *logging.Block, at uint64) bool { return dropOver(position, b, at) })
		if !s.Status().Archiving && s.Status().ToArchive == 0 {
			return
		}
	}
}

// A node that is killed with SIGKILL while it archives does the rest later.
func TestKilledArchiver(t *testing.T) {
	blocks := archivedKillHistory()
	end := blocks[killBlocks-1].after
	whole := openAt(t, scratch(t), blocks[0].before)
	appendAll(t, whole, blocks)
	require.NoError(t, whole.Close())
	dir := copyTree(t, string(whole.dir))
	between := 0
	for round := range 6 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), archiveEnv+"="+dir)
		child.Stderr = os.Stderr
		require.NoError(t, child.Start())
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		eventually(t, "the child to archive", func() bool {
			names, err := filepath.Glob(filepath.Join(dir, "archive", "*"+segmentSuffix))
			require.NoError(t, err)
			return len(ended) > 0 || len(names) > round*2
		})
		_ = child.Process.Kill() // it may have ended
		<-ended
		if n := len(filesIn(t, filepath.Join(dir, "archive"), segmentSuffix)); n > 0 && n < len(end.Sealed)-1 {
			between++
		}
	}
	require.Positive(t, between, "no kill hit the archiver")
	s := openAt(t, dir, end)
	requireLog(t, s, 1, blocks)
	archiveAll(t, s, &end)
	other := openAt(t, string(whole.dir), end)
	archiveAll(t, other, &end)
	requireSameFiles(t, filesIn(t, string(other.dir), compactedSuffix), filesIn(t, dir, compactedSuffix), "after the kills")
	requireSameFiles(t, filesIn(t, string(other.archive), segmentSuffix), filesIn(t, string(s.archive), segmentSuffix), "after the kills")
	requireLog(t, s, 1, blocks)
}
