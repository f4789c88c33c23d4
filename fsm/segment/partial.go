package segment

import (
	"errors"
	"fmt"
	"os"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// partial is a piece on its way here. Its file is named .part and begins as the
// segment file does: the header, then what the segment holds from its start, stubs
// among it when it is archived. What the verifier has passed is sound by itself; that
// it is the right history only the piece's end can tell. Guarded by Store.repair.
type partial struct {
	piece    Piece
	path     string
	file     handle
	archived bool // stubs may stand for blocks
	verifier *logging.Verifier
	fed      fed    // by the verifier
	rest     []byte // what arrived after that: less than one block
	unsynced int    // bytes written since the last fsync was begun
	syncing  chan error
}

// partSyncBytes is after how much of a download an fsync is begun: many small ones
// disturb the log's own less than one for a whole segment. It goes on beside what
// is verified and written next, but never beside another one.
const partSyncBytes = 8 << 20

// errCrosses: a block that begins in a piece and ends behind it.
var errCrosses = errors.New("block goes beyond the end of the piece")

// have is the position up to which the piece is here.
func (p *partial) have() uint64 { return p.verifier.Point().Position + uint64(len(p.rest)) }

// done tells whether all of the piece is here.
func (p *partial) done() bool { return p.verifier.Point().Position == p.piece.To }

// forget a block of which only the beginning has arrived: another peer may give its
// stub instead.
func (p *partial) forget() error {
	if len(p.rest) == 0 {
		return nil
	}
	p.rest = p.rest[:0]
	if err := p.file.Truncate(int64(p.fed.offset)); err != nil {
		return fmt.Errorf("truncate %s: %w", p.path, err)
	}
	return nil
}

// take verifies what comes next, up to the end of the piece, and tells how many
// bytes that are.
func (p *partial) take(chunk []byte) (taken int, err error) {
	for taken < len(chunk) && !p.done() {
		if len(p.rest) == 0 {
			fed, err := p.feed(chunk[taken:])
			if taken += fed; err != nil || p.done() {
				return taken, err
			}
			p.rest = append(p.rest, chunk[taken:]...) // less than one block
			return len(chunk), nil
		}
		// A block that began in an earlier chunk: first its length, then all of it.
		want := logging.LengthBytes
		if len(p.rest) >= want {
			length, _, err := logging.ItemLen(p.rest)
			if err != nil {
				return taken, err
			}
			want = int(length)
		}
		n := min(want-len(p.rest), len(chunk)-taken)
		p.rest = append(p.rest, chunk[taken:taken+n]...)
		taken += n
		fed, err := p.feed(p.rest)
		if err != nil {
			return taken, err
		}
		if fed > 0 {
			p.rest = p.rest[:0]
		}
	}
	return taken, nil
}

// feed gives the verifier the whole blocks and stubs at the front of b, up to the end
// of the piece, and tells how many bytes they are.
func (p *partial) feed(b []byte) (fed int, err error) {
	for len(b)-fed >= logging.LengthBytes && !p.done() {
		at := p.verifier.Point()
		length, stub, err := logging.ItemLen(b[fed:])
		switch {
		case err != nil:
			return fed, err
		case stub && !p.archived:
			return fed, errEarly
		case !stub && at.Position+uint64(length) > p.piece.To:
			return fed, errCrosses
		case uint64(len(b)-fed) < uint64(length):
			return fed, nil
		}
		if err := feedRaw(p.verifier, b[fed:fed+int(length)], &p.fed.stubs); err != nil {
			return fed, err
		}
		if p.verifier.Point().Position > p.piece.To {
			return fed, errCrosses
		}
		p.fed.marks = noteMark(p.fed.marks, mark{seq: at.NextSeq, position: at.Position, offset: p.fed.offset})
		p.fed.offset += uint64(length)
		fed += int(length)
	}
	return fed, nil
}

// write a chunk that was taken to the file, at the offset that it begins at.
func (p *partial) write(offset uint64, chunk []byte) error {
	if _, err := p.file.WriteAt(chunk, int64(offset)); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	if p.unsynced += len(chunk); p.unsynced < partSyncBytes {
		return nil
	}
	if err := p.synced(); err != nil {
		return err
	}
	p.unsynced, p.syncing = 0, make(chan error, 1)
	go func(done chan<- error) { done <- p.file.Sync() }(p.syncing)
	return nil
}

// synced waits for the fsync that is under way.
func (p *partial) synced() error {
	if p.syncing == nil {
		return nil
	}
	err := <-p.syncing
	p.syncing = nil
	if err != nil {
		return fmt.Errorf("fsync %s: %w", p.path, err)
	}
	return nil
}

// sync makes all that was written durable.
func (p *partial) sync() error {
	if err := p.synced(); err != nil {
		return err
	}
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
	part := &partial{piece: p, path: path, file: file, archived: g.archived}
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
	verifier := logging.NewVerifier(g.begin)
	part.fed, err = feedFile(part.file, headerBytes, size, verifier, part.piece.To, g.archived)
	if err != nil && !contentual(err) {
		return err
	}
	at := verifier.Point()
	if at.Position > part.piece.To {
		// Its blocks are not the piece's: they end elsewhere.
		return s.beginPartial(part, g)
	}
	part.verifier = logging.NewVerifier(at) // a verifier that found something takes no more
	if cut := size - int64(part.fed.offset); cut > 0 {
		s.log.Info("cut a partial segment", "file", part.path, "bytes", cut, "because", err)
		return part.file.Truncate(int64(part.fed.offset))
	}
	return nil
}

// beginPartial makes the file anew, with only its header.
func (s *Store) beginPartial(part *partial, g *goal) error {
	if err := part.file.Truncate(0); err != nil {
		return err
	}
	part.verifier, part.fed = logging.NewVerifier(g.begin), fed{offset: headerBytes}
	header := headerOf(s.options.Owner, g.head)
	_, err := part.file.WriteAt(header.append(nil), 0)
	return err
}

// dropPartial forgets the open download; its file stays. Called with repair held.
func (s *Store) dropPartial() {
	if s.partial == nil {
		return
	}
	failed := s.partial.synced()
	// What close could tell is found out when the file is verified again.
	_ = s.partial.file.Close()
	if failed != nil {
		// Which pages were lost is not known, and they may look written.
		s.log.Warn("a download begins anew", "error", failed)
		if err := s.dir.removeFile(s.partial.piece.Start, partSuffix); err != nil {
			s.log.Warn("a download that may not be whole is still there", "error", err)
		}
	}
	s.partial = nil
}

// discardPartial removes the download's file. Called with repair held.
func (s *Store) discardPartial() error {
	start := s.partial.piece.Start
	s.dropPartial()
	return s.dir.removeFile(start, partSuffix)
}
