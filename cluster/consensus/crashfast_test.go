package consensus

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func fast(c *Config) { c.Crash = c.Peers.(*port) }

// The leader's process ends: the next one leads before a heartbeat is missed.
func TestCrashFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, fast)
		for range 20 {
			leader := c.leader()
			time.Sleep(2 * time.Second)
			began := time.Now()
			c.crash(leader)
			next := c.leader(leader)
			require.Less(t, time.Since(began), 100*time.Millisecond)
			require.Equal(t, Applied, next.group().Propose(t.Context(), []byte("x")).Verdict)
			c.start(leader)
		}
	})
}

// The one whose turn it would be is down as well: the next in rank follows, a
// quarter of a heartbeat later.
func TestCrashFastByRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 5, fast)
		e := c.nodes[4]
		if leader := c.leader(); leader != e {
			require.NoError(t, leader.group().Transfer(t.Context(), "e"))
		}
		c.leader(c.nodes[:4]...)
		time.Sleep(2 * time.Second)
		c.crash(c.nodes[0])
		time.Sleep(50 * time.Millisecond)
		began := time.Now()
		c.crash(e)
		require.Equal(t, "b", c.leader(e).id)
		require.Equal(t, 75*time.Millisecond, time.Since(began).Truncate(5*time.Millisecond))
	})
}

// A leader that cannot be reached, or is slow, is left to the timeouts.
func TestCrashFastNeverOnSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, fast)
		leader := c.leader()
		time.Sleep(2 * time.Second)
		term := leader.group().Status().Term
		c.network.isolate(leader.address())
		time.Sleep(150 * time.Millisecond)
		for _, n := range c.others(leader) {
			require.Equal(t, "Follower", n.group().Status().State)
			require.Equal(t, term, n.group().Status().Term)
		}
		c.leader(leader)
	})
}

// A learner has no vote, and stands for nothing.
func TestCrashFastLearnerKeepsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, fast)
		leader := c.leader()
		learner := c.add("0", nil) // would be first in rank
		require.NoError(t, leader.group().AddLearner(t.Context(), "0", learner.address()))
		time.Sleep(2 * time.Second)
		learner.group().succeed(Member{ID: leader.id, Address: leader.address(), Voter: true})
		synctest.Wait()
		require.Equal(t, "Follower", learner.group().Status().State)
		c.crash(leader)
		require.NotEqual(t, learner, c.leader(leader))
	})
}

// Somebody else leads by the time it would be this node's turn.
func TestCrashFastYieldsToANewLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		time.Sleep(time.Second)
		term := leader.group().Status().Term
		for _, n := range c.others(leader) {
			n.group().succeed(Member{ID: "somebody else"})
		}
		time.Sleep(time.Second)
		require.Equal(t, term, leader.group().Status().Term, "no election was held")
	})
}
