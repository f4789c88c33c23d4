package segment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

var errDisk = errors.New("the disk says no")

// failingDisk lets a number of operations of one kind pass and fails the rest.
type failingDisk struct {
	handle
	kind string
	left *atomic.Int64
}

func (d *failingDisk) fails(kind string) bool { return d.kind == kind && d.left.Add(-1) < 0 }

func (d *failingDisk) WriteAt(b []byte, offset int64) (int, error) {
	if d.fails("write") {
		n, _ := d.handle.WriteAt(b[:len(b)/2], offset) // a short write
		return n, errDisk
	}
	return d.handle.WriteAt(b, offset)
}

func (d *failingDisk) Sync() error {
	if d.fails("fsync") {
		return errDisk
	}
	return d.handle.Sync()
}

func (d *failingDisk) Truncate(size int64) error {
	if d.fails("truncate") {
		return errDisk
	}
	return d.handle.Truncate(size)
}

func (d *failingDisk) ReadAt(b []byte, offset int64) (int, error) {
	if d.fails("read") {
		return 0, errDisk
	}
	return d.handle.ReadAt(b, offset)
}

// openFailing opens a store whose disk fails.
func openFailing(t *testing.T, dir, kind string, after int64) *Store {
	t.Helper()
	var left atomic.Int64
	left.Store(after)
	s, err := open(dir, testOptions(), func(path string) (handle, error) {
		if kind == "open" && left.Add(-1) < 0 {
			return nil, errDisk
		}
		file, err := openFile(path)
		if err != nil {
			return nil, err
		}
		return &failingDisk{handle: file, kind: kind, left: &left}, nil
	})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// The first failure to write is final: it is what Append, Sync, Err and Close
// answer, Failed is closed, and after a restart the log is whole again.
func TestFailureIsFinal(t *testing.T) {
	blocks := history(61, small, 60)
	want := filesIn(t, logOf(t, blocks), segmentSuffix)
	for _, kind := range []string{"write", "fsync", "open", "truncate"} {
		// Fewer than there are files: an empty last one is made after Sync.
		for after := int64(0); after < int64(len(want))-1; after++ {
			dir := scratch(t)
			s := openFailing(t, dir, kind, after)
			if err := s.Resume(logging.Genesis("default")); err != nil {
				require.ErrorIs(t, err, errDisk)
				require.NoError(t, s.Close())
				continue
			}
			for i := range blocks {
				if err := s.Append(blocks[i].raw, &blocks[i].after); err != nil {
					require.ErrorIs(t, err, errDisk)
					break
				}
			}
			s.Publish()
			err := s.Sync(context.Background(), s.Status().Position)
			require.ErrorIs(t, err, errDisk, "%s after %d", kind, after)
			<-s.Failed()
			require.Equal(t, err, s.Err())
			require.Equal(t, err, s.Append(blocks[0].raw, &blocks[0].after))
			require.Equal(t, err, s.Reset(logging.Genesis("default")))
			require.Equal(t, err, s.Close())

			again := openAt(t, dir, logging.Genesis("default"))
			appendAll(t, again, blocks)
			requireLog(t, again, 1, blocks)
			require.NoError(t, again.Close())
			requireSameFiles(t, want, filesIn(t, dir, segmentSuffix), kind)
		}
	}
}

// An Append that waits for room is told when the disk fails.
func TestFullBufferAndFailingDisk(t *testing.T) {
	s := openFailing(t, t.TempDir(), "write", 1) // the header passes
	s.options.BufferBytes = 2 * chunkBytes
	require.NoError(t, s.Resume(logging.Genesis("default")))
	source := newSource(62, 1<<30)
	var err error
	for err == nil {
		err = s.Append(source.step())
		require.Less(t, source.tables.Position, uint64(10*chunkBytes))
	}
	require.ErrorIs(t, err, errDisk)
}

// Failures while comparing and cutting are final too.
func TestFailureWhileComparing(t *testing.T) {
	blocks := history(63, small, 60)
	original := logOf(t, blocks)
	for _, kind := range []string{"read", "fsync", "truncate", "open"} {
		t.Run(kind, func(t *testing.T) {
			dir := copyDir(t, original)
			// The last file has a torn end, so that there is something to cut.
			file, offset := place(&blocks[59].after, blocks[59].before.Position)
			require.NoError(t, os.Truncate(filepath.Join(dir, file), offset+20))
			files := int64(len(filesIn(t, dir, segmentSuffix)))
			after := map[string]int64{"read": 1, "fsync": files, "truncate": 0, "open": files}[kind]
			s := openFailing(t, dir, kind, after)
			require.NoError(t, s.Resume(logging.Genesis("default")))
			var err error
			for i := 0; err == nil && i < len(blocks); i++ {
				err = s.Append(blocks[i].raw, &blocks[i].after)
			}
			require.ErrorIs(t, err, errDisk)
			<-s.Failed()
			assert.Equal(t, err, s.Err())
		})
	}
}

// A directory that takes no new file ends the store at the rollover: a real
// obstacle, no pretended one.
func TestNextSegmentCannotBeMade(t *testing.T) {
	blocks := history(64, small, 60)
	dir := t.TempDir()
	next := blocks[59].after.Sealed[0].End()
	s := openAt(t, dir, logging.Genesis("default"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, name(next, segmentSuffix)), 0o750))
	appendUntilError := func() error {
		for i := range blocks {
			if err := s.Append(blocks[i].raw, &blocks[i].after); err != nil {
				return err
			}
		}
		return s.Sync(context.Background(), blocks[59].after.Position)
	}
	err := appendUntilError()
	require.Error(t, err)
	assert.True(t, strings.HasPrefix(err.Error(), "create segment: "), "%v", err)
	assert.LessOrEqual(t, s.Status().Synced, next)
}
