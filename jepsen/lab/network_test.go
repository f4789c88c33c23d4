//go:build root

package lab_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// A leader that is cut off is replaced, acknowledges nothing that is asked of it,
// and follows when the cut is healed.
func TestIsolatedLeader(t *testing.T) {
	c := newCluster(t)
	c.commit()
	old := c.leader()
	cut, err := c.Wire().Impose(wire.Isolate(c.IDs(), old.ID()).Cut())
	require.NoError(t, err)
	var next string
	c.eventually("another leader", func() bool {
		next = c.leader(c.others(old)...).ID()
		return next != old.ID()
	})
	_, err = c.client.Define(within(t, 2*time.Second), event.Define{}, client.Node(old.API()), client.NoSession())
	require.Error(t, err, "the isolated one cannot have committed it")
	c.commit()
	links := c.Wire().Counts()
	require.NotZero(t, links[wire.Link{From: old.ID(), To: next}].Cut, "the cut met frames")
	require.NotZero(t, links[wire.Link{From: next, To: old.ID()}].Cut)
	cut.Lift()
	c.eventually("it follows", func() bool {
		status, err := c.client.Status(t.Context(), client.Node(old.API()))
		return err == nil && status.Leader == next
	})
	require.NoError(t, c.Wire().Err())
}

// A follower that hears nobody is heard: its acknowledgements are gone nevertheless,
// since it has nothing to acknowledge, and the other two go on.
func TestOneWayCut(t *testing.T) {
	c := newCluster(t)
	c.commit()
	deaf := c.others(c.leader())[0]
	cut, err := c.Wire().Impose(wire.Deaf(c.IDs(), deaf.ID()).Cut())
	require.NoError(t, err)
	before := c.Wire().Counts()
	for range 5 {
		c.commit()
	}
	_, err = c.client.Agents(within(t, time.Second), api.AgentQuery{}, client.Node(deaf.API()))
	require.Error(t, err, "it cannot read what is committed")
	c.eventually("frames from it arrive, and none to it", func() bool {
		after := c.Wire().Counts()
		var heard, hears int64
		for _, n := range c.others(deaf) {
			out, in := wire.Link{From: deaf.ID(), To: n.ID()}, wire.Link{From: n.ID(), To: deaf.ID()}
			heard += after[out].Delivered - before[out].Delivered
			hears += after[in].Delivered - before[in].Delivered
		}
		return heard > 0 && hears == 0
	})
	cut.Lift()
	c.eventually("it reads again", func() bool {
		_, err := c.client.Agents(within(t, time.Second), api.AgentQuery{}, client.Node(deaf.API()))
		return err == nil
	})
}

// Commands are committed over links that lose, double, delay and reorder.
func TestBadLinks(t *testing.T) {
	c := newCluster(t)
	_, err := c.Wire().Impose(wire.All(c.IDs()).With(wire.Policy{
		Loss: 0.02, Duplicate: 0.1, Reorder: 0.1, Delay: time.Millisecond, Jitter: time.Millisecond,
	}))
	require.NoError(t, err)
	for range 50 {
		c.commit()
	}
	var sum wire.Counts
	for _, n := range c.Wire().Counts() {
		sum.Lost, sum.Duplicated, sum.Reordered = sum.Lost+n.Lost, sum.Duplicated+n.Duplicated, sum.Reordered+n.Reordered
	}
	require.NotZero(t, sum.Lost)
	require.NotZero(t, sum.Duplicated)
	require.NotZero(t, sum.Reordered)
}
