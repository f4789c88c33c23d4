package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Serve reads the log's bytes from a position on, for a peer that lacks them,
// and tells how many it gave: as many as fit into dst, lie in one segment, and are
// published. The position need not be the beginning of a block, and what is read
// is not verified here: who fetches it does that. Below the history that is here
// it answers *HistoryBehindError, in a segment known to be damaged *CorruptError,
// and at or beyond the end *AheadError.
func (s *Store) Serve(position uint64, dst []byte) (int, error) {
	where, err := s.locate(position)
	if err != nil {
		return 0, err
	}
	if where.chunk != nil {
		defer s.unpin(where.chunk)
		return copy(dst, where.data), nil
	}
	if s.isBad(where.start) {
		return 0, s.dir.corrupt(where.start, position, errMarked)
	}
	f, err := os.Open(s.dir.path(where.start, segmentSuffix))
	if notExist(err) {
		s.damaged(where.start, where.epoch)
		return 0, s.dir.corrupt(where.start, position, errNoFile)
	}
	if err != nil {
		return 0, fmt.Errorf("serve execution log: %w", err)
	}
	defer f.Close()
	dst = dst[:min(uint64(len(dst)), where.limit-position)]
	n, err := f.ReadAt(dst, offsetIn(where.start, position))
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("serve execution log: %w", err)
	}
	if n == 0 && len(dst) > 0 {
		s.damaged(where.start, where.epoch)
		return 0, s.dir.corrupt(where.start, position, io.ErrUnexpectedEOF)
	}
	return n, nil
}

// errMarked: the segment was found damaged before.
var errMarked = errors.New("the segment is known to be damaged")

func (s *Store) isBad(start uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.bad, start)
}
