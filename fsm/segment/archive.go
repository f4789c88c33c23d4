package segment

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// archiving is what the archiver has been told.
type archiving struct {
	sealed []logging.Segment
	drop   Drop
	asked  uint64 // counts wake-ups
	done   uint64 // up to which of them
}

// Archive tells which sealed segments are archived (their ArchivedAt), and which of
// their blocks may be dropped, and returns at once: the work is done in the
// background. A Raft snapshot must stand behind the tables that the list is from, or
// a restart might have to derive what was moved. It may be called again and again.
//
// Of each such segment, what is kept is written to a compacted file, and the full
// file is moved to the archive. The compacted file is a function of the segment and
// of drop, so it is the same on every replica.
func (s *Store) Archive(sealed []logging.Segment, drop Drop) {
	s.mu.Lock()
	s.archiving.sealed, s.archiving.drop = sealed, drop
	s.mu.Unlock()
	s.kickArchiver()
}

// kickArchiver never blocks: one pending wake-up is enough.
func (s *Store) kickArchiver() {
	s.mu.Lock()
	s.archiving.asked++
	s.mu.Unlock()
	select {
	case s.archiveKick <- struct{}{}:
	default:
	}
}

// archiveLoop is the one goroutine that archives.
func (s *Store) archiveLoop() {
	defer close(s.archiverDone)
	for {
		select {
		case <-s.closing:
			return
		case <-s.archiveKick:
		}
		s.mu.Lock()
		job, able := s.archiving, s.phase == ready && s.err == nil
		s.mu.Unlock()
		if able {
			s.archiveAll(&job)
		}
		s.mu.Lock()
		s.archiving.done = job.asked
		s.mu.Unlock()
	}
}

// archiveAll does what is left to do. What fails is tried again at the next call.
func (s *Store) archiveAll(job *archiving) {
	for i := range job.sealed {
		entry := &job.sealed[i]
		if entry.ArchivedAt == 0 || s.archivedAt(entry.Start) >= entry.ArchivedAt {
			continue
		}
		if s.isClosing() {
			return
		}
		if err := s.archiveSegment(entry, job.drop); err != nil && !errors.Is(err, ErrClosed) {
			s.log.Warn("segment not archived", "segment", entry.Start, "error", err)
		}
	}
	if err := s.retain(job); err != nil {
		s.log.Warn("archive not cut to its size", "error", err)
	}
}

// archivedAt is the index as of which the archiver has seen to a segment.
func (s *Store) archivedAt(start uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.archived[start]
}

// archiveSegment compacts one segment and moves its full file. A crash between the
// two steps leaves both files, and the second step is done at the next start.
func (s *Store) archiveSegment(entry *logging.Segment, drop Drop) error {
	compacted, err := s.openCompacted(entry)
	if err != nil {
		return err
	}
	done := compacted != nil && compacted.head.archivedAt >= entry.ArchivedAt
	if compacted != nil {
		compacted.close()
	}
	if !done {
		if done, err = s.compactSegment(entry, drop); !done || err != nil {
			return err
		}
	}
	s.repair.Lock()
	defer s.repair.Unlock()
	if !s.settled(entry) {
		return nil
	}
	if err := s.moveToArchive(entry); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.archived[entry.Start] = entry.ArchivedAt
	return nil
}

// compactSegment writes a segment's compacted file; false when the segment is not
// here, or not sound.
func (s *Store) compactSegment(entry *logging.Segment, drop Drop) (done bool, err error) {
	if s.isBad(entry.Start) || !s.settled(entry) {
		return false, nil
	}
	s.mu.Lock()
	epoch := s.epoch
	s.mu.Unlock()
	src, err := s.openSource(entry)
	if err != nil || !src.whole {
		if err == nil {
			src.close()
		}
		return false, ignoreCorrupt(err) // Missing names it
	}
	defer src.close()
	from := itemsIn(src.file, src.size, src.begin(entry), src.compacted(), scanBuffer)
	temp, err := s.compact(from, entry, drop)
	if isCorrupt(err) {
		s.damaged(entry.Start, epoch)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", src.file.Name(), err)
	}
	s.repair.Lock()
	defer s.repair.Unlock()
	if !s.settled(entry) {
		return false, os.Remove(temp)
	}
	if err := s.dir.rename(temp, entry.Start, compactedSuffix); err != nil {
		return false, err
	}
	if src.compacted() { // readers may hold the one before
		if err := s.dir.removeFile(entry.Start, indexSuffix); err != nil {
			return false, err
		}
		s.exchanged(entry.Start)
	}
	return true, nil
}

func ignoreCorrupt(err error) error {
	if isCorrupt(err) {
		return nil
	}
	return err
}

// settled tells whether a segment of some tables is one of the log as it is, and
// its file complete.
func (s *Store) settled(entry *logging.Segment) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, ok := sealedAt(s.end.Sealed, entry.Start)
	return ok && s.phase == ready && s.err == nil && entry.Start < s.live[0].start &&
		now.ChainOut == entry.ChainOut && now.Bytes == entry.Bytes
}

// moveToArchive moves a segment's full file. One that is not whole is of no use
// beside the compacted file. Called with repair held.
func (s *Store) moveToArchive(entry *logging.Segment) error {
	full, err := s.openFull(s.dir, entry)
	if err != nil || full == nil {
		return err
	}
	full.close()
	if !full.whole {
		return s.dropRemains(entry.Start)
	}
	if err := os.MkdirAll(string(s.archive), 0o750); err != nil {
		return fmt.Errorf("make archive: %w", err)
	}
	if err := s.dir.move(s.archive, entry.Start, segmentSuffix); err != nil {
		return err
	}
	s.log.Info("segment archived", "segment", entry.Start, "as_of", entry.ArchivedAt)
	return nil
}

// Whole tells whether every block from busSeq seq on can be read here, as far as
// archiving goes: *CompactedError when the archive of one is not here. It looks at
// segments, so that it may refuse a place behind the last block that is missing.
func (s *Store) Whole(seq uint64) error {
	s.mu.Lock()
	sealed, err := s.end.Sealed, s.readable()
	s.mu.Unlock()
	for i := len(sealed) - 1; err == nil && i >= 0 && sealed[i].LastSeq >= seq; i-- {
		if sealed[i].ArchivedAt == 0 {
			continue
		}
		src, openErr := s.openSource(&sealed[i])
		if openErr != nil {
			continue // the read will tell
		}
		src.close()
		if src.head.dropped > 0 {
			return &CompactedError{FirstSeq: sealed[i].LastSeq + 1}
		}
	}
	return err
}

// compactedError is the answer for a block of which only the stub is here, in the
// segment that begins at start.
func (s *Store) compactedError(start uint64) error {
	s.mu.Lock()
	sealed := s.end.Sealed
	s.mu.Unlock()
	for i := len(sealed) - 1; i >= 0; i-- {
		entry := &sealed[i]
		if entry.Start == start {
			return &CompactedError{FirstSeq: entry.LastSeq + 1}
		}
		if entry.ArchivedAt == 0 {
			continue
		}
		src, err := s.openSource(entry)
		if err != nil {
			continue
		}
		src.close()
		if src.head.dropped > 0 {
			return &CompactedError{FirstSeq: entry.LastSeq + 1}
		}
	}
	return &CorruptError{Position: start, Err: errNoBlock}
}

func (s *Store) isBad(start uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.bad, start)
}
