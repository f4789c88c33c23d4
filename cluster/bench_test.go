package cluster_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// Commands at the leader of three nodes in one process, without HTTP: what
// Raft, the disk and three kernels cost together.
func BenchmarkPropose(b *testing.B) {
	for _, clients := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			c := newTrio(b)
			leader := c.nodes[c.leader()]
			var next atomic.Int64
			var done sync.WaitGroup
			b.ResetTimer()
			for range clients {
				done.Go(func() {
					for {
						n := next.Add(1)
						if n > int64(b.N) {
							return
						}
						answer := leader.Propose(b.Context(), event.Event{Kind: event.AgentDefine, Principal: "client", Body: event.Encode(event.Define{
							ID: fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", n),
						})})
						if answer.Verdict != cluster.Applied {
							b.Errorf("%+v", answer)
							return
						}
					}
				})
			}
			done.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}
