package fsm

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/stretchr/testify/require"
)

// discard is a snapshot sink that keeps nothing.
type discard struct{ bytes atomic.Int64 }

func (d *discard) Write(p []byte) (int, error) { d.bytes.Add(int64(len(p))); return len(p), nil }
func (d *discard) Close() error                { return nil }
func (d *discard) ID() string                  { return "bench" }
func (d *discard) Cancel() error               { return nil }

// The longest that Apply stands still while a snapshot of 100,000 agents is
// taken and persisted beside it. The target is 20 ms.
func BenchmarkSnapshotStall(b *testing.B) {
	r := newReplica(b, b.TempDir())
	logs := history(100_000)
	for at := 0; at < len(logs); at += 64 {
		r.ApplyBatch(logs[at:min(at+64, len(logs))])
	}
	require.NoError(b, r.fatal)
	index := uint64(len(logs))
	apply := func() time.Duration {
		index++
		e := event.Event{Kind: event.AgentDefine, Principal: "client", Wall: kerneltest.Start, Body: event.Encode(event.Define{
			ID: fmt.Sprintf("018f4e5c-0000-7000-9000-%012d", index),
		})}
		began := time.Now()
		r.ApplyBatch([]*raft.Log{{Index: index, Term: 1, Type: raft.LogCommand, Data: e.Append(nil)}})
		return time.Since(began)
	}
	var worst, calm time.Duration
	for range 10_000 {
		calm = max(calm, apply())
	}
	b.ResetTimer()
	for range b.N {
		began := time.Now()
		captured, err := r.Snapshot()
		require.NoError(b, err)
		worst = max(worst, time.Since(began))
		done := make(chan error, 1)
		go func() { done <- captured.Persist(&discard{}) }()
		for persisting := true; persisting; {
			worst = max(worst, apply())
			select {
			case err := <-done:
				require.NoError(b, err)
				persisting = false
			default:
			}
		}
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
	b.ReportMetric(float64(calm.Microseconds())/1000, "without-ms")
}
