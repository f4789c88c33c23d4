package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Have tells the position up to which the missing piece is here, on disk and
// sound as far as can be told: where a block begins. The first call for a piece
// reads what is there.
func (s *Store) Have(p Piece) (uint64, error) {
	s.repair.Lock()
	defer s.repair.Unlock()
	part, _, err := s.partialOf(p)
	if err != nil {
		return 0, err
	}
	if err := part.forget(); err != nil {
		s.dropPartial()
		return 0, err
	}
	return part.have(), nil
}

// ErrArchivedThere answers Accept when the peer has archived a segment that is not
// archived yet as far as this node has come: wait until it has come further.
var ErrArchivedThere = errors.New("execution log: the peer has archived this segment, and this node does not know of that yet")

// errEarly is ErrArchivedThere where it is found.
var errEarly = errors.New("a stub in a segment that is not archived")

// Accept adds a chunk of the missing piece, which begins at the position at; that
// must be where what was here ends. What goes beyond the piece is ignored. A chunk
// that cannot be part of the log is a *CorruptError. Where a block is damaged, what
// came before it stays, and the block is to come from another peer; where a block is
// sound and another log's the download begins anew: which of the peers that gave its
// parts was wrong is not known.
func (s *Store) Accept(p Piece, at uint64, chunk []byte) error {
	s.repair.Lock()
	defer s.repair.Unlock()
	part, _, err := s.partialOf(p)
	if err != nil {
		return err
	}
	if have := part.have(); have != at {
		return &OffsetError{Have: have}
	}
	offset := part.fed.offset + uint64(len(part.rest))
	taken, err := part.take(chunk)
	switch {
	case errors.Is(err, errEarly):
		s.dropPartial()
		return ErrArchivedThere
	case garbled(err):
		refusal := &CorruptError{Position: part.verifier.Point().Position, Path: part.path, Offset: int64(part.fed.offset), Err: err}
		return errors.Join(refusal, s.keepSound(part, offset, chunk))
	case err != nil:
		return s.refuse(part, part.verifier.Point().Position, part.fed.offset, err)
	}
	if err := part.write(offset, chunk[:taken]); err != nil {
		// What has reached the disk is not known, and it may look written.
		return errors.Join(err, s.discardPartial())
	}
	return nil
}

// garbled tells of a block that does not read as one: its bytes are damaged, which
// says nothing of those before it.
func garbled(err error) bool {
	var mismatch *logging.Mismatch
	if errors.As(err, &mismatch) {
		return mismatch.Aspect == logging.AspectBlock
	}
	var malformed *logging.DecodeError
	return errors.As(err, &malformed)
}

// keepSound keeps the download up to the damaged block, of which the beginning may
// have been written before.
func (s *Store) keepSound(part *partial, offset uint64, chunk []byte) error {
	part.rest = part.rest[:0]
	part.verifier = logging.NewVerifier(part.verifier.Point()) // one that found something takes no more
	if part.fed.offset > offset {
		if err := part.write(offset, chunk[:part.fed.offset-offset]); err != nil {
			return errors.Join(err, s.discardPartial())
		}
	}
	if err := part.file.Truncate(int64(part.fed.offset)); err != nil {
		return errors.Join(fmt.Errorf("truncate %s: %w", part.path, err), s.discardPartial())
	}
	return nil
}

// Complete puts the piece, all of which is here, in its place: what it holds can
// be read then. A piece that does not end as the log does is a *CorruptError, and
// the download begins anew.
func (s *Store) Complete(p Piece) error {
	s.repair.Lock()
	defer s.repair.Unlock()
	part, g, err := s.partialOf(p)
	if err != nil {
		return err
	}
	if !part.done() {
		return &OffsetError{Have: part.have()}
	}
	if at := part.verifier.Point(); !sameEnd(&at, &g.end) {
		return s.refuse(part, p.From, headerBytes, errOtherChain)
	}
	if err := part.sync(); err != nil {
		// Which pages were lost is not known, and they may look written.
		return errors.Join(err, s.discardPartial())
	}
	switch {
	case !g.whole:
		err = s.fillBeginning(part, &g)
	case part.fed.stubs > 0:
		err = s.adoptStubs(part, &g)
	default:
		err = s.replaceSegment(p)
	}
	if err != nil {
		return fmt.Errorf("complete segment: %w", err)
	}
	s.lowerFloor(&g)
	s.kickArchiver()
	return nil
}

// refuse what was fetched.
func (s *Store) refuse(part *partial, position, offset uint64, err error) error {
	refusal := &CorruptError{Position: position, Path: part.path, Offset: int64(offset), Err: err}
	return errors.Join(refusal, s.discardPartial())
}

// partialOf gives the download of the missing piece, opening it if needed.
func (s *Store) partialOf(p Piece) (*partial, goal, error) {
	g, err := s.goalOf(p)
	if err != nil {
		return nil, goal{}, err
	}
	if s.partial == nil || s.partial.piece != p {
		s.dropPartial()
		if s.partial, err = s.openPartial(p, &g); err != nil {
			return nil, goal{}, err
		}
	}
	return s.partial, g, nil
}

