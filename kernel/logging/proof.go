package logging

import "math/bits"

// Proof shows that a block is a leaf of a tree: with the block's digest it
// gives the tree's root, and with any other digest, place or size another one.
type Proof struct {
	Leaf uint64 // number of the block in the log, from 0
	Size uint64 // leaves of the tree

	Before [HashBytes]byte   // root over the size and the peaks before the leaf's own
	Path   [][HashBytes]byte // siblings, from the leaf up to its peak
	After  [][HashBytes]byte // the peaks after the leaf's own, the highest first
}

// place says in which peak of a tree of that size a leaf lies.
type place struct {
	start  uint64 // the peak's first leaf
	height int
	after  int // peaks after it
}

// placeOf finds a leaf; false when the tree does not have it.
func placeOf(leaf, size uint64) (place, bool) {
	if leaf >= size {
		return place{}, false
	}
	start := uint64(0)
	for rest := size; ; {
		height := 63 - bits.LeadingZeros64(rest)
		rest &^= 1 << height
		if leaf-start < 1<<height {
			return place{start: start, height: height, after: bits.OnesCount64(rest)}, true
		}
		start += 1 << height
	}
}

// Root gives the root that the proof leads to from the digest of a block; false
// when its parts do not fit its numbers.
func (p *Proof) Root(digest [HashBytes]byte) (root [HashBytes]byte, ok bool) {
	at, ok := placeOf(p.Leaf, p.Size)
	if !ok || len(p.Path) != at.height || len(p.After) != at.after {
		return root, false
	}
	node := digest
	for height, sibling := range p.Path {
		if p.Leaf>>height&1 == 0 {
			node = NodeOf(node, sibling)
		} else {
			node = NodeOf(sibling, node)
		}
	}
	root = hashOf(rootPrefix, &p.Before, &node)
	for i := range p.After {
		root = hashOf(rootPrefix, &root, &p.After[i])
	}
	return root, true
}

// Nodes gives inner nodes of the tree: the root over the 2^height leaves that
// begin at number<<height, all of which are there. Height 0 is a block's digest.
type Nodes func(height int, number uint64) ([HashBytes]byte, error)

// Prove makes the proof of a leaf for the tree of that size. A leaf that is not
// below size is the caller's error and panics.
func Prove(leaf, size uint64, nodes Nodes) (Proof, error) {
	at, ok := placeOf(leaf, size)
	if !ok {
		panic("logging: proof of a leaf that the tree does not have")
	}
	p := Proof{Leaf: leaf, Size: size, Before: emptyRoot(size), Path: make([][HashBytes]byte, at.height)}
	for height := range p.Path {
		sibling, err := nodes(height, leaf>>height^1)
		if err != nil {
			return Proof{}, err
		}
		p.Path[height] = sibling
	}
	for start, rest := uint64(0), size; rest != 0; {
		height := 63 - bits.LeadingZeros64(rest)
		rest &^= 1 << height
		if start != at.start {
			peak, err := nodes(height, start>>height)
			if err != nil {
				return Proof{}, err
			}
			if start < at.start {
				p.Before = hashOf(rootPrefix, &p.Before, &peak)
			} else {
				p.After = append(p.After, peak)
			}
		}
		start += 1 << height
	}
	return p, nil
}
