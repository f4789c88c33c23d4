package segment

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// volatileDisk remembers what a power cut would leave of each file: what its
// last fsync covered.
type volatileDisk struct {
	mu      sync.Mutex
	durable map[string][]byte // by base name; guarded by mu
}

type volatileFile struct {
	handle
	disk *volatileDisk
	path string
}

func (d *volatileDisk) open(path string) (handle, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return &volatileFile{handle: file, disk: d, path: path}, nil
}

func (f *volatileFile) Sync() error {
	content, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.durable[filepath.Base(f.path)] = content
	return nil
}

// cut gives a directory as a power cut leaves it: of every file what was
// fsynced, and of what was written since, any pages, zeros or nothing.
func (d *volatileDisk) cut(t *rapid.T, dir, into string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	names, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	require.NoError(t, err)
	after := map[string][]byte{}
	for _, path := range names {
		file := filepath.Base(path)
		seen, err := os.ReadFile(path)
		require.NoError(t, err)
		left := slices.Clone(d.durable[file])
		if n := rapid.IntRange(0, max(len(seen)-len(left), 0)).Draw(t, "grown"); n > 0 {
			left = append(left, make([]byte, n)...)
		}
		const page = 512
		for at := 0; at < len(left); at += page {
			end := min(at+page, len(left))
			if end <= len(seen) && rapid.Bool().Draw(t, "page written") {
				copy(left[at:end], seen[at:end])
			}
		}
		after[file] = left
	}
	d.durable = maps.Clone(after) // what is there after the cut stays
	for file, content := range after {
		require.NoError(t, os.WriteFile(filepath.Join(into, file), content, 0o640))
	}
}

// LO-2: what Sync has answered for survives any power cut, also when it was only
// found again and kept after a killed process; all else is derived again to the
// same bytes.
func TestPowerCuts(t *testing.T) {
	blocks := history(101, small, 60)
	want := filesIn(t, logOf(t, blocks), segmentSuffix)
	rapid.Check(t, func(rt *rapid.T) {
		disk := &volatileDisk{durable: map[string][]byte{}}
		dir := scratch(t)
		snapshot := 0
		for at := 0; at < len(blocks); {
			s, err := open(dir, testOptions(), disk.open)
			require.NoError(rt, err)
			require.NoError(rt, s.Resume(blocks[snapshot].before), "the snapshot at block %d stands on this log", snapshot)
			at = snapshot
			for n := rapid.IntRange(1, 40).Draw(rt, "blocks"); n > 0 && at < len(blocks); n-- {
				require.NoError(rt, s.Append(blocks[at].raw, &blocks[at].after))
				at++
				if rapid.IntRange(0, 9).Draw(rt, "snapshot") == 0 {
					require.NoError(rt, s.Sync(context.Background(), blocks[at-1].after.Position))
					snapshot = min(at, len(blocks)-1)
				}
			}
			next := scratch(t)
			if rapid.Bool().Draw(rt, "power cut") {
				disk.cut(rt, dir, next)
			} else { // only the process ends: the page cache stays
				require.NoError(rt, s.flush(false))
				for file, content := range filesIn(t, dir, segmentSuffix) {
					require.NoError(rt, os.WriteFile(filepath.Join(next, file), content, 0o640))
				}
			}
			s.fail(errDisk) // the old process writes no more
			s.Close()
			dir = next
		}
		s, err := open(dir, testOptions(), disk.open)
		require.NoError(rt, err)
		require.NoError(rt, s.Resume(blocks[snapshot].before))
		for i := snapshot; i < len(blocks); i++ {
			require.NoError(rt, s.Append(blocks[i].raw, &blocks[i].after))
		}
		require.NoError(rt, s.Close())
		requireSameFiles(t, want, filesIn(t, dir, segmentSuffix), "after all cuts")
	})
}
