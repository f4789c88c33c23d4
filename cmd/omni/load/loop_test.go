package load

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// Virtual time: what is due when is exact.
func TestOpenLoopKeepsItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 999*time.Millisecond)
		defer cancel()
		start := time.Now()
		var mu sync.Mutex
		var late []time.Duration
		due := map[time.Duration]bool{}
		Open(ctx, 10*time.Millisecond, 4, func(_ int, at time.Time) {
			mu.Lock()
			defer mu.Unlock()
			late = append(late, time.Since(at))
			due[at.Sub(start)] = true
		})
		assert.Len(t, late, 100)
		for i := range 100 {
			assert.True(t, due[time.Duration(i)*10*time.Millisecond], i)
			assert.Zero(t, late[i])
		}
	})
}

// A stall of the system under test delays what follows, and each is late by as
// much as it really was: nothing is left out.
func TestOpenLoopDoesNotHideAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1999*time.Millisecond)
		defer cancel()
		start := time.Now()
		stalled, over := start.Add(500*time.Millisecond), start.Add(1500*time.Millisecond)
		var mu sync.Mutex
		var h Histogram
		Open(ctx, 10*time.Millisecond, 4, func(_ int, due time.Time) {
			if now := time.Now(); !now.Before(stalled) && now.Before(over) {
				time.Sleep(over.Sub(now))
			}
			mu.Lock()
			defer mu.Unlock()
			h.Record(time.Since(due))
		})
		assert.Equal(t, uint64(200), h.Count())
		assert.Equal(t, time.Second, h.Max())
		// A closed loop of 4 would have seen 4 of 104 answers late.
		assert.InEpsilon(t, 500*time.Millisecond, h.Quantile(0.75), 0.01)
	})
}

func TestOpenLoopEndsWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		var ran atomic.Int64
		Open(ctx, time.Hour, 2, func(int, time.Time) { ran.Add(1) })
		assert.Equal(t, int64(1), ran.Load(), "the first is due at once")
		assert.Equal(t, time.Second, time.Since(start))
	})
}

// What was begun is finished, though the time is over.
func TestLoopsFinishWhatTheyBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, loop := range map[string]func(context.Context, func()){
			"open":   func(ctx context.Context, run func()) { Open(ctx, time.Minute, 1, func(int, time.Time) { run() }) },
			"closed": func(ctx context.Context, run func()) { Closed(ctx, 1, func(int) { run() }) },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			ended := 0
			loop(ctx, func() { time.Sleep(3 * time.Second); ended++ })
			cancel()
			assert.Equal(t, 1, ended, name)
		}
	})
}

func TestClosedLoopAsksAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Millisecond)
		defer cancel()
		var counts [3]int
		Closed(ctx, 3, func(worker int) { time.Sleep(10 * time.Millisecond); counts[worker]++ })
		assert.Equal(t, [3]int{10, 10, 10}, counts)
	})
}
