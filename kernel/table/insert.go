package table

// insertion is one Set on its way down.
type insertion[K Key[K], V any] struct {
	gen   uint64
	key   K
	row   V
	added bool // the key was not there before
}

// into puts the row under c. A node that was full is split: right is its new
// neighbour and at the smallest key there. last tells that nothing in the table
// stands after c.
func (in *insertion[K, V]) into(c *child[K, V], last bool) (right child[K, V], at K, split bool) {
	if c.branch != nil {
		return in.intoBranch(c.ownBranch(in.gen), last)
	}
	return in.intoLeaf(c.ownLeaf(in.gen), last)
}

func (in *insertion[K, V]) intoLeaf(l *leaf[K, V], last bool) (right child[K, V], at K, split bool) {
	i, found := l.find(in.key)
	if found {
		l.rows[i] = in.row
		return right, at, false
	}
	in.added = true
	if l.count < fanOut {
		l.put(i, in.key, in.row)
		return right, at, false
	}
	from := splitAt(i, last)
	neighbour := &leaf[K, V]{gen: in.gen, count: fanOut - from}
	move(&neighbour.keys, &l.keys, fanOut, from)
	move(&neighbour.rows, &l.rows, fanOut, from)
	l.count = from
	if i < from {
		l.put(i, in.key, in.row)
	} else {
		neighbour.put(i-from, in.key, in.row)
	}
	return child[K, V]{leaf: neighbour}, neighbour.keys[0], true
}

func (in *insertion[K, V]) intoBranch(b *branch[K, V], last bool) (right child[K, V], at K, split bool) {
	i := b.find(in.key)
	kid, kidAt, kidSplit := in.into(&b.kids[i], last && i == b.count-1)
	if !kidSplit {
		return right, at, false
	}
	i++ // where the new neighbour stands
	if b.count < fanOut {
		b.put(i, kidAt, kid)
		return right, at, false
	}
	from := splitAt(i, last)
	neighbour := &branch[K, V]{gen: in.gen, count: fanOut - from}
	move(&neighbour.keys, &b.keys, fanOut, from)
	move(&neighbour.kids, &b.kids, fanOut, from)
	b.count = from
	if i < from {
		b.put(i, kidAt, kid)
	} else {
		neighbour.put(i-from, kidAt, kid)
	}
	return child[K, V]{branch: neighbour}, neighbour.keys[0], true
}

// splitAt says where a full node is split that gets one more item at i: in the
// middle, but at the end of the table only the new item goes, so that keys that
// ever grow fill their nodes.
func splitAt(i int, last bool) int {
	if last && i == fanOut {
		return fanOut
	}
	return fanOut / 2
}

func (l *leaf[K, V]) put(at int, key K, row V) {
	put(&l.keys, l.count, at, key)
	put(&l.rows, l.count, at, row)
	l.count++
}

func (b *branch[K, V]) put(at int, key K, kid child[K, V]) {
	put(&b.keys, b.count, at, key)
	put(&b.kids, b.count, at, kid)
	b.count++
}
