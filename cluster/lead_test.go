package cluster_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/stretchr/testify/require"
)

// A node whose clock is far from the majority's median does not keep
// leadership, and no event carries its time (EV-7).
func TestLeaderWithABadClockHandsOver(t *testing.T) {
	ahead := func() time.Time { return time.Now().Add(time.Hour) }
	c := newTrio(t, func(c *trio) { c.wall = map[int]func() time.Time{0: ahead} })
	first := c.leader()
	require.NotEqual(t, 0, first)
	// It is asked to lead, and gives leadership back.
	require.NoError(t, c.nodes[first].Transfer(t.Context(), c.peers[0].ID))
	require.NotEqual(t, 0, c.leader())
	var view cluster.View
	require.Eventually(t, func() (done bool) {
		var err error
		view, err = c.nodes[1].Read(t.Context(), cluster.Consistency{Level: cluster.Linearizable})
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	require.Less(t, view.Clock, time.Now().Add(time.Minute).UnixMilli())
}

// tally counts calls by idempotency key, and holds answers back while asked to.
type tally struct {
	mu    sync.Mutex // guards calls
	calls map[string]int
	hold  chan struct{}
}

func (a *tally) Manifest() tools.Manifest {
	return tools.Manifest{Name: "http.request", MaxResultBytes: 1 << 16, DefaultTimeout: time.Minute}
}

func (a *tally) Call(ctx context.Context, r tools.Request) tools.Result {
	a.mu.Lock()
	a.calls[r.IdempotencyKey]++
	a.mu.Unlock()
	select {
	case <-a.hold:
	case <-ctx.Done():
	}
	return tools.Succeed(value.True)
}

func (a *tally) counts() (keys, most int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.calls {
		most = max(most, n)
	}
	return len(a.calls), most
}

const postOnce = `{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"POST","url":"http://127.0.0.1:1/pay"}}}`

// A call that must not run twice is dispatched once, by a committed record. It
// survives that leadership moves while it runs: whoever ran it hands its
// result to the new leader, and nobody calls again (TO-4).
func TestCallThatMustNotRunTwice(t *testing.T) {
	counter := &tally{calls: make(map[string]int), hold: make(chan struct{})}
	c := newTrio(t, func(c *trio) { c.adapters = []tools.Adapter{echo.Adapter{}, counter} })
	id := "018f4e5c-0000-7000-8000-000000000002"
	leader := c.leader()
	answer := c.nodes[leader].Propose(t.Context(), event.Event{Kind: event.AgentStart, Principal: "client", Body: event.Encode(event.Start{Define: event.Define{
		ID: id, Program: kerneltest.JSON(t, postOnce),
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/POST/**"}},
	}})})
	require.Empty(t, answer.Outcome.Refusal)
	require.Eventually(t, func() bool { keys, _ := counter.counts(); return keys == 1 }, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, c.nodes[leader].Transfer(t.Context(), ""))
	require.NotEqual(t, leader, c.leader())
	close(counter.hold)
	uuid, _ := flows.ParseID(id)
	require.Eventually(t, func() bool {
		view, err := c.nodes[c.leader()].Read(t.Context(), cluster.Consistency{Level: cluster.Linearizable})
		if err != nil {
			return false
		}
		_, row := view.Find(uuid)
		return row != nil && row.Lifecycle.State == lifecycle.Terminated && row.Execution.Result.OK
	}, 20*time.Second, 10*time.Millisecond)
	keys, most := counter.counts()
	require.Equal(t, 1, keys)
	require.Equal(t, 1, most, "the tool was called again")
	c.sameDigests()
}

// A stale read says how fresh it is, and a bound that cannot be met is
// NOT_CAUGHT_UP, never NOT_FOUND; an index not reached is too (CL-4).
func TestReadsSayHowFreshTheyAre(t *testing.T) {
	c := newTrio(t)
	leader := c.leader()
	answer := c.nodes[leader].Propose(t.Context(), start(t, "018f4e5c-0000-7000-8000-000000000003"))
	require.Equal(t, cluster.Applied, answer.Verdict)
	for _, n := range c.nodes {
		require.Eventually(t, func() bool { return n.Healthy() == nil }, 10*time.Second, 5*time.Millisecond)
		view, err := n.Read(t.Context(), cluster.Consistency{Level: cluster.Session, MinIndex: answer.Outcome.Index})
		require.NoError(t, err)
		require.GreaterOrEqual(t, view.Index, answer.Outcome.Index, "read your writes")
		_, err = n.Read(t.Context(), cluster.Consistency{Level: cluster.Stale, MaxLag: time.Hour})
		require.NoError(t, err)
		view, err = n.Read(t.Context(), cluster.Consistency{Level: cluster.Linearizable})
		require.NoError(t, err)
		require.GreaterOrEqual(t, view.Index, answer.Outcome.Index)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err = n.Read(ctx, cluster.Consistency{Level: cluster.Session, MinIndex: 1 << 40})
		cancel()
		var refused *cluster.ReadError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, cluster.CodeNotCaughtUp, refused.Code)
	}
	// Without a majority the last node cannot promise anything fresh.
	alone := (leader + 1) % 3
	c.stop(leader)
	c.stop((leader + 2) % 3)
	require.Eventually(t, func() bool {
		_, err := c.nodes[alone].Read(t.Context(), cluster.Consistency{Level: cluster.Stale, MaxLag: 100 * time.Millisecond})
		var refused *cluster.ReadError
		return errors.As(err, &refused) && refused.Code == cluster.CodeNotCaughtUp
	}, 10*time.Second, 10*time.Millisecond)
	_, err := c.nodes[alone].Read(t.Context(), cluster.Consistency{Level: cluster.Stale})
	require.NoError(t, err, "a stale read is answered at once")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = c.nodes[alone].Read(ctx, cluster.Consistency{Level: cluster.Linearizable})
	require.Error(t, err)
}

// Commands at a follower are refused with the leader's address, definitely (CL-1).
func TestFollowerNamesTheLeader(t *testing.T) {
	c := newTrio(t)
	leader := c.leader()
	for i, n := range c.nodes {
		if i == leader {
			continue
		}
		require.Eventually(t, func() bool { _, known := n.Leader(); return known }, 10*time.Second, 5*time.Millisecond)
		answer := n.Propose(t.Context(), start(t, "018f4e5c-0000-7000-8000-000000000004"))
		require.Equal(t, cluster.Refused, answer.Verdict)
		require.Equal(t, cluster.CodeNotLeader, answer.Code)
		require.Equal(t, c.peers[leader], answer.Leader)
	}
}

// A data directory belongs to one node of one cluster.
func TestForeignDataDirectory(t *testing.T) {
	c := newTrio(t)
	c.leader()
	c.stop(2)
	_, err := cluster.Open(cluster.Config{
		NodeID: "n3", ClusterID: "another", KernelID: "default", DataDir: c.dirs[2], Peers: c.peers,
		Fatal: func(error) {}, Logger: nullLogger(),
	})
	require.ErrorIs(t, err, datadir.ErrForeign)
}

// An event that no kernel could read is refused before it reaches the log, and
// the nodes go on (EV-2).
func TestUnreadableEventsAreNotProposed(t *testing.T) {
	c := newTrio(t)
	leader := c.nodes[c.leader()]
	bad := event.Event{Kind: event.AgentKill, Principal: "client", Body: []byte{0xff}}
	require.Equal(t, cluster.Refused, leader.Propose(t.Context(), bad).Verdict)
	good := start(t, "018f4e5c-0000-7000-8000-000000000005")
	answers := leader.ProposeAll(t.Context(), []event.Event{bad, good, bad})
	require.Equal(t, []cluster.Verdict{cluster.Refused, cluster.Applied, cluster.Refused},
		[]cluster.Verdict{answers[0].Verdict, answers[1].Verdict, answers[2].Verdict})
	require.Empty(t, answers[1].Outcome.Refusal)
	c.sameDigests()
}
