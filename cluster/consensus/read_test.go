package consensus

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// A linearizable read on any node contains every write that was acknowledged
// before it began, whatever the network does (CL-4).
func TestReadsAreNeverStale(t *testing.T) {
	for seed := range uint64(2) {
		synctest.Test(t, func(t *testing.T) {
			h := &readHistory{cluster: newCluster(t, 3, nil), random: rand.New(rand.NewPCG(seed, 1))}
			h.cluster.network.slowAll(time.Millisecond)
			h.cluster.leader()
			ctx, cancel := context.WithCancel(t.Context())
			var clients sync.WaitGroup
			for range 2 {
				clients.Go(func() { h.write(ctx) })
			}
			for _, n := range h.cluster.nodes {
				for range 3 {
					clients.Go(func() { h.read(ctx, t, n) })
				}
			}
			h.disturb(20 * time.Second)
			cancel()
			clients.Wait()
			h.cluster.close()
			t.Logf("seed %d: %d writes, %d reads %d refused on a node that believed to lead",
				seed, h.writes.Load(), h.reads.Load(), h.tempted.Load())
			assert.Zero(t, h.stale.Load())
			assert.Greater(t, h.writes.Load(), int64(500))
			assert.Greater(t, h.reads.Load(), int64(1000))
			assert.Greater(t, h.tempted.Load(), int64(20), "the test must tempt a deposed leader")
		})
	}
}

type readHistory struct {
	cluster                       *trio
	random                        *rand.Rand
	acked                         atomic.Uint64 // highest index acknowledged to a client
	writes, reads, stale, tempted atomic.Int64
}

func (h *readHistory) write(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		for _, n := range h.cluster.nodes {
			if !n.group().Status().Ready {
				continue
			}
			patience, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			out := n.group().Propose(patience, []byte(strconv.Itoa(i)))
			cancel()
			if out.Verdict == Applied {
				h.writes.Add(1)
				for have := h.acked.Load(); have < out.Index && !h.acked.CompareAndSwap(have, out.Index); have = h.acked.Load() {
				}
			}
		}
		pause(ctx, 5*time.Millisecond)
	}
}

func (h *readHistory) read(ctx context.Context, t *testing.T, n *node) {
	for ctx.Err() == nil {
		pause(ctx, 3*time.Millisecond)
		believes := n.group().Status().Ready
		floor := h.acked.Load()
		patience, cancel := context.WithTimeout(ctx, 2*time.Second)
		index, err := n.group().ReadIndex(patience)
		if err == nil {
			err = n.group().WaitApplied(patience, index)
		}
		cancel()
		var no *Refusal
		if errors.As(err, &no) {
			if believes && no.Code != Timeout {
				h.tempted.Add(1)
			}
			continue
		}
		if !assert.NoError(t, err) {
			return
		}
		h.reads.Add(1)
		if has := n.machine.Applied(); has < floor {
			h.stale.Add(1)
			t.Errorf("%s reads at %d, %d was acknowledged before", n.id, has, floor)
			return
		}
	}
}

// disturb cuts links at random and makes a follower stand for election the
// moment the leader is cut off: the old leader then believes in itself for a
// whole lease while the new one acknowledges writes.
func (h *readHistory) disturb(total time.Duration) {
	c := h.cluster
	until := time.Now().Add(total)
	for time.Now().Before(until) {
		leader := c.leader()
		others := c.others(leader)
		heir := others[h.random.IntN(len(others))]
		switch h.random.IntN(4) {
		case 0, 1:
			c.network.isolate(leader.address())
			heir.group().transport.timeoutNow(raftHeader(heir))
		case 2: // the leader hears nobody, but is heard
			for _, o := range others {
				c.network.cut(o.address(), leader.address())
			}
			heir.group().transport.timeoutNow(raftHeader(heir))
		case 3: // the leader speaks to nobody, but hears
			for _, o := range others {
				c.network.cut(leader.address(), o.address())
			}
		}
		time.Sleep(time.Duration(h.random.IntN(900)) * time.Millisecond)
		c.network.heal()
		time.Sleep(time.Duration(h.random.IntN(600)) * time.Millisecond)
	}
	c.network.heal()
	c.leader()
	c.requireReadable()
}