// replaceSegment makes the download the segment's file. A crash before the marks
// are removed leaves a whole segment that is fetched once more.
func (s *Store) replaceSegment(p Piece) error {
	s.dropPartial()
	if err := os.Rename(s.dir.path(p.Start, partSuffix), s.dir.path(p.Start, segmentSuffix)); err != nil {
		return err
	}
	if err := s.dir.sync(); err != nil {
		return err
	}
	// Only now: without its marker, the file before would claim bytes it lacks.
	return s.healed(p.Start, compactedSuffix, gapSuffix, badSuffix)
}

// healed removes what says, or was, that a segment is not as it should be, in order.
func (s *Store) healed(start uint64, suffixes ...string) error {
	for _, suffix := range suffixes {
		if err := s.dir.removeFile(start, suffix); err != nil {
			return err
		}
	}
	s.exchanged(start)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = slices.DeleteFunc(s.bad, func(bad uint64) bool { return bad == start })
	return nil
}

// dropRemains removes a full file that is not whole, beside a compacted one; the
// marker that says so goes last.
func (s *Store) dropRemains(start uint64) error {
	if err := s.dir.removeFile(start, segmentSuffix); err != nil {
		return err
	}
	if err := s.dir.sync(); err != nil {
		return err
	}
	return s.dir.removeFile(start, gapSuffix)
}

// adoptStubs makes the download, in which stubs stand for blocks, the compacted file
// of its segment. Which blocks are stubs is the peer's doing: the archiver will see
// to the rest. A crash leaves the download, or a .part file of what is not missing.
func (s *Store) adoptStubs(part *partial, g *goal) error {
	s.mu.Lock()
	entry, ok := sealedAt(s.end.Sealed, part.piece.Start)
	s.mu.Unlock()
	if !ok {
		return ErrNotMissing
	}
	entry.ArchivedAt = 0 // as of which index blocks were dropped is not known
	from := items{
		scanner:  newScanner(io.NewSectionReader(part.file, headerBytes, int64(part.fed.offset)-headerBytes), scanBuffer),
		position: g.begin.Position, seq: g.begin.NextSeq, offset: headerBytes,
	}
	from.scanner.stubs = true
	temp, err := s.compact(&from, &entry, nil)
	if err != nil {
		return err
	}
	if err := s.dir.rename(temp, part.piece.Start, compactedSuffix); err != nil {
		return err
	}
	if err := s.dropRemains(part.piece.Start); err != nil {
		return err
	}
	if err := s.healed(part.piece.Start, badSuffix, indexSuffix); err != nil {
		return err
	}
	return s.discardPartial()
}

// copyBytes is how much of a download is copied at a time.
const copyBytes = 1 << 20

// fillBeginning copies the download before the blocks that the segment's file
// holds. Until the marker is gone, durably after the bytes, they mean nothing; a
// crash before leaves the whole download, which is copied again.
func (s *Store) fillBeginning(part *partial, g *goal) error {
	path := s.dir.path(part.piece.Start, segmentSuffix)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	file, err := s.open(path)
	if err != nil {
		return err
	}
	err = s.copyBlocks(file, part)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := s.dir.removeFile(part.piece.Start, gapSuffix); err != nil {
		return err
	}
	if err := s.dir.sync(); err != nil {
		return err
	}
	s.mu.Lock()
	for _, segment := range s.live {
		if segment.start == part.piece.Start {
			segment.marks = append(part.fed.marks, segment.marks...)
		}
	}
	s.mu.Unlock()
	return s.discardPartial()
}

// copyBlocks copies what was downloaded to its place in the segment's file.
func (s *Store) copyBlocks(to handle, part *partial) error {
	buffer := make([]byte, min(copyBytes, part.piece.To-part.piece.From))
	for at := part.piece.From; at < part.piece.To; {
		s.mu.Lock()
		err := s.readable()
		s.mu.Unlock()
		if err != nil {
			return err // closed meanwhile
		}
		n := min(uint64(len(buffer)), part.piece.To-at)
		offset := offsetIn(part.piece.Start, at)
		if _, err := part.file.ReadAt(buffer[:n], offset); err != nil {
			return err
		}
		if _, err := to.WriteAt(buffer[:n], offset); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// lowerFloor lets readers see what has become whole, when a piece is in its place.
// Called with repair held, so that no Reset comes between.
func (s *Store) lowerFloor(g *goal) {
	s.mu.Lock()
	sealed, floor := s.end.Sealed, s.floor
	s.mu.Unlock()
	if floor.Position > g.begin.Position && floor.Position <= g.end.Position {
		floor = g.begin
	}
	floor = s.floorOf(sealed, floor)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor = floor
	s.log.Info("history is here", "from", floor.NextSeq, "position", floor.Position)
}
