//go:build long

package sim

import (
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/sim/nodes"
)

// TestManyNodes is TestNodes with other seeds, for longer each.
func TestManyNodes(t *testing.T) {
	for s := uint64(1000); s < 1100; s++ {
		simulate(t, nodes.Options{Seed: s, Nodes: 3 + 2*int(s%2), Faults: time.Minute})
	}
}
