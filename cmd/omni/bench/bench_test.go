package bench

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/transport/client"
)

// Benchmarks of real clusters are transcripts in cmd/omni/testdata/cluster. Here
// is how they count, in virtual time.

func options(t *testing.T, clients int) Options {
	c, err := client.New([]string{"http://127.0.0.1:1"}, client.Options{}) // is never asked
	assert.NoError(t, err)
	return Options{Client: c, Clients: clients, Duration: time.Second, Warmup: 500 * time.Millisecond}
}

// Throughput is what ended in the window. What was under way when it opened
// makes up for what was when it closed: 300 ms an operation and 10 clients are
// 33.3 a second, whatever the edges.
func TestThroughputIsWhatEndedInTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, 10)
		o.Duration = 9 * time.Second
		workers := o.measure(t.Context(), func(context.Context, *worker, int) (uint64, error) {
			time.Sleep(300 * time.Millisecond)
			return 1, nil
		})
		r := o.result("sleep", workers)
		assert.Equal(t, uint64(300), r.Count)
		assert.InDelta(t, 33.33, r.PerSecond, 0.01)
		assert.InDelta(t, 300, r.P50Millis, 3)
		assert.InDelta(t, 300, r.MaxMillis, 0.001)
		assert.Equal(t, ExpectedInterval, r.Correction)
	})
}

// A stall that begins in the window counts, though it ends after it, and for
// all that it kept from being asked.
func TestAStallIsNotHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, 1)
		begun := time.Now()
		run := func(context.Context, *worker, int) (uint64, error) {
			if time.Since(begun) >= 1400*time.Millisecond {
				time.Sleep(time.Second)
			}
			time.Sleep(time.Millisecond)
			return 1, nil
		}
		closed := o.result("stall", o.measure(t.Context(), run))
		assert.Equal(t, uint64(901), closed.Count)
		assert.InDelta(t, 1001, closed.MaxMillis, 0.001)
		// 900 answers of 1 ms were seen; 1,000 more would have been asked for
		// during the stall. So the median is in it, by 50 of 1,900.
		assert.InDelta(t, 50, closed.P50Millis, 5)
		assert.Greater(t, closed.P99Millis, 900.0)

		begun = time.Now()
		o.Rate = 500
		open := o.result("stall", o.measure(t.Context(), run))
		assert.Equal(t, OpenLoop, open.Correction)
		assert.Equal(t, uint64(450), open.Count)
		assert.Greater(t, open.MaxMillis, 1000.0)
	})
}

func TestErrorsAreInNoOtherFigure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, 1)
		broken := errors.New("broken")
		workers := o.measure(t.Context(), func(_ context.Context, _ *worker, n int) (uint64, error) {
			time.Sleep(10 * time.Millisecond)
			if n%2 == 0 {
				return 0, broken
			}
			return 1, nil
		})
		r := o.result("half", workers)
		assert.Equal(t, uint64(50), r.Count)
		assert.Equal(t, uint64(50), r.Errors)
		assert.Equal(t, "broken", r.First)
		assert.InDelta(t, 10, r.MaxMillis, 0.001)
	})
}

// A batch is many operations of one duration.
func TestABatchCountsItsCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, 2)
		o.Batch, o.Rate = 64, 640
		r := o.result("batch", o.measure(t.Context(), func(context.Context, *worker, int) (uint64, error) {
			time.Sleep(5 * time.Millisecond)
			return 64, nil
		}))
		assert.Equal(t, uint64(640), r.Count)
		assert.InDelta(t, 5, r.P99Millis, 0.1)
	})
}

func TestAnInterruptedOperationIsNeither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 800*time.Millisecond)
		defer cancel()
		r := o.result("interrupted", o.measure(ctx, func(ctx context.Context, _ *worker, _ int) (uint64, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}))
		assert.Zero(t, r.Count)
		assert.Zero(t, r.Errors)
	})
}

func TestEndsOfInstructionsFindTheirWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnds()
		failed := errors.New("failed")
		e.end("early", failed)
		assert.Equal(t, failed, e.await(t.Context(), "early"))
		go func() {
			time.Sleep(time.Second)
			e.end("late", nil)
		}()
		begun := time.Now()
		assert.NoError(t, e.await(t.Context(), "late"))
		assert.Equal(t, time.Second, time.Since(begun))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, e.await(ctx, "never"), context.DeadlineExceeded)
		go func() {
			time.Sleep(time.Second)
			e.close(failed)
		}()
		assert.Equal(t, failed, e.await(t.Context(), "cut off"))
		assert.Equal(t, failed, e.await(t.Context(), "too late"))
	})
}
