package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// tailFound is what the tail segment's file holds up to the log's end.
type tailFound struct {
	begin  logging.Point // from here on its blocks are here
	marks  []mark
	usable bool // the file can be gone on with
	size   int64
}

// verifyTail reads the tail segment from its beginning, or from where its gap
// marker says, to the position of the tables, and checks that it is the log that
// ends there. Called with files held.
func (s *Store) verifyTail(t *logging.Tables) (tailFound, error) {
	begin, err := s.dir.begin(s.options.Owner, t.Tail)
	if err != nil {
		return tailFound{}, err
	}
	if begin.Position > t.Position {
		return tailFound{}, &GapError{Have: t.Tail.Start, Want: t.Position}
	}
	found := tailFound{begin: begin}
	f, err := os.Open(s.dir.path(t.Tail.Start, segmentSuffix))
	if notExist(err) {
		return found, needed(&begin, t, &GapError{Have: begin.Position, Want: t.Position})
	}
	if err != nil {
		return tailFound{}, fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	h, err := readHead(f)
	switch {
	case errors.Is(err, errTorn):
		return found, needed(&begin, t, &CorruptError{Position: t.Tail.Start, Err: err})
	case err != nil:
		return tailFound{}, err
	case h.start != t.Tail.Start || h.firstSeq != t.Tail.FirstSeq || h.chainIn != t.Tail.ChainIn:
		return tailFound{}, &DivergenceError{Position: t.Tail.Start, Index: t.Tail.FirstIndex, What: "segment header"}
	}
	info, err := f.Stat()
	if err != nil {
		return tailFound{}, fmt.Errorf("open segment: %w", err)
	}
	found.size = info.Size()
	if found.size < offsetIn(t.Tail.Start, begin.Position) {
		return found, needed(&begin, t, &GapError{Have: begin.Position, Want: t.Position})
	}
	found.usable = true
	found.marks, err = verifyUpTo(f, found.size, begin, t)
	return found, err
}

// needed answers nil when a file that is of no use is of no use for: everything
// before the log's end is known to be elsewhere.
func needed(begin *logging.Point, t *logging.Tables, err error) error {
	if begin.Position == t.Position {
		return nil
	}
	return err
}

// verifyUpTo feeds a verifier from begin to the end of the log. The file has
// size bytes.
func verifyUpTo(f *os.File, size int64, begin logging.Point, t *logging.Tables) ([]mark, error) {
	var marks []mark
	offset := offsetIn(t.Tail.Start, begin.Position)
	scanner := NewScanner(io.NewSectionReader(f, offset, size-offset))
	verifier := logging.NewVerifier(begin)
	for verifier.Point().Position < t.Position {
		at := verifier.Point()
		raw, err := scanner.Next()
		var malformed *logging.DecodeError
		switch {
		case err != nil && isEnd(err) && size < offsetIn(t.Tail.Start, t.Position):
			return nil, &GapError{Have: at.Position, Want: t.Position}
		case err != nil && isEnd(err), errors.As(err, &malformed):
			return nil, &CorruptError{Position: at.Position, Err: err}
		case err != nil:
			return nil, fmt.Errorf("read segment: %w", err)
		}
		marks = noteMark(marks, at.Position, at.NextSeq)
		if err := verifier.Feed(raw); err != nil {
			var m *logging.Mismatch
			if errors.As(err, &m) && m.Aspect != logging.AspectBlock {
				return nil, &DivergenceError{Position: m.Position, Index: m.Index, Seq: at.NextSeq, What: m.Aspect.String()}
			}
			return nil, &CorruptError{Position: at.Position, Err: err}
		}
	}
	if at := verifier.Point(); at.Position != t.Position || at.NextSeq != t.NextSeq || at.Chain != t.Chain {
		return nil, &DivergenceError{Position: t.Position, Index: t.LastIndex, What: "log at the restored state"}
	}
	return marks, nil
}

// intact tells whether a sealed segment's file is there with its header and in
// its full length. Its content is verified block by block when it is read.
func (s *Store) intact(entry *logging.Segment) bool {
	f, err := os.Open(s.dir.path(entry.Start, segmentSuffix))
	if err != nil {
		return false
	}
	defer f.Close()
	h, err := readHead(f)
	if err != nil || h.start != entry.Start || h.firstSeq != entry.FirstSeq || h.chainIn != entry.ChainIn {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Size() == offsetIn(entry.Start, entry.End())
}

// headOfSegment is how a sealed segment began.
func headOfSegment(entry *logging.Segment) logging.Head {
	return logging.Head{
		FirstIndex: entry.FirstIndex, FirstSeq: entry.FirstSeq,
		Start: entry.Start, ChainIn: entry.ChainIn,
	}
}

// sealedAt finds the manifest entry of the segment that begins at start.
func sealedAt(sealed []logging.Segment, start uint64) (logging.Segment, bool) {
	i := sort.Search(len(sealed), func(i int) bool { return sealed[i].Start >= start })
	if i == len(sealed) || sealed[i].Start != start {
		return logging.Segment{}, false
	}
	return sealed[i], true
}
