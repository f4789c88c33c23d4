package bench

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/transport/client"
)

// worker is one client's share.
type worker struct {
	place   int // among the workers, from 0
	client  *client.Client
	latency load.Histogram // of what began in the window
	count   uint64         // what ended in the window
	errors  uint64
	first   error
}

// operation does one thing and says how many operations that was. n is its
// number, the same for no other.
type operation func(ctx context.Context, w *worker, n int) (uint64, error)

// window is the time that is measured.
type window struct{ from, to time.Time }

func (w window) has(t time.Time) bool { return !t.Before(w.from) && t.Before(w.to) }

// measure runs an operation on all clients, for the warm-up and then for the
// window, without a break between them: what is under way when the window opens
// makes up for what is under way when it closes. Throughput is what ended in
// the window, latency is of what began in it, even if it ended later.
func (o *Options) measure(ctx context.Context, run operation) []*worker {
	workers := make([]*worker, o.Clients)
	for i := range workers {
		workers[i] = &worker{place: i, client: o.Client.Fork()}
	}
	from := time.Now().Add(o.Warmup)
	measured := window{from, from.Add(o.Duration)}
	var number atomic.Int64
	loop, end := context.WithDeadline(ctx, measured.to)
	defer end()
	o.loop(loop, func(place int, begun time.Time) {
		w := workers[place]
		count, err := run(ctx, w, int(number.Add(1)))
		if ctx.Err() == nil { // an interrupted operation is neither
			w.enter(measured, begun, count, err)
		}
	})
	return workers
}

// enter takes the end of an operation into the books.
func (w *worker) enter(measured window, begun time.Time, count uint64, err error) {
	ended := time.Now()
	if err != nil {
		w.fail(measured.has(ended), 1, err)
		return
	}
	if measured.has(ended) {
		w.count += count
	}
	if measured.has(begun) {
		w.latency.RecordN(ended.Sub(begun), count)
	}
}

func (w *worker) fail(counts bool, n uint64, err error) {
	if counts {
		w.errors += n
	}
	if w.first == nil {
		w.first = err
	}
}

// loop runs the loop that the options ask for.
func (o *Options) loop(ctx context.Context, one func(place int, begun time.Time)) {
	if o.Rate > 0 {
		interval := time.Duration(float64(time.Second) / o.Rate * float64(max(o.Batch, 1)))
		load.Open(ctx, interval, o.Clients, one)
		return
	}
	load.Closed(ctx, o.Clients, func(place int) { one(place, time.Now()) })
}
