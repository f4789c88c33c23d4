package logging

import (
	"crypto/sha256"
	"math/bits"
)

// Tree is a Merkle mountain range over the digests of the log's blocks, in
// order: a row of perfect binary trees, the highest first, one for each bit of
// the number of leaves. It commits to the whole log in one root, of which a
// block's place can be proven with a few dozen hashes (Crosby and Wallach,
// "Efficient Data Structures for Tamper-Evident Logging", 2009).
//
// A tree is an immutable value: Append gives another one and shares what did
// not change. The zero value is the tree without leaves.
type Tree struct {
	size uint64
	last *peak // the lowest peak; the higher ones hang on it
}

// peak is one perfect tree of 2^height leaves.
type peak struct {
	height uint8
	root   [HashBytes]byte
	left   *peak // the next higher one; nil for the highest
}

// Prefixes keep an inner node, a root and a block's digest apart: a digest is
// over bytes that begin with the block's format, which is none of these.
const (
	nodePrefix = 'N'
	rootPrefix = 'R'
)

// NodeOf is the inner node over two subtrees of equal height.
func NodeOf(left, right [HashBytes]byte) [HashBytes]byte { return hashOf(nodePrefix, &left, &right) }

func hashOf(prefix byte, left, right *[HashBytes]byte) [HashBytes]byte {
	var both [1 + 2*HashBytes]byte
	both[0] = prefix
	copy(both[1:], left[:])
	copy(both[1+HashBytes:], right[:])
	return sha256.Sum256(both[:])
}

// Size is the number of leaves.
func (t Tree) Size() uint64 { return t.size }

// Append gives the tree with one leaf more. It hashes once on the average.
func (t Tree) Append(digest [HashBytes]byte) Tree {
	root, left, height := digest, t.last, uint8(0)
	for left != nil && left.height == height {
		root = NodeOf(left.root, root)
		left = left.left
		height++
	}
	return Tree{size: t.size + 1, last: &peak{height: height, root: root, left: left}}
}

// Root commits to the leaves and their number. Peaks are taken in from the
// highest on: a proof needs one hash for all that lie before the leaf's own.
func (t Tree) Root() [HashBytes]byte {
	root := emptyRoot(t.size)
	for _, p := range t.peaks() {
		root = hashOf(rootPrefix, &root, &p)
	}
	return root
}

// emptyRoot is what the peaks are taken into: the number of leaves is part of
// the root.
func emptyRoot(size uint64) (root [HashBytes]byte) {
	for i := range 8 {
		root[i] = byte(size >> (8 * i))
	}
	return root
}

// peaks lists the roots, the highest first.
func (t Tree) peaks() [][HashBytes]byte {
	roots := make([][HashBytes]byte, bits.OnesCount64(t.size))
	i := len(roots)
	for p := t.last; p != nil; p = p.left {
		i--
		roots[i] = p.root
	}
	return roots
}

// treeOf puts a tree together from its size and its peaks, as many as the size
// has bits.
func treeOf(size uint64, roots [][HashBytes]byte) Tree {
	t := Tree{size: size}
	for rest := size; rest != 0; {
		height := 63 - bits.LeadingZeros64(rest)
		t.last = &peak{height: uint8(height), root: roots[0], left: t.last}
		roots = roots[1:]
		rest &^= 1 << height
	}
	return t
}