func (c *trio) requireReadable() {
	c.t.Helper()
	leader := c.leader()
	index, err := leader.group().ReadIndex(c.t.Context())
	require.NoError(c.t, err)
	require.NotZero(c.t, index)
}

// No read before the term's first event is applied: the commit index does not
// yet cover what an earlier leader acknowledged.
func TestReadWaitsForReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, func(c *Config) { c.Leadership = nil })
		var leader *node
		for leader == nil {
			for _, n := range c.nodes {
				if n.group().Status().State == "Leader" {
					leader = n
				}
			}
			time.Sleep(time.Millisecond)
		}
		requireCode(t, NotReady, readOn(t, leader))
		requireCode(t, NotReady, readOn(t, c.others(leader)[0]))
		out := leader.group().Propose(t.Context(), []byte("first"))
		require.Equal(t, Applied, out.Verdict)
		requireCode(t, NotReady, readOn(t, leader))
		leader.group().SetReady(out.Term)
		require.NoError(t, readOn(t, leader))
		require.NoError(t, readOn(t, c.others(leader)[0]))
	})
}

func readOn(t *testing.T, n *node) error {
	t.Helper()
	_, err := n.group().ReadIndex(t.Context())
	return err
}

func requireCode(t *testing.T, want Code, err error) {
	t.Helper()
	var no *Refusal
	require.ErrorAs(t, err, &no)
	require.Equal(t, want, no.Code, no.Error())
}

// Many readers at once share rounds; each round asks a voter once.
func TestReadsShareRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make(map[string]*countingCaller)
		c := newCluster(t, 3, func(c *Config) {
			calls[c.NodeID] = &countingCaller{PeerCaller: c.Peers}
			c.Peers = calls[c.NodeID]
		})
		leader := c.leader()
		time.Sleep(time.Second)
		c.network.slowAll(5 * time.Millisecond)
		before := calls[leader.id].count.Load()
		began := time.Now()
		var readers sync.WaitGroup
		for range 500 {
			readers.Go(func() {
				for range 10 {
					assert.NoError(t, readOn(t, leader))
				}
			})
		}
		readers.Wait()
		took := time.Since(began)
		asked := calls[leader.id].count.Load() - before
		t.Logf("5000 reads took %v and %d questions", took, asked)
		// A read that comes during a round waits for the next: two rounds at most.
		require.LessOrEqual(t, asked, int64(2*2*10+4))
		require.LessOrEqual(t, took, 22*10*time.Millisecond)
	})
}

type countingCaller struct {
	PeerCaller
	count atomic.Int64
}

func (c *countingCaller) Call(ctx context.Context, to string, kind byte, body []byte) ([]byte, error) {
	c.count.Add(1)
	return c.PeerCaller.Call(ctx, to, kind, body)
}

// A voter that never answers costs a read nothing while a majority does, and
// questions to it do not pile up.
func TestReadWithOneDeadVoter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make(map[string]*countingCaller)
		c := newCluster(t, 3, func(c *Config) {
			calls[c.NodeID] = &countingCaller{PeerCaller: c.Peers}
			c.Peers = calls[c.NodeID]
		})
		leader := c.leader()
		dead := c.others(leader)[0]
		c.network.slowAll(time.Millisecond)
		c.network.isolate(dead.address())
		began, before := time.Now(), calls[leader.id].count.Load()
		for range 200 {
			require.NoError(t, readOn(t, leader))
		}
		require.Less(t, time.Since(began), 500*time.Millisecond)
		require.Less(t, calls[leader.id].count.Load()-before, int64(203), "one question waits for the dead one, not one per read")
	})
}

