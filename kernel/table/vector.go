package table

// Rows of one page are copied together when the first of them is written after
// a publication: small pages keep that copy short for rows of a few hundred bytes.
const (
	pageRows = 8
	dirPages = 256
	dirRows  = pageRows * dirPages
)

// Vector is a dense, paged, copy-on-write vector of rows numbered from 1.
// The zero value is empty and ready for use. Copies made by Publish are
// read-only; calling Edit or Append on one is a bug and panics.
type Vector[T any] struct {
	dirs   []*directory[T]
	length uint32
	gen    uint64 // pages with this generation belong to the writer alone; 0 marks a published copy
	frozen bool
}

type directory[T any] struct {
	gen   uint64
	pages [dirPages]*page[T]
}

type page[T any] struct {
	gen  uint64
	rows [pageRows]T
}

// Len is the number of rows; valid numbers are 1 … Len.
func (v *Vector[T]) Len() uint32 { return v.length }

// Get returns row no for reading. The pointer stays valid and unchanged for as
// long as v is a published copy; in the writer's vector it is valid until the
// next Edit. It returns nil when there is no such row.
func (v *Vector[T]) Get(no uint32) *T {
	if no == 0 || no > v.length {
		return nil
	}
	at := no - 1
	return &v.dirs[at/dirRows].pages[at%dirRows/pageRows].rows[at%pageRows]
}

// Edit returns row no for writing, after making its page the writer's own.
// It panics when there is no such row: callers looked it up before.
func (v *Vector[T]) Edit(no uint32) *T {
	if no == 0 || no > v.length {
		panic("table: edit of a row that does not exist")
	}
	at := no - 1
	return &v.own(at).rows[at%pageRows]
}

// Append adds a zero row and returns its number and the row for writing.
func (v *Vector[T]) Append() (uint32, *T) {
	at := v.length
	if int(at/dirRows) == len(v.dirs) {
		// A published copy shares the slice's backing array up to its own
		// length only, so appending never reaches what a reader can see.
		v.dirs = append(v.dirs[:len(v.dirs):len(v.dirs)], nil)
	}
	v.length++
	return v.length, &v.own(at).rows[at%pageRows]
}

// own makes the page of position at writable: directory list, directory and
// page are each copied at most once per generation.
func (v *Vector[T]) own(at uint32) *page[T] {
	if v.frozen {
		panic("table: write to a published vector")
	}
	d := v.dirs[at/dirRows]
	switch {
	case d == nil:
		d = &directory[T]{gen: v.gen}
		v.dirs[at/dirRows] = d
	case d.gen != v.gen:
		dup := *d
		dup.gen = v.gen
		d = &dup
		v.dirs[at/dirRows] = d
	}
	slot := at % dirRows / pageRows
	p := d.pages[slot]
	switch {
	case p == nil:
		p = &page[T]{gen: v.gen}
		d.pages[slot] = p
	case p.gen != v.gen:
		dup := *p
		dup.gen = v.gen
		p = &dup
		d.pages[slot] = p
	}
	return p
}

// Publish returns an immutable copy. The copy costs one pointer per 2,048
// rows; pages are shared until the writer touches them.
func (v *Vector[T]) Publish() Vector[T] {
	copied := *v
	copied.frozen = true
	v.gen++
	v.dirs = append([]*directory[T](nil), v.dirs...)
	return copied
}
