package segment

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"syscall"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// damaged is told that a sealed segment held something wrong when it was read in
// an epoch. If that is so, the segment is marked, for Missing to name it; what can
// still be read of it stays readable. A file of the archive is put aside: what was
// archived is not fetched, but the compacted segment is there.
func (s *Store) damaged(start, epoch uint64) {
	s.repair.Lock()
	defer s.repair.Unlock()
	entry, suspect := s.suspect(start, epoch)
	if !suspect {
		return
	}
	// The file judges, not whoever asked: a position may have been wrong.
	src, err := s.openSource(&entry)
	if err == nil {
		defer src.close()
		err = s.verifySource(src, &entry)
	}
	if !isCorrupt(err) && !errors.Is(err, syscall.EIO) {
		return
	}
	if src != nil && src.where == inArchive {
		s.putAside(start, err)
		return
	}
	s.log.Error("a sealed segment is damaged and has to be fetched again", "segment", start, "error", err)
	reason := fmt.Sprintf("%v\n", err)
	if err := s.dir.replace(s.dir.path(start, badSuffix), []byte(reason)); err != nil {
		s.log.Warn("damaged segment not marked on disk", "segment", start, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearch(s.bad, start)
	s.bad = slices.Insert(s.bad, at, start)
}

// putAside a damaged file of the archive. One of each segment is kept.
func (s *Store) putAside(start uint64, reason error) {
	s.log.Error("a file of the archive is damaged and is read no more", "segment", start, "error", reason)
	if err := os.Rename(s.archive.path(start, segmentSuffix), s.archive.path(start, badSuffix)); err != nil {
		s.log.Warn("damaged file of the archive not put aside", "segment", start, "error", err)
	}
	s.exchanged(start)
}

// exchanged tells readers that they may hold the wrong file of a segment.
func (s *Store) exchanged(start uint64) {
	s.indexes.forget(start)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	delete(s.archived, start)
}

// suspect gives the manifest entry of a segment that may have to be marked.
func (s *Store) suspect(start, epoch uint64) (logging.Segment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != ready || s.err != nil || s.epoch != epoch || start >= s.live[0].start {
		return logging.Segment{}, false
	}
	entry, ok := sealedAt(s.end.Sealed, start)
	return entry, ok && !slices.Contains(s.bad, start)
}

// SeqAfter is the busSeq that follows the sealed segment in which a position lies; 0
// when it lies in none.
func (s *Store) SeqAfter(position uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	sealed := s.end.Sealed
	i := sort.Search(len(sealed), func(i int) bool { return sealed[i].End() > position })
	if i == len(sealed) {
		return 0
	}
	return sealed[i].LastSeq + 1
}

// indexOf gives the sidecar index of a sealed segment; a *CorruptError, and the
// segment is marked, when it cannot have one.
func (s *Store) indexOf(entry *logging.Segment, floor uint64) (*index, error) {
	s.mu.Lock()
	epoch := s.epoch
	s.mu.Unlock()
	x, err := s.loadIndex(entry, floor)
	if isCorrupt(err) {
		s.damaged(entry.Start, epoch)
	}
	return x, err
}

// loadIndex is indexOf without consequences.
func (s *Store) loadIndex(entry *logging.Segment, floor uint64) (*index, error) {
	src, err := s.openSource(entry)
	if err != nil {
		return nil, err
	}
	defer src.close()
	return s.indexes.get(s.dir, src, entry, floor)
}
