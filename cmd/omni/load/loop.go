package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Open runs an open loop: arrival number i is due at start + i·interval,
// whatever became of those before it. Each of the workers takes the next
// arrival, waits until it is due and runs it. An arrival that finds no free
// worker begins late; its latency still counts from when it was due, so a stall
// is not hidden (coordinated omission). Open returns when ctx has ended and
// every operation that was begun has returned: the end of ctx is not to cut
// them short.
func Open(ctx context.Context, interval time.Duration, workers int, run func(worker int, due time.Time)) {
	start := time.Now()
	var next atomic.Int64
	each(workers, func(worker int) {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			due := start.Add(time.Duration(next.Add(1)-1) * interval)
			timer.Reset(time.Until(due))
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			if ctx.Err() != nil {
				return
			}
			run(worker, due)
		}
	})
}

// Closed runs a closed loop: each worker begins its next operation when the
// last one returned, until ctx ends. It finds the most that a system does with
// so many clients; its latencies need Histogram.Corrected.
func Closed(ctx context.Context, workers int, run func(worker int)) {
	each(workers, func(worker int) {
		for ctx.Err() == nil {
			run(worker)
		}
	})
}

// each runs a function on so many goroutines and waits for all.
func each(workers int, run func(worker int)) {
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() { run(worker) })
	}
	group.Wait()
}
