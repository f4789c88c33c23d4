package segment

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// writerEnv names the directory in which a child process writes until it is
// killed.
const writerEnv = "SEGMENT_TEST_WRITER_DIR"

const (
	killSeed    = 77
	killSegment = 300_000
	killBlocks  = 12_000
)

// writeUntilKilled is the child: it derives and appends without end.
func writeUntilKilled(dir string) {
	s, err := Open(dir, Options{Owner: testOwner, FlushEvery: time.Millisecond})
	if err != nil {
		panic(err)
	}
	source := newSource(killSeed, killSegment)
	if err := s.Resume(source.tables); err != nil {
		panic(err)
	}
	for range killBlocks {
		if err := s.Append(source.step()); err != nil {
			panic(err)
		}
		s.Publish()
	}
	time.Sleep(deadline) // for the signal, with everything still open; not for ever
}

// A process that is killed with SIGKILL at any moment leaves a log that is gone
// on with, to the same bytes as without the kill (LO-2).
func TestKilledProcess(t *testing.T) {
	blocks := history(killSeed, killSegment, killBlocks)
	want := filesIn(t, logOf(t, blocks), segmentSuffix)
	dir := t.TempDir()
	kept := uint64(0)
	// Each round lets the child come a little further, over what the round
	// before left behind.
	for round := range 6 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), writerEnv+"="+dir)
		child.Stderr = os.Stderr
		require.NoError(t, child.Start())
		goal := int64(round) * 400_000
		eventually(t, "the child to write", func() bool { return sizeOf(t, dir, segmentSuffix) > goal })
		require.NoError(t, child.Process.Kill())
		_ = child.Wait() // it was killed: that is what this says

		mine := copyDir(t, dir)
		s := openAt(t, mine, logging.Genesis("default"))
		appendAll(t, s, blocks)
		kept = s.Status().KeptBytes
		require.NoError(t, s.Close())
		requireSameFiles(t, want, filesIn(t, mine, segmentSuffix), "after the kill")
	}
	require.Positive(t, kept)
}

func sizeOf(t *testing.T, dir, suffix string) (total int64) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	require.NoError(t, err)
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			total += info.Size()
		}
	}
	return total
}
