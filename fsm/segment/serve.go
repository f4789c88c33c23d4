package segment

import (
	"errors"
	"fmt"
	"io"
)

// Serve gives what the log holds from a position on, for a peer that lacks it: as
// much as fits into dst, lies in one segment, and is published. It tells how many
// bytes it gave, and the position that comes next: where a segment is compacted,
// those are not the same, since stubs stand for longer blocks. The position is one
// where a block begins, or one that Serve gave as the next. What is read is not
// verified here: who fetches it does that, and takes what is sound even out of a
// segment that is known to be damaged: where it is, another peer's may not be. dst has room for a stub at least, 56
// bytes.
//
// Below the history that is here it answers *HistoryBehindError, without the
// segment's file *CorruptError, within a block that has been archived meanwhile
// *CompactedError, and at or beyond the end *AheadError.
func (s *Store) Serve(position uint64, dst []byte) (n int, next uint64, err error) {
	where, err := s.locate(position)
	if err != nil {
		return 0, position, err
	}
	if where.chunk != nil {
		defer s.unpin(where.chunk)
		n = copy(dst, where.data)
		return n, position + uint64(n), nil
	}
	n, next, err = s.serve(position, &where, dst)
	if isCorrupt(err) {
		s.damaged(where.start, where.epoch)
	}
	if errors.Is(err, errInStub) {
		err = s.compactedError(where.start)
	}
	return n, next, err
}

// serve out of the file of a segment.
func (s *Store) serve(position uint64, where *span, dst []byte) (n int, next uint64, err error) {
	r := s.reader(aheadForward)
	defer r.close()
	r.start = where.start
	if err := r.open(where); err != nil {
		return 0, position, err
	}
	if r.sparse != nil {
		return r.sparse.serve(position, where.limit, dst)
	}
	dst = dst[:min(uint64(len(dst)), where.limit-position)]
	n, err = r.source.file.ReadAt(dst, offsetIn(where.start, position))
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, position, fmt.Errorf("serve execution log: %w", err)
	}
	if n == 0 && len(dst) > 0 {
		return 0, position, s.dir.corrupt(where.start, position, io.ErrUnexpectedEOF)
	}
	return n, position + uint64(n), nil
}
