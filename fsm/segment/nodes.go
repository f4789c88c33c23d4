package segment

import (
	"math/bits"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// hash is a digest, or an inner node of the tree over the log's blocks.
type hash = [logging.HashBytes]byte

// maxNodeHeight is the height of the largest nodes that a sidecar keeps: 2^10
// leaves are read in no time, and the nodes of a segment stay a few KiB.
const maxNodeHeight = 10

// nextNode is the largest perfect tree of the log's that begins with the leaf
// from, has at most 2^maxNodeHeight leaves, and ends before the leaf to.
func nextNode(from, to uint64) (height int) {
	height = min(bits.TrailingZeros64(from), maxNodeHeight) // 64 for the first leaf
	for uint64(1)<<height > to-from {
		height--
	}
	return height
}

// appendNodes writes the nodes over the digests of consecutive blocks, the
// first of which is the leaf of that number.
func appendNodes(dst []byte, first uint64, digests []hash) []byte {
	for from, end := first, first+uint64(len(digests)); from < end; {
		height := nextNode(from, end)
		node := nodeOver(digests[from-first : from-first+1<<height])
		dst = append(dst, node[:]...)
		from += 1 << height
	}
	return dst
}

// nodeOver is the root of the perfect tree over the digests, whose number is a
// power of two.
func nodeOver(digests []hash) hash {
	if len(digests) == 1 {
		return digests[0]
	}
	half := len(digests) / 2
	return logging.NodeOf(nodeOver(digests[:half]), nodeOver(digests[half:]))
}

// node finds one of a segment's nodes, whose blocks are the leaves from first up
// to end; false when it is not one of them.
func (x *index) node(first, end uint64, height int, number uint64) (node hash, ok bool) {
	for from, at := first, 0; from < end && at+logging.HashBytes <= len(x.nodes); at += logging.HashBytes {
		h := nextNode(from, end)
		if from == number<<height && h == height {
			return hash(x.nodes[at:]), true
		}
		from += 1 << h
	}
	return node, false
}
