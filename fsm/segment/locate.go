package segment

import (
	"sort"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// span is where a piece of the log can be read: in a pinned chunk, or in the
// file of the segment that begins at start, up to the position limit.
type span struct {
	chunk *chunk
	data  []byte // of the chunk, from the position asked for
	start uint64
	limit uint64
	epoch uint64
	entry *logging.Segment // nil while the segment is the tail, or on its way to disk
}

// locate finds where the block at position is. The caller unpins the chunk.
func (s *Store) locate(position uint64) (span, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readable(); err != nil {
		return span{}, err
	}
	switch {
	case position < s.floor.Position:
		return span{}, &HistoryBehindError{FirstSeq: s.floor.NextSeq}
	case position >= s.published.position:
		return span{}, &AheadError{NextSeq: s.published.seq}
	}
	if position >= s.written {
		c := s.memory.holding(position)
		if c == nil {
			return span{}, &CorruptError{Position: position, Err: errNoBlock}
		}
		c.pins++
		end := min(c.end(), s.published.position)
		return span{chunk: c, data: c.data[position-c.start : end-c.start], epoch: s.epoch}, nil
	}
	found := span{limit: min(s.written, s.published.position), epoch: s.epoch}
	for i, segment := range s.live {
		if segment.start > position {
			found.limit = min(found.limit, segment.start)
			break
		}
		found.start = s.live[i].start
	}
	if position < s.live[0].start {
		found.entry = sealedAround(s.end.Sealed, position)
		found.start, found.limit = found.entry.Start, min(found.limit, found.entry.End())
	}
	return found, nil
}

// readable tells whether the store can be read at all. Called with mu held.
func (s *Store) readable() error {
	switch s.phase {
	case opened:
		return ErrNotReady
	case closed:
		return ErrClosed
	}
	return nil
}

func (s *Store) unpin(c *chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.pins--
}

// sealedAround finds the manifest entry in which position lies, which exists.
func sealedAround(sealed []logging.Segment, position uint64) *logging.Segment {
	i := sort.Search(len(sealed), func(i int) bool { return sealed[i].End() > position })
	return &sealed[i]
}
