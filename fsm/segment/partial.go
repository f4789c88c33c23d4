package segment

import (
	"errors"
	"fmt"
	"os"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// partial is a piece on its way here. Its file is named .part and is laid out as
// the segment file is: the header, then blocks from the segment's start. What the
// verifier has passed is sound by itself; that it is the right history only the
// piece's end can tell. Guarded by Store.repair.
type partial struct {
	piece    Piece
	path     string
	file     handle
	verifier *logging.Verifier
	rest     []byte // what arrived after the verifier's point: less than one block
	marks    []mark
	unsynced int // bytes written since the last fsync
}

// partSyncBytes is how much of a download may wait for an fsync: many small ones
// disturb the log's own less than one for a whole segment.
const partSyncBytes = 8 << 20

// errCrosses: a block that begins in a piece and ends behind it.
var errCrosses = errors.New("block goes beyond the end of the piece")

// have is the position up to which the piece is here.
func (p *partial) have() uint64 { return p.verifier.Point().Position + uint64(len(p.rest)) }

// take verifies what comes next.
func (p *partial) take(chunk []byte) error {
	for len(chunk) > 0 {
		if len(p.rest) == 0 {
			fed, err := p.feed(chunk)
			p.rest = append(p.rest, chunk[fed:]...) // at most one block
			return err
		}
		// A block that began in an earlier chunk: first its length, then all of it.
		want := logging.LengthBytes
		if len(p.rest) >= want {
			length, err := logging.BlockLen(p.rest)
			if err != nil {
				return err
			}
			want = int(length)
		}
		n := min(want-len(p.rest), len(chunk))
		p.rest, chunk = append(p.rest, chunk[:n]...), chunk[n:]
		fed, err := p.feed(p.rest)
		if err != nil {
			return err
		}
		if fed > 0 {
			p.rest = p.rest[:0]
		}
	}
	return nil
}

// feed gives the verifier the whole blocks at the front of b, and tells how many
// bytes they are.
func (p *partial) feed(b []byte) (fed int, err error) {
	for len(b)-fed >= logging.LengthBytes {
		at := p.verifier.Point()
		length, err := logging.BlockLen(b[fed:])
		switch {
		case err != nil:
			return fed, err
		case at.Position+uint64(length) > p.piece.To:
			return fed, errCrosses
		case uint64(len(b)-fed) < uint64(length):
			return fed, nil
		}
		if err := p.verifier.Feed(b[fed : fed+int(length)]); err != nil {
			return fed, err
		}
		p.marks = noteMark(p.marks, at.Position, at.NextSeq)
		fed += int(length)
	}
	return fed, nil
}

// write a chunk that was taken to the file, where the piece had come to.
func (p *partial) write(at uint64, chunk []byte) error {
	if _, err := p.file.WriteAt(chunk, offsetIn(p.piece.Start, at)); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	if p.unsynced += len(chunk); p.unsynced < partSyncBytes {
		return nil
	}
	return p.sync()
}

func (p *partial) sync() error {
	if err := p.file.Sync(); err != nil {
		return fmt.Errorf("fsync %s: %w", p.path, err)
	}
	p.unsynced = 0
	return nil
}

// openPartial opens the file of a piece, or makes it, and verifies what it holds.
// What a crash has torn, or what is damaged, is cut away, and what belongs to
// something else is not used: it will be fetched.
func (s *Store) openPartial(p Piece, g *goal) (*partial, error) {
	path := s.dir.path(p.Start, partSuffix)
	file, err := s.open(path)
	if err != nil {
		return nil, fmt.Errorf("open partial segment: %w", err)
	}
	part := &partial{piece: p, path: path, file: file, verifier: logging.NewVerifier(g.begin)}
	if err := s.readPartial(part, g); err != nil {
		return nil, errors.Join(fmt.Errorf("open partial segment: %w", err), file.Close())
	}
	return part, nil
}

// readPartial verifies what is there and cuts what is of no use.
func (s *Store) readPartial(part *partial, g *goal) error {
	info, err := os.Stat(part.path)
	if err != nil {
		return err
	}
	size := info.Size()
	h, err := readHead(part.file, part.path)
	if err != nil || !h.begins(s.options.Owner, g.head) {
		if size > 0 {
			s.log.Warn("partial segment belongs to something else", "file", part.path, "error", err)
		}
		return s.beginPartial(part, g)
	}
	marks, err := feedFile(part.file, part.piece.Start, size, part.verifier, part.piece.To)
	if err != nil && !contentual(err) {
		return err
	}
	at := part.verifier.Point()
	if at.Position > part.piece.To {
		// Its blocks are not the piece's: they end elsewhere.
		part.verifier = logging.NewVerifier(g.begin)
		return s.beginPartial(part, g)
	}
	part.marks = marks
	part.verifier = logging.NewVerifier(at) // a verifier that found something takes no more
	if cut := size - offsetIn(part.piece.Start, at.Position); cut > 0 {
		s.log.Info("cut a partial segment", "file", part.path, "bytes", cut, "because", err)
		return part.file.Truncate(offsetIn(part.piece.Start, at.Position))
	}
	return nil
}

// beginPartial makes the file anew, with only its header.
func (s *Store) beginPartial(part *partial, g *goal) error {
	if err := part.file.Truncate(0); err != nil {
		return err
	}
	header := headerOf(s.options.Owner, g.head)
	_, err := part.file.WriteAt(header.append(nil), 0)
	return err
}

// dropPartial forgets the open download; its file stays. Called with repair held.
func (s *Store) dropPartial() {
	if s.partial != nil {
		// What close could tell is found out when the file is verified again.
		_ = s.partial.file.Close()
		s.partial = nil
	}
}

// discardPartial removes the download's file. Called with repair held.
func (s *Store) discardPartial() error {
	start := s.partial.piece.Start
	s.dropPartial()
	return s.dir.removeFile(start, partSuffix)
}
