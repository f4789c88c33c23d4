package segment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// File name endings; each file is named after its segment's start position in
// 20 digits, so that names sort as positions do.
const (
	segmentSuffix = ".seg"
	indexSuffix   = ".idx"
	gapSuffix     = ".gap"
	partSuffix    = ".part"
	badSuffix     = ".bad"

	compactedSuffix = ".cmp"
	tempSuffix      = ".tmp"
)

// directory is where the files lie.
type directory string

func (d directory) path(start uint64, suffix string) string {
	return filepath.Join(string(d), fmt.Sprintf("%020d%s", start, suffix))
}

// starts lists the start positions of the files with a suffix, ascending. Files
// with other names are none of ours and left alone.
func (d directory) starts(suffix string) ([]uint64, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, fmt.Errorf("list execution log: %w", err)
	}
	var starts []uint64
	for _, entry := range entries {
		digits, ok := strings.CutSuffix(entry.Name(), suffix)
		if !ok || len(digits) != 20 {
			continue
		}
		if start, err := strconv.ParseUint(digits, 10, 64); err == nil {
			starts = append(starts, start)
		}
	}
	slices.SortFunc(starts, cmp.Compare[uint64])
	return starts, nil
}

// remove deletes the files of the segments for which drop answers true, newest
// first, with the directory fsynced after it deleted any.
func (d directory) remove(drop func(start uint64) bool) (removed int, err error) {
	// The sidecars go first: a marker or index without its segment is harmless,
	// a segment without its gap marker would claim bytes it does not have. The
	// gap marker therefore goes after the segment.
	for _, suffix := range []string{indexSuffix, compactedSuffix, segmentSuffix, gapSuffix, badSuffix} {
		starts, err := d.starts(suffix)
		if err != nil {
			return removed, err
		}
		for _, start := range slices.Backward(starts) {
			if !drop(start) {
				continue
			}
			if err := os.Remove(d.path(start, suffix)); err != nil {
				return removed, fmt.Errorf("remove from execution log: %w", err)
			}
			removed++
		}
	}
	if removed > 0 {
		return removed, d.sync()
	}
	return 0, nil
}

// removeFile deletes a file that may not be there.
func (d directory) removeFile(start uint64, suffix string) error {
	if err := os.Remove(d.path(start, suffix)); err != nil && !notExist(err) {
		return fmt.Errorf("remove from execution log: %w", err)
	}
	return nil
}

// setAside makes a segment file that is not whole the beginning of its download,
// unless there is one. Its name is durable with the directory's next fsync; until
// then either name is as good.
func (d directory) setAside(start uint64) error {
	part := d.path(start, partSuffix)
	if _, err := os.Lstat(part); !notExist(err) {
		return err
	}
	if err := os.Rename(d.path(start, segmentSuffix), part); err != nil && !notExist(err) {
		return fmt.Errorf("set segment aside: %w", err)
	}
	return nil
}

// removeTemporary deletes what an interrupted replace left behind.
func (d directory) removeTemporary() error {
	names, err := filepath.Glob(filepath.Join(string(d), "*"+tempSuffix))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("remove partial file: %w", err)
		}
	}
	return nil
}

// replace writes a whole file durably: after a crash it is there as it was
// before, or as given.
func (d directory) replace(path string, content []byte) error {
	f, err := os.CreateTemp(string(d), filepath.Base(path)+".*"+tempSuffix)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	defer os.Remove(f.Name()) // fails, as it should, once it was renamed
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = d.sync()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// rename gives a finished temporary file its name, durably.
func (d directory) rename(temp string, start uint64, suffix string) error {
	if err := os.Rename(temp, d.path(start, suffix)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return d.sync()
}

// sync makes the directory's entries durable.
func (d directory) sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return fmt.Errorf("fsync directory: %w", err)
	}
	err = errors.Join(f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("fsync directory: %w", err)
	}
	return nil
}

// isEnd tells the end of a file from a failure to read it.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
