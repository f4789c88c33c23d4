package segment

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"syscall"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Piece is a part of the log that is not here: the bytes from position From to
// before To, in the segment that begins at Start. It is either a whole sealed
// segment, or the beginning of a segment whose end is here.
type Piece struct{ Start, From, To uint64 }

// Missing gives the newest piece of history that is not here, or that was found
// damaged; false when everything is. Newest first, so that what can be read
// reaches further back with every piece. It knows nothing before Resume or Reset
// (Status tells), and says false then.
//
// To fetch a piece: ask Have how far it has come, hand over what follows with
// Accept, as any peer's Serve gives it, until Have is the piece's end, then
// Complete. A piece may be fetched from several peers by turns and over restarts.
func (s *Store) Missing() (Piece, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readable() != nil {
		return Piece{}, false
	}
	return s.missing()
}

// missing is Missing, with mu held.
func (s *Store) missing() (Piece, bool) {
	var below Piece
	if end := s.floor.Position; end > 0 {
		start := s.end.Tail.Start
		if end <= start {
			start = sealedAround(s.end.Sealed, end-1).Start
		}
		below = Piece{Start: start, From: start, To: end}
	}
	if n := len(s.bad); n > 0 && s.bad[n-1] >= below.Start {
		entry, _ := sealedAt(s.end.Sealed, s.bad[n-1])
		return Piece{Start: entry.Start, From: entry.Start, To: entry.End()}, true
	}
	return below, below.To > 0
}

// goal says where a missing piece begins and ends, and whether it is a whole
// segment.
type goal struct {
	head  logging.Head
	begin logging.Point
	end   logging.Point
	whole bool
}

// goalOf a piece; ErrNotMissing when it is not the missing one.
func (s *Store) goalOf(p Piece) (goal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return goal{}, s.err
	}
	if err := s.readable(); err != nil {
		return goal{}, err
	}
	if now, is := s.missing(); !is || now != p {
		return goal{}, ErrNotMissing
	}
	g := goal{head: s.end.Tail, end: s.floor}
	if entry, sealed := sealedAt(s.end.Sealed, p.Start); sealed {
		g.head = headOfSegment(&entry)
		if p.To == entry.End() {
			g.end, g.whole = endOf(&entry), true
		}
	}
	g.begin = beginningOf(g.head)
	return g, nil
}

// sweep removes what belongs to no missing piece of the log that the tables
// describe, and gives the sealed segments that are known to be damaged. Called
// with repair and files held.
func (s *Store) sweep(t *logging.Tables, floor *logging.Point) (bad []uint64, err error) {
	marked, err := s.dir.starts(badSuffix)
	if err != nil {
		return nil, err
	}
	for _, start := range marked {
		if _, ok := sealedAt(t.Sealed, start); ok {
			bad = append(bad, start)
		} else if err := s.dir.removeFile(start, badSuffix); err != nil {
			return nil, err
		}
	}
	parts, err := s.dir.starts(partSuffix)
	if err != nil {
		return nil, err
	}
	for _, start := range parts {
		_, known := sealedAt(t.Sealed, start)
		known = known || start == t.Tail.Start
		if known && (start < floor.Position || slices.Contains(bad, start)) {
			continue
		}
		if err := s.dir.removeFile(start, partSuffix); err != nil {
			return nil, err
		}
	}
	return bad, nil
}

// damaged is told that a sealed segment held something wrong when it was read in
// an epoch. If that is so, the segment is marked, for Missing to name it. What
// can still be read of it stays readable.
func (s *Store) damaged(start, epoch uint64) {
	s.repair.Lock()
	defer s.repair.Unlock()
	entry, suspect := s.suspect(start, epoch)
	if !suspect {
		return
	}
	// The file judges, not whoever asked: a position may have been wrong.
	err := s.verifySealed(&entry)
	if !isCorrupt(err) && !errors.Is(err, syscall.EIO) {
		return
	}
	s.log.Error("a sealed segment is damaged and has to be fetched again", "segment", start, "error", err)
	reason := fmt.Sprintf("%v\n", err)
	if err := s.dir.replace(s.dir.path(start, badSuffix), []byte(reason)); err != nil {
		s.log.Warn("damaged segment not marked on disk", "segment", start, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearch(s.bad, start)
	s.bad = slices.Insert(s.bad, at, start)
}

// suspect gives the manifest entry of a segment that may have to be marked.
func (s *Store) suspect(start, epoch uint64) (logging.Segment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != ready || s.err != nil || s.epoch != epoch || start >= s.live[0].start {
		return logging.Segment{}, false
	}
	entry, ok := sealedAt(s.end.Sealed, start)
	return entry, ok && !slices.Contains(s.bad, start)
}

// indexOf gives the sidecar index of a sealed segment; a *CorruptError, and the
// segment is marked, when it cannot have one.
func (s *Store) indexOf(entry logging.Segment, floor uint64) (*index, error) {
	s.mu.Lock()
	epoch := s.epoch
	s.mu.Unlock()
	x, err := s.indexes.get(s.dir, entry, floor)
	if isCorrupt(err) {
		s.damaged(entry.Start, epoch)
	}
	return x, err
}

// sealedAt finds the manifest entry of the segment that begins at start.
func sealedAt(sealed []logging.Segment, start uint64) (logging.Segment, bool) {
	i := sort.Search(len(sealed), func(i int) bool { return sealed[i].Start >= start })
	if i == len(sealed) || sealed[i].Start != start {
		return logging.Segment{}, false
	}
	return sealed[i], true
}
