package segment

import (
	"bytes"
	"errors"
	"sort"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// errMissing: the log does not hold the record that comes next.
var errMissing = errors.New("records are missing before this block")

// Visit is handed a block and its position, and tells whether to go on. The
// block is valid only during the call.
type Visit func(position uint64, block *logging.Block) (more bool)

// ReadFrom visits the blocks that hold the records from busSeq seq on, in order
// and without gaps, up to what was published when it was called (CL-5). The first
// block may begin before seq. It returns the busSeq to go on from. Below the
// history that is here it answers *HistoryBehindError; beyond the next record,
// *AheadError; at a block that was archived, and whose archive is not here,
// *CompactedError.
func (s *Store) ReadFrom(seq uint64, visit Visit) (next uint64, err error) {
	return s.walk(seq, false, func(i *Item) bool { return visit(i.Position, &i.Block) })
}

// Walk is ReadFrom over all that is here: where a block was archived, and its archive
// is not here, it visits the stub. So the chain and the tree can be verified anywhere.
// The item is valid only during the call.
func (s *Store) Walk(seq uint64, visit func(*Item) (more bool)) (next uint64, err error) {
	return s.walk(seq, true, visit)
}

func (s *Store) walk(seq uint64, stubs bool, visit func(*Item) bool) (next uint64, err error) {
	end, floor, err := s.bounds()
	switch {
	case err != nil:
		return seq, err
	case seq < floor.NextSeq:
		return seq, &HistoryBehindError{FirstSeq: floor.NextSeq}
	case seq > end.seq:
		return seq, &AheadError{NextSeq: end.seq}
	case seq == end.seq:
		return seq, nil
	}
	position, err := s.seek(seq)
	if err != nil {
		return seq, err
	}
	r := s.reader(aheadForward)
	defer r.close()
	next = seq
	for position < end.position {
		i, err := r.item(position)
		if err != nil {
			return next, err
		}
		position += i.Bytes()
		if i.LastSeq() < seq {
			continue
		}
		if i.FirstSeq > next {
			return next, r.stray(i.Position, errMissing)
		}
		if i.Archived() && !stubs {
			return next, s.compactedError(r.start)
		}
		next = i.LastSeq() + 1
		if !visit(&i) {
			break
		}
	}
	return next, nil
}

// BlockAt gives a copy of the block at a position, which must be one where a
// block begins: the tables and the pointers in blocks give such positions.
func (s *Store) BlockAt(position uint64) (logging.Block, error) {
	r := s.reader(aheadSingle)
	defer r.close()
	b, err := r.block(position)
	if err != nil {
		return logging.Block{}, err
	}
	return logging.Decode(bytes.Clone(b.Raw))
}

// bounds are what can be read now.
func (s *Store) bounds() (end bound, floor logging.Point, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.published, s.floor, s.readable()
}

// seek gives the position of a block at or before the one that holds seq, which
// lies within the bounds.
func (s *Store) seek(seq uint64) (uint64, error) {
	s.mu.Lock()
	if seq < s.floor.NextSeq { // a Reset came between
		defer s.mu.Unlock()
		return 0, &HistoryBehindError{FirstSeq: s.floor.NextSeq}
	}
	if i := sort.Search(len(s.live), func(i int) bool { return s.live[i].firstSeq > seq }); i > 0 {
		start := s.live[i-1].start
		position, ok := s.live[i-1].seek(seq)
		s.mu.Unlock()
		if !ok {
			return 0, s.dir.corrupt(start, start, errNoBlock)
		}
		return position, nil
	}
	sealed, floor := s.end.Sealed, s.floor.Position
	s.mu.Unlock()
	i := sort.Search(len(sealed), func(i int) bool { return sealed[i].LastSeq >= seq })
	if i == len(sealed) {
		return 0, &CorruptError{Err: errNoBlock}
	}
	x, err := s.indexOf(&sealed[i], floor)
	var damaged *CorruptError
	if errors.As(err, &damaged) {
		// The segment is damaged somewhere, so it has no index. What lies
		// before the damage can still be read, from the beginning.
		return max(sealed[i].Start, floor), nil
	}
	if err != nil {
		return 0, err
	}
	return x.seek(seq), nil
}
