package table

// remove takes a key that is there out from under c.
func (c *child[K, V]) remove(gen uint64, key K) {
	if c.branch == nil {
		l := c.ownLeaf(gen)
		at, _ := l.find(key)
		l.drop(at)
		return
	}
	b := c.ownBranch(gen)
	at := b.find(key)
	b.kids[at].remove(gen, key)
	switch left := b.kids[at].count(); {
	case left == 0:
		b.drop(at)
	case left <= sparse:
		b.mergeAround(gen, at)
	}
}

// mergeAround joins a sparse child with a neighbour, if both fit into one node.
func (b *branch[K, V]) mergeAround(gen uint64, at int) {
	for _, left := range [...]int{at - 1, at} {
		right := left + 1
		if left >= 0 && right < b.count && b.kids[left].count()+b.kids[right].count() <= fanOut {
			b.merge(gen, left)
			return
		}
	}
}

// merge moves what is under a child into the neighbour before it.
func (b *branch[K, V]) merge(gen uint64, left int) {
	from := b.kids[left+1]
	if from.leaf != nil {
		into := b.kids[left].ownLeaf(gen)
		copy(into.keys[into.count:], from.leaf.keys[:from.leaf.count])
		copy(into.rows[into.count:], from.leaf.rows[:from.leaf.count])
		into.count += from.leaf.count
	} else {
		into := b.kids[left].ownBranch(gen)
		copy(into.keys[into.count:], from.branch.keys[:from.branch.count])
		copy(into.kids[into.count:], from.branch.kids[:from.branch.count])
		into.keys[into.count] = b.keys[left+1] // a branch's first key means nothing: this one does
		into.count += from.branch.count
	}
	b.drop(left + 1)
}

func (l *leaf[K, V]) drop(at int) {
	drop(&l.keys, l.count, at)
	drop(&l.rows, l.count, at)
	l.count--
}

func (b *branch[K, V]) drop(at int) {
	drop(&b.keys, b.count, at)
	drop(&b.kids, b.count, at)
	b.count--
}
