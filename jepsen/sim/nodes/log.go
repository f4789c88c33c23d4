package nodes

import (
	"bytes"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// logOf is a node's whole log, block by block.
func logOf(node *cluster.Node) (log [][]byte, err error) {
	_, err = node.Log().ReadFrom(1, func(_ uint64, b *logging.Block) bool {
		log = append(log, bytes.Clone(b.Raw))
		return true
	})
	return log, err
}

// pointAfter is the chain's value at the end of a log.
func pointAfter(log [][]byte) logging.Point {
	verifier := logging.NewVerifier(logging.Genesis("default").Point)
	for _, raw := range log {
		if verifier.Feed(raw) != nil {
			return logging.Point{}
		}
	}
	return verifier.Point()
}
