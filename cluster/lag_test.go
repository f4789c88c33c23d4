package cluster_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// What a node says about its age is true: everything that was acknowledged before
// that is in its answer. A follower that counts from when it last heard from the
// leader is wrong about that, one read in a few hundred (CL-4).
func TestLagIsTrue(t *testing.T) {
	c := newTrio(t)
	leader := c.leader()
	var acked atomic.Pointer[[2]int64] // a value, and when it was acknowledged
	began := time.Now()
	acked.Store(new([2]int64))
	writer := c.nodes[leader]
	writing, end := make(chan struct{}), time.Now().Add(3*time.Second)
	go func() {
		defer close(writing)
		for n := int64(1); time.Now().Before(end); n++ {
			answer := writer.Propose(t.Context(), event.Event{
				Kind: event.SharedPut, Principal: "test",
				Body: event.Encode(event.PutShared{Namespace: "lag", Key: "k", Value: value.AppendInt(nil, n)}),
			})
			if answer.Verdict == cluster.Applied {
				acked.Store(&[2]int64{n, int64(time.Since(began))})
			}
		}
	}()
	reads, bounded := 0, 0
	for i := 0; time.Now().Before(end); i++ {
		before := *acked.Load()
		node := c.nodes[(leader+1+i%2)%len(c.nodes)]
		asked := time.Since(began)
		level := cluster.Consistency{Level: cluster.Stale}
		if i%4 == 0 {
			level.MaxLag = 20 * time.Millisecond
		}
		view, err := node.Read(t.Context(), level)
		if err != nil {
			continue
		}
		reads++
		if level.MaxLag > 0 {
			bounded++
			require.LessOrEqual(t, view.Lag, level.MaxLag)
		}
		if int64(asked-view.Lag) <= before[1] {
			continue // it may be older than that
		}
		var held int64
		if entry := view.Memory.GetShared("lag", "k"); entry != nil {
			held, _ = entry.Value.Int()
		}
		require.GreaterOrEqual(t, held, before[0], "acknowledged %v before the question, and the answer is at most %v old",
			asked-time.Duration(before[1]), view.Lag)
	}
	<-writing
	require.Greater(t, reads, 500)
	require.Greater(t, bounded, 50)
	status := c.nodes[leader].Status(t.Context(), false)
	for _, n := range status.Nodes {
		require.Less(t, n.LagMillis, int64(2000), n.ID)
	}
}
