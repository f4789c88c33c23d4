package cluster_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// define sends one command to a node.
func (c *crew) define(i int) cluster.Answer {
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
	defer cancel()
	return c.node(i).Propose(ctx, event.Event{Kind: event.AgentDefine, Principal: "test", Body: event.Encode(event.Define{})})
}

// load sends commands, one after the other, to whichever node takes them, and
// counts those that were taken.
func (c *crew) load(ctx context.Context) (taken *atomic.Int64, done <-chan struct{}) {
	taken = new(atomic.Int64)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for at := 0; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if c.define(at).Verdict == cluster.Applied {
				taken.Add(1)
			} else {
				at = (at + 1) % len(c.nodes)
			}
		}
	}()
	return taken, ended
}

// NO-2: a leader that is paused under load hands over; the others serve, it
// refuses commands and answers reads, and after resume it may lead again.
func TestPauseAndResumeUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, testStore(), true)
		paused := c.leader()
		over, stop := context.WithCancel(t.Context())
		taken, done := c.load(over)
		c.until("some load", func() bool { return taken.Load() > 20 })

		dry, err := c.node(paused).Order(t.Context(), cluster.Order{Trigger: nodestate.Pause, DryRun: true})
		require.NoError(t, err)
		require.Equal(t, []any{nodestate.Running, true}, []any{dry.State, dry.Leading})

		came, err := c.node(paused).Order(t.Context(), cluster.Order{Trigger: nodestate.Pause, Reason: "new disks"})
		require.NoError(t, err)
		require.Equal(t, []any{nodestate.Suspended, false}, []any{came.State, came.Leading})
		before := taken.Load()
		c.until("load on the others", func() bool { return taken.Load() > before+100 })
		refused := c.define(paused)
		require.Equal(t, []any{cluster.Refused, cluster.CodeIntakeClosed}, []any{refused.Verdict, refused.Code})
		require.NotEmpty(t, refused.Leader.ID)
		require.NotEqual(t, c.peers[paused].ID, refused.Leader.ID)
		batch := c.node(paused).ProposeAll(t.Context(), []event.Event{{Kind: event.AgentDefine}})
		require.Equal(t, cluster.CodeIntakeClosed, batch[0].Code)
		view, err := c.node(paused).Read(t.Context(), cluster.Consistency{Level: cluster.Linearizable})
		require.NoError(t, err, "reads go on")
		require.Greater(t, int64(view.Agents.Len()), before)

		_, err = c.node(paused).Order(t.Context(), cluster.Order{Trigger: nodestate.Pause})
		var refusal *nodestate.Refusal
		require.ErrorAs(t, err, &refusal)

		_, err = c.node(paused).Order(t.Context(), cluster.Order{Trigger: nodestate.Resume})
		require.NoError(t, err)
		require.NoError(t, c.node(c.leader()).Transfer(t.Context(), c.peers[paused].ID))
		c.until("it leads again", func() bool { return c.define(paused).Verdict == cluster.Applied })
		stop()
		<-done
	})
}

// NO-2: a suspended node that is elected hands leadership over.
func TestSuspendedNodesDoNotLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, testStore(), true)
		leader := c.leader()
		resting := (leader + 1) % 3
		_, err := c.node(resting).Order(t.Context(), cluster.Order{Trigger: nodestate.Pause})
		require.NoError(t, err)
		for range 5 {
			now := c.leader()
			require.NotEqual(t, resting, now)
			_ = c.node(now).Transfer(t.Context(), c.peers[resting].ID) // it may be handed back before it is told
			c.until("another node takes commands", func() bool {
				return c.define((resting+1)%3).Verdict == cluster.Applied || c.define((resting+2)%3).Verdict == cluster.Applied
			})
		}
	})
}

// NO-2: an emergency stop waits for nobody; a pause of a leader that nobody can
// follow does not come about.
func TestEstopWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, testStore(), true)
		leader := c.leader()
		require.Equal(t, cluster.Applied, c.define(leader).Verdict)
		c.crash((leader + 1) % 3)
		c.crash((leader + 2) % 3)
		_, err := c.node(leader).Order(t.Context(), cluster.Order{Trigger: nodestate.Pause})
		var nobody *consensus.Refusal
		require.ErrorAs(t, err, &nobody)
		require.Equal(t, nodestate.Running, c.node(leader).Lifecycle().State)
		_, err = c.node(leader).Order(t.Context(), cluster.Order{Trigger: nodestate.Estop, Reason: "smoke"})
		require.NoError(t, err)
		require.Equal(t, cluster.CodeIntakeClosed, c.define(leader).Code)
		c.start((leader + 1) % 3)
		c.start((leader + 2) % 3)
		c.until("another node leads", func() bool {
			return c.define((leader+1)%3).Verdict == cluster.Applied || c.define((leader+2)%3).Verdict == cluster.Applied
		})
		require.Equal(t, cluster.CodeIntakeClosed, c.define(leader).Code)
	})
}

// NO-3: a node that was suspended comes back suspended, and takes part all the
// same.
func TestSuspendedNodesComeBackSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left [3]kept
		var states [3]*nodestate.Registry
		c := newCrewWith(t, testStore(), true, func(i int, config *cluster.Config) {
			config.State = nodestate.New(nodestate.Options{Policy: nodestate.DefaultPolicy, Before: left[i].last(), Sink: &left[i]})
			states[i] = config.State
			require.Nil(t, states[i].Transition(nodestate.Start, nodestate.Cause{}))
		})
		begin := func(i int) {
			require.Nil(t, states[i].Transition(nodestate.InitOK, nodestate.Cause{}))
		}
		for i := range 3 {
			begin(i)
		}
		resting := (c.leader() + 1) % 3
		_, err := c.node(resting).Order(t.Context(), cluster.Order{Trigger: nodestate.Estop, Reason: "smoke"})
		require.NoError(t, err)
		c.crash(resting)
		require.Equal(t, cluster.Applied, c.define(c.leader()).Verdict)
		c.start(resting)
		begin(resting)
		s := c.node(resting).Lifecycle()
		require.Equal(t, []any{nodestate.Suspended, "smoke", uint64(2)}, []any{s.State, s.Suspension.Reason, s.Boot})
		require.Equal(t, cluster.CodeIntakeClosed, c.define(resting).Code)
		c.until("it has caught up", func() bool { return c.node(resting).Applied() == c.node(c.leader()).Applied() })
	})
}

// kept is what a node would find when it starts again.
type kept struct {
	at atomic.Pointer[nodestate.Memory]
}

func (m *kept) Record(_ nodestate.Entry, now nodestate.Memory) { m.at.Store(&now) }

func (*kept) Err() error { return nil }

func (m *kept) last() *nodestate.Memory { return m.at.Load() }
