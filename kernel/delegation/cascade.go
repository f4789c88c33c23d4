package delegation

import (
	"cmp"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Kind says which agents a cascade visits. Numbers are part of the snapshot
// format.
type Kind uint8

// The kinds.
const (
	OfSubtree Kind = iota + 1 // everything below Root
	OfRequest                 // the children of one request: Root … Last, which are numbered densely
)

// Cascade is a walk that is under way. Its position is state, so it goes on in
// later events where an event's work ended (EV-12).
type Cascade struct {
	_    struct{} `cbor:",toarray"`
	ID   uint64   // busSeq of the record that began it: older ones go first
	Kind Kind
	Root uint32
	Last uint32
	At   uint32 // the agent visited last; 0 at the beginning
	Code failure.Code
}

// Next is the agent that the cascade visits next, one that there is; false when
// it is through. A subtree is walked depth first, parents before children, and
// as it was when the cascade began: what an agent delegates after that stands
// behind everything older, and rests on nothing that the cascade is about (LC-10).
func Next(c *Cascade, rows Rows) (no uint32, ok bool) {
	if c.Kind == OfRequest {
		return c.nextOfRequest(rows)
	}
	at := c.At
	if at == 0 {
		at = c.Root
	}
	row := rows(at)
	if row == nil {
		return 0, false
	}
	if c.reaches(child(rows, at, at, row.FirstChild)) {
		return row.FirstChild, true
	}
	for at > c.Root { // upwards numbers fall: below Root's it was never under Root
		parent := parentOf(at, row)
		if parent == 0 {
			return 0, false
		}
		if c.reaches(child(rows, parent, at, row.NextSibling)) {
			return row.NextSibling, true
		}
		at = parent
		if row = rows(at); row == nil {
			return 0, false
		}
	}
	return 0, false
}

func (c *Cascade) nextOfRequest(rows Rows) (no uint32, ok bool) {
	no = c.Root
	if c.At >= no {
		if c.At >= c.Last {
			return 0, false
		}
		no = c.At + 1
	}
	if no > c.Last || rows(no) == nil {
		return 0, false
	}
	return no, true
}

// reaches tells whether the agent was there when the cascade began.
func (c *Cascade) reaches(row *Row) bool { return row != nil && row.Token < c.ID }

// age orders cascades.
type age uint64

// Compare puts older ones first.
func (a age) Compare(b age) int { return cmp.Compare(a, b) }
