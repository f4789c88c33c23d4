package table

// Key orders the rows of a Sorted table. Compare is negative when the receiver
// stands before the other, zero when they are the same key, positive after it.
type Key[K any] interface {
	Compare(other K) int
}

// Sorted is an ordered, copy-on-write map: a B+ tree whose rows stand in its
// leaves. The zero value is empty and ready for use. Copies made by Publish are
// read-only; calling Set or Delete on one is a bug and panics. The shape of the
// tree depends on its history, what can be read from it does not.
type Sorted[K Key[K], V any] struct {
	root   child[K, V]
	length int
	gen    uint64 // nodes with this generation belong to the writer alone
	frozen bool
}

// Len is the number of rows.
func (s *Sorted[K, V]) Len() int { return s.length }

// Get returns the row of a key.
func (s *Sorted[K, V]) Get(key K) (row V, ok bool) {
	at := s.root
	for at.branch != nil {
		at = at.branch.kids[at.branch.find(key)]
	}
	if at.leaf == nil {
		return row, false
	}
	i, found := at.leaf.find(key)
	if !found {
		return row, false
	}
	return at.leaf.rows[i], true
}

// First returns the row with the smallest key.
func (s *Sorted[K, V]) First() (key K, row V, ok bool) {
	at := s.root
	for at.branch != nil {
		at = at.branch.kids[0]
	}
	if at.leaf == nil || at.leaf.count == 0 {
		return key, row, false
	}
	return at.leaf.keys[0], at.leaf.rows[0], true
}

// All yields every row in order, until yield answers false.
func (s *Sorted[K, V]) All(yield func(K, V) bool) { s.root.all(yield) }

// From yields the rows whose keys are not before key, in order, until yield
// answers false.
func (s *Sorted[K, V]) From(key K, yield func(K, V) bool) { s.root.from(key, yield) }

// Set gives a key its row, new or in the place of the one it has.
func (s *Sorted[K, V]) Set(key K, row V) {
	s.write()
	if s.root == (child[K, V]{}) {
		s.root.leaf = &leaf[K, V]{gen: s.gen}
	}
	in := insertion[K, V]{gen: s.gen, key: key, row: row}
	right, at, split := in.into(&s.root, true)
	if split {
		root := &branch[K, V]{gen: s.gen, count: 2}
		root.kids[0], root.kids[1], root.keys[1] = s.root, right, at
		s.root = child[K, V]{branch: root}
	}
	if in.added {
		s.length++
	}
}

// Delete removes a key and its row, and tells whether there was one.
func (s *Sorted[K, V]) Delete(key K) bool {
	s.write()
	if _, ok := s.Get(key); !ok {
		return false
	}
	s.root.remove(s.gen, key)
	for s.root.branch != nil && s.root.branch.count == 1 {
		s.root = s.root.branch.kids[0]
	}
	s.length--
	return true
}

// Publish returns an immutable copy, in constant time and without allocating.
// Nodes are shared until the writer touches them, and those that it does not
// touch cost nothing.
func (s *Sorted[K, V]) Publish() Sorted[K, V] {
	copied := *s
	copied.frozen = true
	s.gen++
	return copied
}

func (s *Sorted[K, V]) write() {
	if s.frozen {
		panic("table: write to a published table")
	}
}
