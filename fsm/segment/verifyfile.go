package segment

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// fed is what feedFile has come through.
type fed struct {
	marks  []mark
	offset uint64 // in the file, of what comes next
	stubs  int
}

// feedFile feeds a verifier with what the file of a segment holds from the offset
// on, until the verifier has come to the position to. Stubs are taken where they may
// stand. The file has size bytes. Whatever the scanner or the verifier finds is
// given as it is; the verifier then stands before it, and takes no more.
func feedFile(f io.ReaderAt, offset uint64, size int64, verifier *logging.Verifier, to uint64, stubs bool) (fed, error) {
	scanner := NewScanner(io.NewSectionReader(f, int64(offset), max(size-int64(offset), 0)))
	scanner.stubs = stubs
	done := fed{offset: offset}
	for verifier.Point().Position < to {
		at := verifier.Point()
		raw, err := scanner.Next()
		if err == nil {
			err = feedRaw(verifier, raw, &done.stubs)
		}
		if err != nil {
			return done, err
		}
		done.marks = noteMark(done.marks, mark{seq: at.NextSeq, position: at.Position, offset: done.offset})
		done.offset += uint64(len(raw))
	}
	return done, nil
}

// feedRaw gives a verifier the bytes of a block, or of a stub, which it counts.
func feedRaw(v *logging.Verifier, raw []byte, stubs *int) error {
	if len(raw) != logging.StubBytes {
		return v.Feed(raw)
	}
	stub, err := logging.DecodeStub(raw)
	if err != nil {
		return err
	}
	*stubs++
	return v.FeedStub(&stub)
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

// verifySource reads a sealed segment, or what its gap marker leaves of it, against
// the manifest. What is wrong is a *CorruptError.
func (s *Store) verifySource(src *segmentFile, entry *logging.Segment) error {
	begin := beginningOf(headOfSegment(entry))
	var err error
	if src.where == inLog {
		if begin, err = s.dir.begin(s.options.Owner, headOfSegment(entry)); err != nil {
			return err
		}
	}
	if !src.sized {
		return src.corrupt(entry.Start, 0, errNotWhole)
	}
	verifier := logging.NewVerifier(begin)
	done, err := feedFile(src.file, src.offset(begin.Position), src.size, verifier, entry.End(), src.compacted())
	at, end := verifier.Point(), endOf(entry)
	switch {
	case err != nil && contentual(err), errors.Is(err, syscall.EIO):
		return src.corrupt(at.Position, done.offset, err)
	case err != nil:
		return fmt.Errorf("verify segment: %w", err)
	case !sameEnd(&at, &end) || int64(done.offset) != src.size:
		return src.corrupt(entry.Start, 0, errOtherChain)
	}
	return nil
}
