package segment

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// feedFile feeds a verifier with the blocks of the file of the segment that
// begins at start, from where the verifier stands until it has come to the
// position to. The file has size bytes. Whatever the scanner or the verifier
// finds is given as it is; the verifier then stands before it, and takes no more.
func feedFile(f io.ReaderAt, start uint64, size int64, verifier *logging.Verifier, to uint64) ([]mark, error) {
	offset := offsetIn(start, verifier.Point().Position)
	scanner := NewScanner(io.NewSectionReader(f, offset, max(size-offset, 0)))
	var marks []mark
	for verifier.Point().Position < to {
		at := verifier.Point()
		raw, err := scanner.Next()
		if err == nil {
			err = verifier.Feed(raw)
		}
		if err != nil {
			return marks, err
		}
		marks = noteMark(marks, at.Position, at.NextSeq)
	}
	return marks, nil
}

// contentual tells whether an error of feedFile is about what the file holds, and
// not a failure to read it.
func contentual(err error) bool {
	var malformed *logging.DecodeError
	var mismatch *logging.Mismatch
	return isEnd(err) || errors.As(err, &malformed) || errors.As(err, &mismatch)
}

// sameEnd tells whether two points are the same place in the same log. Points that
// come out of a manifest leave the clock and the term open; the chain value stands
// for them.
func sameEnd(a, b *logging.Point) bool {
	return a.Position == b.Position && a.NextSeq == b.NextSeq && a.Chain == b.Chain
}

// endOf is the point at which a sealed segment ends.
func endOf(entry *logging.Segment) logging.Point {
	return logging.Point{
		NextSeq: entry.LastSeq + 1, Position: entry.End(), Chain: entry.ChainOut, LastIndex: entry.LastIndex,
	}
}

// verifySealed reads a whole sealed segment, or what its gap marker leaves of it,
// against the manifest. What is wrong is a *CorruptError.
func (s *Store) verifySealed(entry *logging.Segment) error {
	begin, err := s.dir.begin(s.options.Owner, headOfSegment(entry))
	if err != nil {
		return err
	}
	f, err := os.Open(s.dir.path(entry.Start, segmentSuffix))
	if notExist(err) {
		return s.dir.corrupt(entry.Start, entry.Start, errNoFile)
	}
	if err != nil {
		return fmt.Errorf("verify segment: %w", err)
	}
	defer f.Close()
	h, err := readHead(f, f.Name())
	switch {
	case errors.Is(err, errTorn) || (err == nil && !h.begins(s.options.Owner, headOfSegment(entry))):
		return s.dir.corruptFile(entry.Start, segmentSuffix, errTorn)
	case err != nil:
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("verify segment: %w", err)
	}
	verifier := logging.NewVerifier(begin)
	_, err = feedFile(f, entry.Start, info.Size(), verifier, entry.End())
	at, end := verifier.Point(), endOf(entry)
	switch {
	case err != nil && contentual(err):
		return s.dir.corrupt(entry.Start, at.Position, err)
	case err != nil:
		return fmt.Errorf("verify segment: %w", err)
	case !sameEnd(&at, &end) || info.Size() != offsetIn(entry.Start, entry.End()):
		return s.dir.corrupt(entry.Start, entry.Start, errOtherChain)
	}
	return nil
}
