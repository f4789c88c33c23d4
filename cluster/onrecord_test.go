package cluster_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
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
		pausing := func(i int) event.Order { return event.Order{Action: "node.pause", Resource: c.peers[i].ID} }
		c.until("the leader knows its version", func() bool { return record(leader, pausing(leader)).Verdict == cluster.Applied })
		var last uint64
		for i := range 3 {
			for _, order := range []event.Order{pausing(i), {Action: "backup.create", Resource: "_"}} {
				answer := record(i, order)
				require.Equal(t, cluster.Applied, answer.Verdict, answer.Detail)
				require.Empty(t, answer.Outcome.Refusal)
				require.Greater(t, answer.Outcome.Seq, last)
				last = answer.Outcome.Seq
			}
		}
		require.Equal(t, failure.Refusal{
			Code: failure.InvalidArgument, Field: "action", Rule: "must be an action of nodes, such as node.pause",
		}, record(leader, event.Order{Action: "agent.kill", Resource: "n1"}).Outcome.Refusal)
		resting := (leader + 1) % 3
		for _, order := range []event.Order{
			pausing(leader), pausing((leader + 2) % 3), {Action: "agent.kill", Resource: c.peers[resting].ID}, {Action: "backup.create", Resource: "n1"},
			{Action: "cluster.transfer", Resource: "_"}, {Action: "cluster.member.remove", Resource: c.peers[resting].ID},
		} {
			answer := record(resting, order)
			require.Equal(t, cluster.Unknown, answer.Verdict, "%s of %s is none that a node carries out itself", order.Action, order.Resource)
			require.Contains(t, answer.Detail, "did not say")
		}
		_, err := c.node(resting).Order(t.Context(), cluster.Order{Trigger: nodestate.Pause})
		require.NoError(t, err)
		answer := record(resting, pausing(resting))
		require.Equal(t, cluster.Applied, answer.Verdict, "a suspended node is to be resumed, on record")
		c.crash(leader)
		c.crash((leader + 2) % 3)
		c.until("nobody leads", func() bool {
			answer := record(resting, pausing(resting))
			return answer.Verdict == cluster.Refused && answer.Code == cluster.CodeNoLeader
		})
	})
}

// EV-9: a leader that has just started says of no kind that the cluster's version does not
// have it, before it has replayed what tells the version.
func TestANewLeaderDoesNotKnowTheVersion(t *testing.T) {
	c := newTrio(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c.do(event.OperatorOrder, event.Order{Action: "node.pause", Resource: "n1"})
	c.write(2000) // so that it takes a while to replay
	c.stopAll()
	for i := range c.nodes {
		c.start(i)
	}
	order := event.Event{Kind: event.OperatorOrder, Principal: "ann", Body: event.Encode(event.Order{Action: "node.pause", Resource: "n1"})}
	var asking sync.WaitGroup
	var done atomic.Bool
	for _, n := range c.nodes {
		asking.Go(func() {
			for ; !done.Load() && ctx.Err() == nil; time.Sleep(100 * time.Microsecond) {
				for _, a := range append(n.ProposeAll(ctx, []event.Event{order}), n.Propose(ctx, order)) {
					assert.NotEqual(t, cluster.CodeVersionTooLow, a.Code, a.Detail)
					if a.Verdict == cluster.Applied {
						done.Store(true)
					}
				}
			}
		})
	}
	asking.Wait()
	require.True(t, done.Load())
}
