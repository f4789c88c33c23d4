//go:build root

package lab_test

import (
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Commands of 32 writers to three nodes in a lab: how many a second, and what each
// costs this program, which is the client and the switch.
func BenchmarkCommands(b *testing.B) {
	l, err := lab.Open(b.Context(), lab.Plan{Dir: b.TempDir(), Omni: omni, Nodes: 3, Seed: 1})
	require.NoError(b, err)
	defer func() { require.NoError(b, l.Close()) }()
	require.NoError(b, l.Start(b.Context()))
	c, err := l.Client(client.Options{})
	require.NoError(b, err)
	defer c.Close()
	_, err = c.Define(b.Context(), event.Define{})
	require.NoError(b, err)
	frames := func() (sum int64) {
		for _, n := range l.Wire().Counts() {
			sum += n.Delivered
		}
		return sum
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	cpu, carried, began := processorTime(b), frames(), time.Now()
	b.ResetTimer()
	var all sync.WaitGroup
	for range 32 {
		fork := c.Fork()
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := fork.Define(b.Context(), event.Define{}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "commands/s")
	b.ReportMetric(float64(processorTime(b)-cpu)/float64(b.N)/1e3, "cpu-µs/op")
	b.ReportMetric(float64(frames()-carried)/float64(b.N), "frames/op")
}

// processorTime of this program so far.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
