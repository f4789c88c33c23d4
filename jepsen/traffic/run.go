package traffic

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// Load is how many workers a workload has.
type Load struct {
	Workload Workload
	Workers  int
}

// Pace is how fast traffic is. The zero value is as fast as answers come.
type Pace struct {
	Rate  int           // operations a second, of all workers together; 0 is no bound
	Think time.Duration // of a worker, on average, after each Work
}

// Run lets the workers work until ctx ends, and returns when the last of them has
// settled what it had asked for: at most a few times Patience later. Setup was
// called before.
func Run(ctx context.Context, e *Env, pace Pace, loads ...Load) {
	var all sync.WaitGroup
	p := newPacer(pace.Rate)
	for _, load := range loads {
		for number := range load.Workers {
			w := e.worker(load, number)
			all.Go(func() { w.run(ctx, load.Workload, p, pace.Think) })
		}
	}
	all.Wait()
}

func (e *Env) worker(load Load, number int) *Worker {
	return e.named(load.Workload.Name(), load.Workers, number)
}

func (e *Env) named(name string, workers, number int) *Worker {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name)) // a hash takes everything
	return &Worker{
		Env: e, Workload: name, Number: number, Workers: workers, Process: e.Process(), Client: e.Client.Fork(),
		Dice: rand.New(rand.NewPCG(e.Seed, sum.Sum64()+uint64(number))),
	}
}

func (w *Worker) run(ctx context.Context, workload Workload, p *pacer, think time.Duration) {
	for p.take(ctx) {
		before := w.calls
		workload.Work(ctx, w)
		p.more(w.calls - before - 1)
		if think > 0 && !pause(ctx, time.Duration(w.Dice.ExpFloat64()*float64(think))) {
			return
		}
	}
}

// pause waits; false when ctx ends meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Pause waits, as a worker does that has nothing to do for a while; false when ctx
// ends meanwhile.
func (w *Worker) Pause(ctx context.Context, d time.Duration) bool { return pause(ctx, d) }

// Within bounds one operation: the end of the traffic does not cut it off, so that
// no outcome is unknown for that reason.
func (w *Worker) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), Patience)
}
