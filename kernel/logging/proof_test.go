package logging

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// leaves are n digests, and treeOver the tree over them.
func leaves(n int) [][HashBytes]byte {
	out := make([][HashBytes]byte, n)
	for i := range out {
		out[i] = [HashBytes]byte{byte(i), byte(i >> 8), 7}
	}
	return out
}

func treeOver(digests [][HashBytes]byte) Tree {
	var t Tree
	for _, d := range digests {
		t = t.Append(d)
	}
	return t
}

// nodesOf computes inner nodes in the plainest way.
func nodesOf(digests [][HashBytes]byte) Nodes {
	var node Nodes
	node = func(height int, number uint64) ([HashBytes]byte, error) {
		if height == 0 {
			return digests[number], nil
		}
		left, _ := node(height-1, 2*number)
		right, _ := node(height-1, 2*number+1)
		return NodeOf(left, right), nil
	}
	return node
}

// Every leaf of every small tree has a proof that leads to the root, and with
// another digest, place or size it leads elsewhere or nowhere (LO-1).
func TestProofs(t *testing.T) {
	for size := 1; size <= 70; size++ {
		digests := leaves(size)
		root := treeOver(digests).Root()
		for leaf := range size {
			p, err := Prove(uint64(leaf), uint64(size), nodesOf(digests))
			require.NoError(t, err)
			got, ok := p.Root(digests[leaf])
			require.True(t, ok)
			require.Equal(t, root, got, "leaf %d of %d", leaf, size)
			got, ok = p.Root(digests[(leaf+1)%size])
			require.True(t, ok)
			require.Equal(t, size == 1, got == root, "another digest")
			for _, other := range []Proof{
				{Leaf: p.Leaf + 1, Size: p.Size}, {Leaf: p.Leaf ^ 1, Size: p.Size}, {Leaf: p.Leaf, Size: p.Size + 1}, {Leaf: p.Leaf, Size: p.Size - 1},
			} {
				if len(p.Path) == 0 && other.Leaf != p.Leaf {
					continue // the last leaf of an odd tree is its own peak
				}
				other.Before, other.Path, other.After = p.Before, p.Path, p.After
				got, ok := other.Root(digests[leaf])
				require.False(t, ok && got == root && other.Size == p.Size, "leaf %d of %d as %d of %d", leaf, size, other.Leaf, other.Size)
			}
		}
	}
}

// A proof is small: two hashes or so for each doubling of the log.
func TestProofsAreSmall(t *testing.T) {
	const size = 1 << 24
	nodes := func(height int, number uint64) ([HashBytes]byte, error) {
		return [HashBytes]byte{byte(height), byte(number)}, nil
	}
	for _, leaf := range []uint64{0, 1, size / 2, size - 2} {
		p, err := Prove(leaf, size-1, nodes)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(p.Path)+len(p.After), 2*24)
	}
}

func TestProofFailsWithItsNodes(t *testing.T) {
	broken := errors.New("disk")
	for fail := range 4 {
		calls := 0
		_, err := Prove(2, 15, func(int, uint64) ([HashBytes]byte, error) {
			calls++
			if calls > fail {
				return [HashBytes]byte{}, broken
			}
			return [HashBytes]byte{}, nil
		})
		require.ErrorIs(t, err, broken)
	}
	assert.Panics(t, func() { _, _ = Prove(3, 3, nil) })
}

// A tree is a value: what it was appended to stays what it was, and its peaks
// are all that must be kept of it.
func TestTreesAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 600).Draw(t, "leaves")
		digests := leaves(n + 1)
		tree := treeOver(digests[:n])
		before := tree.Root()
		one, two := tree.Append(digests[n]), tree.Append([HashBytes]byte{99})
		require.NotEqual(t, one.Root(), two.Root())
		require.Equal(t, before, tree.Root())
		kept := treeOf(tree.Size(), tree.peaks())
		require.Equal(t, tree, kept)
		require.Equal(t, one.Root(), kept.Append(digests[n]).Root())
	})
}

// The roots are a format: these were computed by another program.
func TestTreeGolden(t *testing.T) {
	for size, want := range map[int]string{
		0: "0000000000000000", 1: "5b9782b8ea84952f", 2: "1fb442fc23f10962", 3: "d7c4191e4ca8261d", 7: "b2584365edb57135",
	} {
		root := treeOver(leaves(size)).Root()
		assert.Equal(t, want, fmt.Sprintf("%x", root[:8]), "%d leaves", size)
	}
}
