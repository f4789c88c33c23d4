package segment

import (
	"errors"
	"fmt"
	"os"
)

// Have tells the position up to which the missing piece is here, on disk and
// sound as far as can be told. The first call for a piece reads what is there.
func (s *Store) Have(p Piece) (uint64, error) {
	s.repair.Lock()
	defer s.repair.Unlock()
	part, _, err := s.partialOf(p)
	if err != nil {
		return 0, err
	}
	return part.have(), nil
}

// Accept adds a chunk of the missing piece, which begins at the position at; that
// must be where Have says. What goes beyond the piece is ignored. A chunk that
// cannot be part of the log is a *CorruptError, and the download begins anew:
// which of the peers that gave its parts was wrong is not known.
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
	chunk = chunk[:min(uint64(len(chunk)), p.To-at)]
	if err := part.take(chunk); err != nil {
		return s.refuse(part, part.verifier.Point().Position, err)
	}
	if err := part.write(at, chunk); err != nil {
		// What has reached the file is found out when it is opened again.
		s.dropPartial()
		return err
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
	if have := part.have(); have != p.To {
		return &OffsetError{Have: have}
	}
	if at := part.verifier.Point(); !sameEnd(&at, &g.end) {
		return s.refuse(part, p.From, errOtherChain)
	}
	if err := part.sync(); err != nil {
		// Which pages were lost is not known, and they may look written.
		return errors.Join(err, s.discardPartial())
	}
	if g.whole {
		err = s.replaceSegment(p)
	} else {
		err = s.fillBeginning(part, &g)
	}
	if err != nil {
		return fmt.Errorf("complete segment: %w", err)
	}
	s.lowerFloor()
	return nil
}

// refuse what was fetched.
func (s *Store) refuse(part *partial, position uint64, err error) error {
	refusal := &CorruptError{
		Position: position, Path: part.path, Offset: offsetIn(part.piece.Start, position), Err: err,
	}
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
	for _, suffix := range []string{gapSuffix, badSuffix} {
		if err := s.dir.removeFile(p.Start, suffix); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	if n := len(s.bad); n > 0 && s.bad[n-1] == p.Start {
		s.bad = s.bad[:n-1]
	}
	return nil
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
			segment.marks = append(part.marks, segment.marks...)
		}
	}
	s.floor = g.begin
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

// lowerFloor lets readers see what has become whole. Called with repair held, so
// that no Reset comes between.
func (s *Store) lowerFloor() {
	s.mu.Lock()
	sealed, floor := s.end.Sealed, s.floor
	s.mu.Unlock()
	floor = s.floorOf(sealed, floor)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor = floor
	s.log.Info("history is here", "from", floor.NextSeq, "position", floor.Position)
}
