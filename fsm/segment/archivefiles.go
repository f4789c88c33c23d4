package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// move a segment's file to another directory, on this file system or another,
// durably: after a crash it is in one of them, whole, or in both.
func (d directory) move(to directory, start uint64, suffix string) error {
	from, target := d.path(start, suffix), to.path(start, suffix)
	err := os.Rename(from, target)
	if errors.Is(err, syscall.EXDEV) {
		if err = to.copyIn(from, target); err == nil {
			err = os.Remove(from)
		}
	}
	if err == nil {
		err = to.sync()
	}
	if err == nil {
		err = d.sync()
	}
	if err != nil {
		return fmt.Errorf("move segment: %w", err)
	}
	return nil
}

// recall moves a segment's file back from the archive, where it is missing: the log
// goes on in it, after a restart from a Raft snapshot that is older than the one
// behind the archive.
func (s *Store) recall(start uint64) error {
	_, here := os.Lstat(s.dir.path(start, segmentSuffix))
	_, there := os.Lstat(s.archive.path(start, segmentSuffix))
	if !notExist(here) || there != nil {
		return nil
	}
	s.log.Info("segment comes back from the archive", "segment", start)
	return s.archive.move(s.dir, start, segmentSuffix)
}

// copyIn copies a file from another file system to a path here, durably.
func (d directory) copyIn(from, path string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(string(d), filepath.Base(path)+".*"+tempSuffix)
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // fails, as it should, once it was renamed
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := os.Rename(out.Name(), path); err != nil {
		return err
	}
	return d.sync()
}

// retain removes the oldest files of the archive until it is within its size. Files
// of segments that are not archived here, with their compacted file, are not touched.
func (s *Store) retain(job *archiving) error {
	if s.options.ArchiveBytes == 0 {
		return nil
	}
	starts, err := s.archive.starts(segmentSuffix)
	if notExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var total uint64
	sizes := make([]uint64, len(starts))
	for i, start := range starts {
		if info, err := os.Stat(s.archive.path(start, segmentSuffix)); err == nil {
			sizes[i] = uint64(info.Size())
			total += sizes[i]
		}
	}
	removed := false
	for i, start := range starts {
		if total <= s.options.ArchiveBytes {
			break
		}
		entry, ok := sealedAt(job.sealed, start)
		if !ok || entry.ArchivedAt == 0 || s.archivedAt(start) < entry.ArchivedAt {
			continue
		}
		kept, err := s.openCompacted(&entry)
		if err != nil || kept == nil {
			continue
		}
		kept.close()
		if err := s.archive.removeFile(start, segmentSuffix); err != nil {
			return err
		}
		s.log.Info("oldest archive file removed", "segment", start)
		total -= sizes[i]
		removed = true
	}
	if removed {
		return s.archive.sync()
	}
	return nil
}
