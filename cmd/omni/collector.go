package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A heap is collected when it has grown by its percentage of what is alive. For
// a small heap under load that is all the time, so up to heapFloor it may grow
// without being collected; from there on it is the runtime's own 100 percent,
// and a node of many agents takes no more memory than it would anyway.
const (
	heapFloor   = 112 << 20 // bytes, what is alive included
	leastGrowth = 100       // percent
	mostGrowth  = 800
	paceEvery   = time.Second
)

// paceCollector keeps to that while the process runs, unless whoever started it
// has set GOGC.
func paceCollector(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	go func() {
		tick := time.NewTicker(paceEvery)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		now := leastGrowth
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			metrics.Read(sample)
			live := sample[0].Value.Uint64()
			if live == 0 {
				continue // nothing was collected yet
			}
			if growth := growthFor(live); growth != now {
				debug.SetGCPercent(growth)
				now = growth
			}
		}
	}()
}

// growthFor is the percentage at which a heap of that many live bytes reaches
// heapFloor, within bounds, in steps of ten.
func growthFor(live uint64) int {
	growth := mostGrowth
	if live >= heapFloor {
		growth = leastGrowth
	} else if room := int((heapFloor - live) * 100 / live); room < growth {
		growth = max(room, leastGrowth)
	}
	return growth / 10 * 10
}
