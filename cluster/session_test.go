package cluster_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/stretchr/testify/require"
)

// A command that is sent again gets its first outcome, from whoever leads by
// then: after a failover, after a restart of every node from its log, and after
// one from its snapshot. So does a refused one (CL-3).
func TestOutcomesAreRemembered(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		c := newTrio(t, func(c *trio) { c.store = store })
		old := c.leader()
		session := event.Session{ID: c.nodes[old].MintSession(), Seq: 1, Floor: 1}
		done := start(t, "018f4e5c-0000-7000-8000-000000000020")
		refused := done // the same agent again
		done.Session = session
		session.Seq = 2
		refused.Session = session
		send := func(e event.Event) event.Outcome {
			answer := c.nodes[c.leader()].Propose(t.Context(), e)
			require.Equal(t, cluster.Applied, answer.Verdict, "%+v", answer)
			return answer.Outcome
		}
		first, second := send(done), send(refused)
		require.True(t, first.Done())
		require.Equal(t, failure.AlreadyExists, second.Refusal.Code)
		again := func() {
			t.Helper()
			for _, sent := range []struct {
				event event.Event
				first event.Outcome
			}{{done, first}, {refused, second}} {
				sent.first.Repeated = true
				require.Equal(t, sent.first, send(sent.event))
			}
		}
		again()
		c.stop(old)
		again()
		c.start(old)
		c.restartAll()
		again()
		c.sameDigests()
		for _, n := range c.nodes {
			require.NoError(t, n.Snapshot(t.Context()))
		}
		c.restartAll()
		again()
		c.sameDigests()
	})
}

func (c *trio) restartAll() {
	c.t.Helper()
	for i := range c.nodes {
		c.stop(i)
	}
	for i := range c.nodes {
		c.start(i)
	}
}
