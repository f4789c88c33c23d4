package consensus

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTransferToANamedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		for range 5 {
			leader := c.leader()
			heir := c.others(leader)[0]
			began := time.Now()
			require.NoError(t, leader.group().Transfer(t.Context(), heir.id))
			require.Same(t, heir, c.leader(c.others(heir)...))
			require.Less(t, time.Since(began), 50*time.Millisecond, "no timeout was waited for")
		}
		leader := c.leader()
		requireCode(t, Unreachable, leader.group().Transfer(t.Context(), "nobody"))
		requireCode(t, Unreachable, leader.group().Transfer(t.Context(), leader.id))
		require.True(t, leader.group().Status().Ready, "and it leads on")
		require.Error(t, c.others(leader)[0].group().Transfer(t.Context(), ""), "not the leader")
	})
}

// Unnamed, the follower with the longest log that answers takes over.
func TestTransferPicksAFollowerThatAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		time.Sleep(time.Second)
		dead, alive := c.others(leader)[0], c.others(leader)[1]
		c.crash(dead)
		require.NoError(t, leader.group().Transfer(t.Context(), ""))
		require.Same(t, alive, c.leader(leader))

		c.crash(leader)
		time.Sleep(50 * time.Millisecond)
		require.Error(t, alive.group().Transfer(t.Context(), ""))
	})
}

// While leadership is handed over, proposals are refused, definitely, and what
// was in flight is applied first.
func TestTransferDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		time.Sleep(time.Second)
		leader.machine.mu.Lock()
		leader.machine.slow = time.Millisecond
		leader.machine.mu.Unlock()
		answers := ask(t.Context(), leader.group(), 30, "w")
		moved := make(chan error, 1)
		go func() { moved <- leader.group().Transfer(t.Context(), "") }()
		synctest.Wait()
		require.Equal(t, refused(Transferring), leader.group().Propose(t.Context(), []byte("late")))
		requireCode(t, Transferring, leader.group().Transfer(t.Context(), ""))
		require.NoError(t, <-moved)
		for range 30 {
			require.Equal(t, Applied, (<-answers).out.Verdict)
		}
		c.leader(leader)
	})
}

// A leader that finds its clock wrong hands over from inside Lead (EV-7), with
// the context that ends when it succeeds.
func TestTransferFromLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := make(chan error, 1)
		var c *trio
		c = newCluster(t, 3, func(config *Config) {
			if config.NodeID != "a" {
				return
			}
			config.Leadership = LeadFunc(func(ctx context.Context, _ uint64) {
				results <- c.nodes[0].group().Transfer(ctx, "b")
			})
		})
		if leader := c.leader(c.nodes[0]); leader.id == "c" || leader.id == "b" {
			_ = leader.group().Transfer(t.Context(), "a")
		}
		require.NoError(t, <-results)
		require.Equal(t, "b", c.leader(c.nodes[0]).id)
	})
}

// A graceful stop costs the clients milliseconds, not an election timeout.
func TestStopHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		time.Sleep(time.Second)
		began := time.Now()
		require.NoError(t, leader.group().Stop(t.Context()))
		leader.set(nil)
		next := c.leader(leader)
		require.Less(t, time.Since(began), 50*time.Millisecond)
		require.Equal(t, Applied, next.group().Propose(t.Context(), []byte("x")).Verdict)

		follower := c.others(leader)[0]
		if follower == next {
			follower = c.others(leader)[1]
		}
		require.NoError(t, follower.group().Stop(t.Context()), "a follower just stops")
		follower.set(nil)
	})
}

// EV-7: the leader compares its clock with a majority's.
func TestClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		time.Sleep(time.Second)
		others := c.others(leader)
		others[0].wall.Store(int64(2 * time.Second))
		others[1].wall.Store(int64(3 * time.Second))
		c.network.slowAll(10 * time.Millisecond)
		readings, err := leader.group().Clocks(t.Context())
		require.NoError(t, err)
		require.ElementsMatch(t, []ClockReading{
			{Node: leader.id},
			{Node: others[0].id, Offset: 2 * time.Second, RTT: 20 * time.Millisecond},
			{Node: others[1].id, Offset: 3 * time.Second, RTT: 20 * time.Millisecond},
		}, readings)
		require.Equal(t, -2*time.Second, MedianSkew(readings), "we are two seconds behind")

		c.crash(others[0])
		readings, err = leader.group().Clocks(t.Context())
		require.NoError(t, err)
		require.Len(t, readings, 2)
		c.crash(others[1])
		_, err = leader.group().Clocks(t.Context())
		requireCode(t, NoQuorum, err)
	})
}

func TestMedianSkew(t *testing.T) {
	for _, row := range []struct {
		offsets []time.Duration
		want    time.Duration
	}{
		{nil, 0},
		{[]time.Duration{0}, 0},
		{[]time.Duration{0, 100}, -50},
		{[]time.Duration{100, 0, 90}, -90},
		{[]time.Duration{0, -100, 5}, 0},
		{[]time.Duration{0, -100, -90, -80, -70}, 80},
	} {
		var readings []ClockReading
		for i, o := range row.offsets {
			readings = append(readings, ClockReading{Node: fmt.Sprint(i), Offset: o})
		}
		assert.Equal(t, row.want, MedianSkew(readings), "%v", row.offsets)
	}
}

// A transfer to a follower that replication cannot reach fails, however often it
// is asked for. It must not stay under way in the library, which refuses every
// command then, in later terms of this node too.
func TestTransferToAnUnreachableNodeIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		heir := c.others(leader)[0]
		c.network.cut(leader.address(), heir.address())
		require.Equal(t, Applied, leader.group().Propose(t.Context(), []byte("behind")).Verdict)
		for range 3 {
			require.Error(t, leader.group().Transfer(t.Context(), heir.id))
			require.Equal(t, Applied, leader.group().Propose(t.Context(), []byte("this term")).Verdict)
		}
		c.network.isolate(leader.address())
		next := c.leader(leader)
		c.network.heal()
		require.Eventually(t, func() bool { return next.group().Transfer(t.Context(), leader.id) == nil }, time.Minute, 100*time.Millisecond)
		require.Equal(t, leader, c.leader())
		require.Equal(t, Applied, leader.group().Propose(t.Context(), []byte("a later term")).Verdict)
	})
}

// The library takes a request in that comes as it shuts down, and never answers
// it: nothing may wait for that. The bubble ends only when nothing does.
func TestRequestsAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		heir := c.others(leader)[0]
		g := leader.group()
		c.crash(leader)
		for range 20 {
			err := g.awaitFuture(t.Context(), func() raft.Future {
				return g.raft.LeadershipTransferToServer(raft.ServerID(heir.id), raft.ServerAddress(heir.address()))
			})
			var no *Refusal
			require.ErrorAs(t, err, &no)
			require.Equal(t, Shutdown, no.Code)
		}
	})
}
