package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const mib = 1 << 20

// fetched is how many bytes may be fetched in a time, chunk by chunk.
func fetched(ctx context.Context, p *pace, chunk int, during time.Duration) (bytes uint64) {
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	for p.take(ctx, chunk) {
		bytes += uint64(chunk)
		time.Sleep(time.Millisecond) // what a chunk costs at least
	}
	return bytes
}

// Beside commands the rate is kept, without them there is none; a change is
// noticed at once, and what was not used meanwhile is not spent at once.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Bool
		busy.Store(true)
		p := &pace{beside: 8 * mib, working: busy.Load}
		for _, chunk := range []int{mib, 64 << 10} {
			require.InEpsilon(t, 80*mib, fetched(t.Context(), p, chunk, 10*time.Second), 0.03)
		}
		time.Sleep(time.Hour)
		require.LessOrEqual(t, fetched(t.Context(), p, 64<<10, time.Second), uint64(9*mib))

		go func() {
			time.Sleep(500 * time.Millisecond)
			busy.Store(false)
		}()
		require.Greater(t, fetched(t.Context(), p, mib, time.Second), uint64(400*mib), "a chunk a millisecond, half of the time")
		busy.Store(true)
		require.LessOrEqual(t, fetched(t.Context(), p, mib, time.Second), uint64(9*mib))
		p.most = 2 * mib
		require.InEpsilon(t, 20*mib, fetched(t.Context(), p, mib, 10*time.Second), 0.1)
		busy.Store(false)
		require.InEpsilon(t, 20*mib, fetched(t.Context(), p, mib, 10*time.Second), 0.1)
	})
}

// What counts as commands under way: entries that come, or that wait.
func TestLoadMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last, commit uint64 = 7, 7
		open := 0
		m := loadMeter{look: func() (uint64, uint64, int) { return last, commit, open }}
		require.True(t, m.working(), "it has just begun to look")
		time.Sleep(loadLasts)
		require.False(t, m.working())
		last = 8
		require.True(t, m.working(), "an entry waits")
		time.Sleep(time.Minute)
		require.True(t, m.working(), "it still waits")
		commit = 8
		require.False(t, m.working())
		open = 1
		require.True(t, m.working(), "a command waits")
		open = 0
		for range 20 {
			last, commit = last+1, commit+1
			time.Sleep(loadLasts / 2)
			require.True(t, m.working(), "they come steadily")
		}
	})
}

// Several who take share one rate.
func TestSharedPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSharedPace(pace{beside: 8 * mib, working: func() bool { return true }})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var taking sync.WaitGroup
		var taken [3]int
		for i := range taken {
			taking.Go(func() {
				for p.take(ctx, 64<<10) {
					taken[i] += 64 << 10
					time.Sleep(time.Millisecond)
				}
			})
		}
		taking.Wait()
		require.InEpsilon(t, 80*mib, taken[0]+taken[1]+taken[2], 0.03)
		for _, one := range taken {
			require.Greater(t, one, 20*mib, "nobody is left out")
		}
	})
}
