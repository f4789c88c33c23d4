package segment

import (
	"errors"
	"fmt"
	"os"

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
	if err := s.recall(t.Tail.Start); err != nil {
		return tailFound{}, err
	}
	f, err := os.Open(s.dir.path(t.Tail.Start, segmentSuffix))
	if notExist(err) {
		return found, needed(&begin, t, &GapError{Have: begin.Position, Want: t.Position})
	}
	if err != nil {
		return tailFound{}, fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	h, err := readHead(f, f.Name())
	switch {
	case errors.Is(err, errTorn):
		return found, needed(&begin, t, s.dir.corrupt(t.Tail.Start, t.Tail.Start, err))
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
	verifier := logging.NewVerifier(begin)
	done, err := feedFile(f, uint64(offsetIn(t.Tail.Start, begin.Position)), size, verifier, t.Position, false)
	at := verifier.Point()
	var m *logging.Mismatch
	switch {
	case err == nil:
	case isEnd(err) && size < offsetIn(t.Tail.Start, t.Position):
		return nil, &GapError{Have: at.Position, Want: t.Position}
	case errors.As(err, &m) && m.Aspect != logging.AspectBlock:
		return nil, &DivergenceError{Position: m.Position, Index: m.Index, Seq: at.NextSeq, What: m.Aspect.String()}
	case contentual(err):
		return nil, corruptIn(f, t.Tail.Start, at.Position, err)
	default:
		return nil, fmt.Errorf("read segment: %w", err)
	}
	if !sameEnd(&at, &t.Point) {
		return nil, &DivergenceError{Position: t.Position, Index: t.LastIndex, What: "log at the restored state"}
	}
	return done.marks, nil
}

// headOfSegment is how a sealed segment began.
func headOfSegment(entry *logging.Segment) logging.Head {
	return logging.Head{
		FirstIndex: entry.FirstIndex, FirstSeq: entry.FirstSeq,
		Start: entry.Start, ChainIn: entry.ChainIn,
	}
}
