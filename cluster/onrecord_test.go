package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// AU-10: any node has an order committed by whoever leads, and is told what the kernel
// says to it; without a leader nothing is on record.
func TestOrdersAreRecordedByTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, testStore(), true)
		leader := c.leader()
		record := func(i int, o event.Order) cluster.Answer {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			return c.node(i).Record(ctx, "ann", o)
		}
		pausing := event.Order{Action: "node.pause", Resource: "n1"}
		var last uint64
		for i := range 3 {
			answer := record((leader+i)%3, pausing)
			require.Equal(t, cluster.Applied, answer.Verdict, answer.Detail)
			require.Empty(t, answer.Outcome.Refusal)
			require.Greater(t, answer.Outcome.Seq, last)
			last = answer.Outcome.Seq
			answer = record((leader+i)%3, event.Order{Action: "agent.kill", Resource: "n1"})
			require.Equal(t, failure.Refusal{
				Code: failure.InvalidArgument, Field: "action", Rule: "must be an action of nodes, such as node.pause",
			}, answer.Outcome.Refusal)
		}
		resting := (leader + 1) % 3
		_, err := c.node(resting).Order(t.Context(), cluster.Order{Trigger: nodestate.Pause})
		require.NoError(t, err)
		require.Equal(t, cluster.Applied, record(resting, pausing).Verdict, "a suspended node is to be resumed, on record")
		c.crash(leader)
		c.crash((leader + 2) % 3)
		c.until("nobody leads", func() bool {
			answer := record(resting, pausing)
			return answer.Verdict == cluster.Refused && answer.Code == cluster.CodeNoLeader
		})
	})
}
