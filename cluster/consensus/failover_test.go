package consensus

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

func TestFailover(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		ctx := t.Context()
		c := newClusterOver(t, store, 3, nil)
		acked := make(map[string]Outcome)
		unknown := 0
		// An election may be lost again to a candidate of the same moment: then
		// the next leader takes over, and what was in flight is unknown.
		write := func(count int, except ...*node) {
			for count > 0 {
				data := fmt.Sprintf("w%d", len(acked)+unknown)
				out := c.leader(except...).group().Propose(ctx, []byte(data))
				switch out.Verdict {
				case Applied:
					acked[data] = out
					count--
				case Unknown:
					unknown++
				case Refused:
					time.Sleep(time.Millisecond)
				}
			}
		}
		first := c.leader()
		write(50)

		began := time.Now()
		c.crash(first)
		c.leader(first)
		require.Less(t, time.Since(began), 2*time.Second)
		write(50)
		c.start(first)

		second := c.leader()
		began = time.Now()
		c.network.isolate(second.address())
		c.leader(second)
		require.Less(t, time.Since(began), 2*time.Second)
		write(50, second)
		c.network.heal()
		write(10)

		history := c.requireEqual()
		for data, out := range acked {
			i := slices.IndexFunc(history, func(l line) bool { return l.Data == data })
			require.GreaterOrEqual(t, i, 0, "acked %s is lost", data)
			require.Equal(t, line{out.Index, out.Term, data}, history[i])
			require.Equal(t, i+1, out.Response)
		}
		written := len(history) - countLeads(history)
		require.GreaterOrEqual(t, written, len(acked))
		require.LessOrEqual(t, written, len(acked)+unknown, "nothing twice")
	})
}

func countLeads(history []line) (n int) {
	for _, l := range history {
		if len(l.Data) > 4 && l.Data[:4] == "lead" {
			n++
		}
	}
	return n
}

// From the loss of a leader to the first write that the next one applied.
func TestFailoverTimes(t *testing.T) {
	for _, heartbeat := range []time.Duration{300 * time.Millisecond, 200 * time.Millisecond} {
		var times []time.Duration
		synctest.Test(t, func(t *testing.T) {
			for trial := range 24 {
				c := newCluster(t, 3, func(c *Config) {
					c.Timing = Timing{Heartbeat: heartbeat, Election: heartbeat, Lease: heartbeat}
				})
				old := c.leader()
				time.Sleep(time.Second + time.Duration(trial)*7*time.Millisecond)
				began := time.Now()
				if trial%2 == 0 {
					c.crash(old)
				} else {
					c.network.isolate(old.address())
				}
				c.leader(old)
				times = append(times, time.Since(began))
				c.close()
			}
		})
		slices.Sort(times)
		t.Logf("heartbeat %v: p50 %v, max %v", heartbeat, times[len(times)/2], times[len(times)-1])
		assert.Less(t, times[len(times)/2], 3*heartbeat)
		assert.Less(t, times[len(times)-1], 4*heartbeat)
	}
}

// One proposer per term; Lead runs once per term led, never two at a time, and
// is over when leadership is.
func TestLeadFollowsLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		for range 6 {
			old := c.leader()
			c.network.isolate(old.address())
			c.leader(old)
			time.Sleep(time.Second)
			assertLead(t, old, false)
			c.network.heal()
			time.Sleep(time.Second)
			assertLead(t, c.leader(), true)
		}
		var terms []uint64
		for _, n := range c.nodes {
			for _, seen := range n.tenures {
				terms = append(terms, seen.term)
			}
		}
		slices.Sort(terms)
		require.Equal(t, len(terms), len(slices.Compact(slices.Clone(terms))), "one leader per term")
	})
}

// assertLead checks that exactly the newest tenure of a node runs, or none.
func assertLead(t *testing.T, n *node, leads bool) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, seen := range n.tenures {
		newest := i == len(n.tenures)-1
		assert.Equal(t, !leads || !newest, seen.over.Load(), "%s, term %d", n.id, seen.term)
	}
}

// A Lead that is slow to return delays the next one, not the group.
func TestLeadNeverOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, most := 0, 0
		c := newCluster(t, 3, func(c *Config) {
			inner := c.Leadership
			if c.NodeID != "a" {
				return
			}
			c.Leadership = LeadFunc(func(ctx context.Context, term uint64) {
				running++
				most = max(most, running)
				inner.Lead(ctx, term)
				time.Sleep(5 * time.Second)
				running--
			})
		})
		a := c.nodes[0]
		for range 3 {
			if now := c.leader(); now != a {
				require.NoError(t, now.group().Transfer(t.Context(), "a"))
			}
			c.leader(c.nodes[1], c.nodes[2])
			require.NoError(t, a.group().Transfer(t.Context(), "b"))
			c.leader(a)
		}
		require.Equal(t, 1, most)
	})
}

// A follower that was cut off comes back without deposing anybody: pre-vote
// works through the wrapped transport.
func TestReturningFollowerDisturbsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		time.Sleep(time.Second)
		term := leader.group().Status().Term
		away := c.others(leader)[0]
		c.network.isolate(away.address())
		time.Sleep(30 * time.Second)
		require.Equal(t, Applied, leader.group().Propose(t.Context(), []byte("x")).Verdict)
		c.network.heal()
		time.Sleep(20 * time.Second) // the library's pause between attempts grows to 10 s
		require.True(t, leader.group().Status().Ready)
		require.Equal(t, term, away.group().Status().Term)
		require.Equal(t, "x", away.machine.latest())
	})
}

// A leader whose disk hangs goes on sending heartbeats, and nobody is elected,
// however long it takes. That is why the store's watchdog ends the process;
// then somebody is.
func TestStuckDiskNeedsTheWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, leader, release := stuckCluster(t, Limits{})
		answer := make(chan Outcome, 1)
		go func() { answer <- leader.group().Propose(t.Context(), []byte("x")) }()
		time.Sleep(3 * time.Minute)
		require.Empty(t, answer)
		for _, n := range c.others(leader) {
			require.Equal(t, "Follower", n.group().Status().State)
		}
		require.NoError(t, leader.port.Close()) // the process ends
		c.leader(leader)
		release()
		require.Equal(t, Unknown, (<-answer).Verdict)
	})
}
