package sim

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/sim/nodes"
)

// quickNodes is how many seeds of nodes the quick version runs.
const quickNodes = 8

// TestNodes: whatever becomes of the network, the disks, the clocks and the
// processes, clients were told the truth, one order of everything is on all
// nodes, and when the faults end everyone catches up (CL-2 … CL-4, TO-4, TO-5,
// LO-3).
func TestNodes(t *testing.T) {
	from, count := uint64(1), quickNodes
	if *seeds > 0 {
		count = *seeds
	}
	if *seed > 0 {
		from, count = *seed, 1
	}
	for s := from; s < from+uint64(count); s++ {
		simulate(t, nodes.Options{Seed: s, Nodes: 3 + 2*int(s%4/3), Faults: *faults})
	}
}

func simulate(t *testing.T, o nodes.Options) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "nodes")
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = dir
	var out *nodes.Outcome
	began := time.Now()
	if left := inBubble(t, func() { out = nodes.Run(o) }); left > 0 {
		t.Logf("the library left %d goroutines behind", left)
	}
	took := time.Since(began).Round(time.Millisecond)
	if err := nodes.Check(out); err != nil {
		t.Fatalf("BROKEN: seed %d, %d nodes: %v\nsimilar: go test ./jepsen/sim -run TestNodes -seed %d\nwhat happened:\n  %s",
			o.Seed, o.Nodes, err, o.Seed, strings.Join(out.Trace, "\n  "))
	}
	t.Logf("seed %d, %d nodes, in %v: %s", o.Seed, o.Nodes, took, out.Summary())
}