// A voter that is slow to answer one round is asked for the next as soon as it
// has: when the other one dies, reads go on with it.
func TestReadWithASlowVoter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		slow, quick := c.others(leader)[0], c.others(leader)[1]
		time.Sleep(time.Second)
		c.network.slow(leader.address(), slow.address(), 200*time.Millisecond)
		require.NoError(t, readOn(t, leader)) // leaves a question with the slow one
		c.crash(quick)
		began := time.Now()
		require.NoError(t, readOn(t, leader))
		require.Equal(t, 400*time.Millisecond, time.Since(began))
	})
}

// Without a majority a read is refused, in bounded time, and nothing is left
// behind.
func TestReadWithoutQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		for _, n := range c.others(leader) {
			c.crash(n)
		}
		began := time.Now()
		err := readOn(t, leader)
		require.Error(t, err)
		require.Less(t, time.Since(began), time.Second)
		time.Sleep(time.Second)
		requireCode(t, NoLeader, readOn(t, leader))
	})
}

// An answer to an earlier question, or another node's, does not count.
func TestOnlyTheAnswerAskedForCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var forge atomic.Int32
		c := newCluster(t, 3, func(c *Config) {
			c.Peers = forgingCaller{c.Peers, &forge}
		})
		leader := c.leader()
		require.NoError(t, readOn(t, leader))
		for _, forgery := range []int32{forgeNonce, forgeNode, forgeTerm, forgeShort} {
			forge.Store(forgery)
			requireCode(t, NoQuorum, readOn(t, leader))
		}
		forge.Store(forgeNewer)
		requireCode(t, NewerTerm, readOn(t, leader))
	})
}

const (
	forgeNonce int32 = iota + 1
	forgeNode
	forgeTerm
	forgeShort
	forgeNewer
)

type forgingCaller struct {
	PeerCaller
	forge *atomic.Int32
}

func (f forgingCaller) Call(ctx context.Context, to string, kind byte, body []byte) ([]byte, error) {
	out, err := f.PeerCaller.Call(ctx, to, kind, body)
	if err != nil || kind != kindState {
		return out, err
	}
	state, err := decodePeerState(out)
	switch f.forge.Load() {
	case forgeNonce:
		state.nonce--
	case forgeNode:
		state.node = "z"
	case forgeTerm:
		state.term--
	case forgeNewer:
		state.term++
	case forgeShort:
		return out[:peerStateHead], err
	}
	return state.encode(), err
}

// A restarted node says that it is behind until it knows what is committed.
func TestCaughtUpOnceAfterRestart(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		c := newClusterOver(t, store, 3, nil)
		leader := c.leader()
		for i := range 20 {
			require.Equal(t, Applied, leader.group().Propose(t.Context(), []byte(strconv.Itoa(i))).Verdict)
		}
		n := c.others(leader)[0]
		c.crash(n)
		c.network.isolate(n.address())
		c.start(n)
		time.Sleep(5 * time.Second)
		require.False(t, n.group().CaughtUp())
		require.Empty(t, n.machine.lines(), "entries behind the snapshot wait for a leader")
		c.network.heal()
		deadline := time.Now().Add(10 * time.Second)
		for !n.group().CaughtUp() && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		require.True(t, n.group().CaughtUp())
		require.GreaterOrEqual(t, len(n.machine.lines()), 20)
	})
}

// A session read waits for the client's index, no longer than its context.
func TestWaitApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		follower := c.others(leader)[0]
		out := leader.group().Propose(t.Context(), []byte("x"))
		require.NoError(t, follower.group().WaitApplied(t.Context(), out.Index))
		require.Equal(t, "x", follower.machine.latest())
		index, term := follower.group().Applied()
		require.Equal(t, [2]uint64{out.Index, out.Term}, [2]uint64{index, term})

		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
		defer cancel()
		requireCode(t, Timeout, follower.group().WaitApplied(ctx, out.Index+1))

		waiting := make(chan error, 1)
		go func() { waiting <- follower.group().WaitApplied(context.Background(), out.Index+100) }()
		synctest.Wait()
		c.close()
		requireCode(t, Shutdown, <-waiting)
	})
}
