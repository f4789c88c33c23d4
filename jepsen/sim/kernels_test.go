package sim

import (
	"flag"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/sim/kernels"
)

var (
	seed   = flag.Uint64("seed", 0, "the one seed to run; 0: from 1 on")
	seeds  = flag.Int("seeds", 0, "how many seeds of kernels to run; 0: a quick number")
	events = flag.Int("events", 500, "events of a seed's log, in the simulation of kernels")
	faults = flag.Duration("faults", 20*time.Second, "how long faults come, virtual, in the simulation of nodes")
	shrink = flag.Duration("shrink", 20*time.Second, "how long to look for a shorter failure")
)

// quickSeeds of kernels take a few seconds.
const quickSeeds = 12

// TestKernels: whatever is late, lost, torn or repeated, replicas of one log
// agree on every block and every state; and when the faults end, everyone
// catches up and everything that waits comes to its end (EV-1, LO-1 … LO-3, LC-12).
func TestKernels(t *testing.T) {
	from, count := uint64(1), quickSeeds
	if *seeds > 0 {
		count = *seeds
	}
	if *seed > 0 {
		from, count = *seed, 1
	}
	var sum kernels.Stats
	began := time.Now()
	for s := from; s < from+uint64(count); s++ {
		stats, failure := kernels.Run(kernels.Options{Seed: s, Replicas: 3 + 2*int(s%2), Events: *events})
		if failure != nil {
			t.Log(failure)
			t.Fatal(kernels.Shrink(failure, *shrink))
		}
		sum.Add(stats)
	}
	t.Logf("seeds %d to %d in %v: %+v", from, from+uint64(count)-1, time.Since(began).Round(time.Millisecond), sum)
}
