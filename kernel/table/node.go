package table

import "slices"

// fanOut is how many rows a leaf and how many children a branch holds at most.
// A write after a publication copies one node per level: small nodes keep that
// short, and seven levels hold a million rows.
const fanOut = 8

// sparse is the count at which a node looks for a neighbour to merge with.
const sparse = fanOut / 4

// child is one node, of either kind. All leaves are equally deep.
type child[K Key[K], V any] struct {
	leaf   *leaf[K, V]
	branch *branch[K, V]
}

// leaf holds rows in order of their keys.
type leaf[K Key[K], V any] struct {
	gen   uint64
	count int
	keys  [fanOut]K
	rows  [fanOut]V
}

// branch holds nodes in order. keys[i] is at most the smallest key under
// kids[i] and above every key before it; keys[0] means nothing.
type branch[K Key[K], V any] struct {
	gen   uint64
	count int
	keys  [fanOut]K
	kids  [fanOut]child[K, V]
}

// find returns the place where a key is, or where it would stand.
func (l *leaf[K, V]) find(key K) (at int, found bool) {
	return slices.BinarySearchFunc(l.keys[:l.count], key, K.Compare)
}

// find returns the place of the child under which a key is, or would be.
func (b *branch[K, V]) find(key K) int {
	at, found := slices.BinarySearchFunc(b.keys[1:b.count], key, K.Compare)
	if found {
		at++
	}
	return at
}

func (c child[K, V]) count() int {
	if c.branch != nil {
		return c.branch.count
	}
	return c.leaf.count
}

func (c child[K, V]) all(yield func(K, V) bool) bool {
	switch {
	case c.branch != nil:
		for _, kid := range c.branch.kids[:c.branch.count] {
			if !kid.all(yield) {
				return false
			}
		}
	case c.leaf != nil:
		return c.leaf.yield(0, yield)
	}
	return true
}

func (c child[K, V]) from(key K, yield func(K, V) bool) bool {
	switch {
	case c.branch != nil:
		at := c.branch.find(key)
		if !c.branch.kids[at].from(key, yield) {
			return false
		}
		for _, kid := range c.branch.kids[at+1 : c.branch.count] {
			if !kid.all(yield) {
				return false
			}
		}
	case c.leaf != nil:
		at, _ := c.leaf.find(key)
		return c.leaf.yield(at, yield)
	}
	return true
}

func (l *leaf[K, V]) yield(at int, yield func(K, V) bool) bool {
	for ; at < l.count; at++ {
		if !yield(l.keys[at], l.rows[at]) {
			return false
		}
	}
	return true
}

// ownLeaf makes the node, a leaf, the writer's own.
func (c *child[K, V]) ownLeaf(gen uint64) *leaf[K, V] {
	if c.leaf.gen != gen {
		dup := *c.leaf
		dup.gen = gen
		c.leaf = &dup
	}
	return c.leaf
}

// ownBranch makes the node, a branch, the writer's own.
func (c *child[K, V]) ownBranch(gen uint64) *branch[K, V] {
	if c.branch.gen != gen {
		dup := *c.branch
		dup.gen = gen
		c.branch = &dup
	}
	return c.branch
}

// put makes room at a place among the first count items and fills it.
func put[T any](items *[fanOut]T, count, at int, item T) {
	copy(items[at+1:count+1], items[at:count])
	items[at] = item
}

// drop closes the gap that an item leaves among the first count.
func drop[T any](items *[fanOut]T, count, at int) {
	copy(items[at:count-1], items[at+1:count])
	clear(items[count-1 : count])
}

// move takes what stands from a place on to the front of another node.
func move[T any](to, from *[fanOut]T, count, at int) {
	copy(to[:], from[at:count])
	clear(from[at:count])
}
