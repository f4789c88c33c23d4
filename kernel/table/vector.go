package table

import "slices"

// Rows of one page are copied together when the first of them is written after
// a publication, and with the page the two nodes above it: small ones keep that
// copy short for rows of a few hundred bytes.
const (
	pageRows   = 2
	groupPages = 64
	groupRows  = pageRows * groupPages
	spanGroups = 64
	spanRows   = groupRows * spanGroups
)

// Vector is a dense, paged, copy-on-write vector of rows numbered from 1, or
// from elsewhere if Beginning made it.
// The zero value is empty and ready for use. Copies made by Publish are
// read-only; calling Edit or Append on one is a bug and panics.
type Vector[T any] struct {
	spans    []*span[T]
	spansGen uint64
	base     uint32 // the number before the first row's
	length   uint32
	gen      uint64 // what has this generation belongs to the writer alone
	frozen   bool
}

type span[T any] struct {
	gen    uint64
	groups [spanGroups]*group[T]
}

type group[T any] struct {
	gen   uint64
	pages [groupPages]*page[T]
}

type page[T any] struct {
	gen  uint64
	rows [pageRows]T
}

// Beginning returns an empty vector whose first row will have that number, from
// 1: a part of a longer one.
func Beginning[T any](first uint32) Vector[T] { return Vector[T]{base: first - 1} }

// Len is the number of rows; valid numbers are 1 … Len, but in a Beginning.
func (v *Vector[T]) Len() uint32 { return v.length }

// Get returns row no for reading. The pointer stays valid and unchanged for as
// long as v is a published copy; in the writer's vector it is valid until the
// next Edit. It returns nil when there is no such row.
func (v *Vector[T]) Get(no uint32) *T {
	if no <= v.base || no-v.base > v.length {
		return nil
	}
	at := no - v.base - 1
	return &v.spans[at/spanRows].groups[at%spanRows/groupRows].pages[at%groupRows/pageRows].rows[at%pageRows]
}

// Edit returns row no for writing, after making its page the writer's own.
// It panics when there is no such row: callers looked it up before.
func (v *Vector[T]) Edit(no uint32) *T {
	if no <= v.base || no-v.base > v.length {
		panic("table: edit of a row that does not exist")
	}
	at := no - v.base - 1
	return &v.own(at).rows[at%pageRows]
}

// Append adds a zero row and returns its number and the row for writing.
func (v *Vector[T]) Append() (uint32, *T) {
	at := v.length
	row := &v.own(at).rows[at%pageRows]
	v.length++
	return v.base + v.length, row
}

// own makes the page of position at writable: the list of spans, a span, a
// group and a page are each copied at most once per generation.
func (v *Vector[T]) own(at uint32) *page[T] {
	if v.frozen {
		panic("table: write to a published vector")
	}
	if v.spansGen != v.gen {
		v.spans, v.spansGen = slices.Clone(v.spans), v.gen
	}
	if int(at/spanRows) == len(v.spans) {
		v.spans = append(v.spans, nil)
	}
	s := v.spans[at/spanRows]
	if s == nil || s.gen != v.gen {
		s = copyOf(s)
		s.gen = v.gen
		v.spans[at/spanRows] = s
	}
	slot := at % spanRows / groupRows
	g := s.groups[slot]
	if g == nil || g.gen != v.gen {
		g = copyOf(g)
		g.gen = v.gen
		s.groups[slot] = g
	}
	slot = at % groupRows / pageRows
	p := g.pages[slot]
	if p == nil || p.gen != v.gen {
		p = copyOf(p)
		p.gen = v.gen
		g.pages[slot] = p
	}
	return p
}

// copyOf is a copy of a node, or an empty one where there is none yet.
func copyOf[N any](node *N) *N {
	if node == nil {
		return new(N)
	}
	dup := *node
	return &dup
}

// Publish returns an immutable copy, in constant time and without allocating.
// Pages are shared until the writer touches them.
func (v *Vector[T]) Publish() Vector[T] {
	copied := *v
	copied.frozen = true
	v.gen++
	return copied
}
