package segment

import (
	"slices"
	"sort"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Piece is a part of the log that is not here: positions From to before To, in the
// segment that begins at Start. It is either a whole sealed segment, or the beginning
// of a segment whose end is here.
type Piece struct{ Start, From, To uint64 }

// Missing gives the newest piece of history that is not here, or that was found
// damaged; false when everything is. Newest first, so that what can be read
// reaches further back with every piece. It knows nothing before Resume or Reset
// (Status tells), and says false then.
//
// To fetch a piece from a peer: ask Have how far it has come, hand over with Accept
// what the peer's Serve gives from there on, chunk by chunk, until the piece's end,
// then Complete. Another peer is begun with Have again: it may hold as stubs what
// the one before held as blocks. A piece may be fetched over restarts.
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
			entry := sealedAround(s.end.Sealed, end-1)
			if start = entry.Start; entry.ArchivedAt != 0 {
				end = entry.End() // others may have no more than stubs of its beginning
			}
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

	whole    bool
	archived bool // stubs may stand for blocks
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
			g.end, g.whole, g.archived = endOf(&entry), true, entry.ArchivedAt != 0
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

// sealedAt finds the manifest entry of the segment that begins at start.
func sealedAt(sealed []logging.Segment, start uint64) (logging.Segment, bool) {
	i := sort.Search(len(sealed), func(i int) bool { return sealed[i].Start >= start })
	if i == len(sealed) || sealed[i].Start != start {
		return logging.Segment{}, false
	}
	return sealed[i], true
}
