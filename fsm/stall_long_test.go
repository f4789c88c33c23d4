//go:build long

package fsm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/stretchr/testify/require"
)

// A Raft snapshot costs the same after 100,000 records of history and after
// 10,000,000, since it carries the state and not the history, and the state is the
// same size. Beside it Apply goes on: nothing stands still for 20 ms (LO-2).
func TestSnapshotBesideApply(t *testing.T) {
	w := newWriter(t)
	var persisted [2]time.Duration
	var size [2]int64
	for i, records := range []uint64{100_000, 10_000_000} {
		w.upTo(records)
		calm := w.during(func() { time.Sleep(2 * time.Second) })
		least, stalls := time.Hour, []time.Duration(nil)
		for range 5 {
			stall := w.during(func() {
				took, bytes := w.persist()
				least, size[i] = min(least, took), bytes
			})
			stalls = append(stalls, stall)
		}
		persisted[i] = least
		slices.Sort(stalls)
		t.Logf("%d records, log %d MiB: snapshot of %d KiB in %v; longest Apply without %v, beside five snapshots %v",
			w.State().Log.NextSeq-1, w.State().Log.Position>>20, size[i]>>10, least, calm, stalls)
		// Two cores, and others use them: the scheduler's own stalls are not ours.
		require.Less(t, stalls[len(stalls)/2], 20*time.Millisecond)
	}
	require.InEpsilon(t, size[0], size[1], 0.01)
	require.Less(t, persisted[1], 2*persisted[0]+20*time.Millisecond)
}

// writer is a replica under load, its disk real.
type writer struct {
	*replica
	snapshots raft.SnapshotStore
	index     uint64
	payload   value.Raw
}

// writerAgents and writerKeys are the state, which does not grow.
const (
	writerAgents = 20_000
	writerKeys   = 1_000
	writerBatch  = 64
	writerRate   = 20_000 // events a second, as many as a cluster commits
)

func newWriter(t *testing.T) *writer {
	r := newReplica(t, t.TempDir())
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(t.TempDir(), 1, hclog.NewNullLogger())
	require.NoError(t, err)
	w := &writer{replica: r, snapshots: snapshots, payload: kerneltest.JSON(t, "\""+strings.Repeat("v", 64)+"\"")}
	logs := history(writerAgents)
	for batch := range slices.Chunk(logs, writerBatch) {
		r.ApplyBatch(batch)
	}
	w.index = uint64(len(logs))
	return w
}

// batch applies the next events and tells how long that took.
func (w *writer) batch() time.Duration {
	logs := make([]*raft.Log, writerBatch)
	for i := range logs {
		w.index++
		e := event.Event{
			Kind: event.SharedPut, Principal: "client", Wall: kerneltest.Start + int64(w.index/20),
			Body: event.Encode(event.PutShared{Namespace: "load", Key: fmt.Sprint("key-", w.index%writerKeys), Value: w.payload}),
		}
		logs[i] = &raft.Log{Index: w.index, Term: 1, Type: raft.LogCommand, Data: e.Append(nil)}
	}
	began := time.Now()
	w.ApplyBatch(logs)
	return time.Since(began)
}

func (w *writer) upTo(records uint64) {
	for w.State().Log.NextSeq < records {
		w.batch()
	}
	require.NoError(w.t, w.fatal)
}

// during applies at a steady rate while something is done beside it, and tells
// the longest that one batch took.
func (w *writer) during(beside func()) (longest time.Duration) {
	done := make(chan struct{})
	go func() { beside(); close(done) }()
	tick := time.NewTicker(writerBatch * time.Second / writerRate)
	defer tick.Stop()
	for {
		select {
		case <-done:
			require.NoError(w.t, w.fatal)
			return longest
		case <-tick.C:
			longest = max(longest, w.batch())
		}
	}
}

// persist takes a snapshot as Raft does, into a file.
func (w *writer) persist() (took time.Duration, size int64) {
	began := time.Now()
	captured, err := w.Snapshot()
	require.NoError(w.t, err)
	sink, err := w.snapshots.Create(raft.SnapshotVersionMax, w.State().Index, 1, raft.Configuration{}, 1, nil)
	require.NoError(w.t, err)
	require.NoError(w.t, captured.Persist(sink))
	took = time.Since(began)
	kept, err := w.snapshots.List()
	require.NoError(w.t, err)
	return took, kept[0].Size
}
