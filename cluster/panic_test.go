package cluster_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// nobodysHistory is other nodes' history that never comes.
type nobodysHistory struct{}

func (nobodysHistory) CallInto(context.Context, string, byte, []byte, []byte) ([]byte, error) {
	return nil, errRefused
}

// component is how one of a node's parts is.
func component(t *testing.T, node *cluster.Node, name string) nodestate.Component {
	for _, one := range node.Lifecycle().Components {
		if one.Name == name {
			return one
		}
	}
	require.Fail(t, "no such component", name)
	return nodestate.Component{}
}

// panicking runs a component that panics as often as allowed says, one time after the
// other.
func panicking(one supervise.Component, due func() bool) supervise.Component {
	run := one.Run
	one.Run = func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- run(ctx) }()
		for ctx.Err() == nil {
			if due() {
				cancel()
				<-ended
				panic("planted in " + one.Name)
			}
			select {
			case err := <-ended:
				return err
			case <-time.After(50 * time.Millisecond):
			}
		}
		return <-ended
	}
	return one
}

// NO-1: a panic in any component of a node but Raft is caught, on record, and followed
// by a restart; the cluster goes on taking commands and calling tools.
func TestAnyComponentMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := []string{
			"snapshots", "freshness", "review", "calls", "results", "history", "backups", "leadership", "pulse", "checkpoints", "versions", "tools",
			"members", "promotions",
		}
		type planted struct {
			in       string // the component that panics
			panicked atomic.Int32
		}
		var now atomic.Pointer[planted]
		now.Store(new(planted))
		var journals [3]*nodejournal.Journal
		c := newCrewWith(t, testStore(), true, func(i int, config *cluster.Config) {
			config.History = nobodysHistory{}
			config.Backups = &cluster.BackupConfig{Dir: t.TempDir(), Every: time.Hour, Keep: 1}
			config.Supervised = func(one supervise.Component) supervise.Component {
				return panicking(one, func() bool {
					bug := now.Load()
					return bug.in == one.Name && bug.panicked.Add(1) <= 2
				})
			}
			journals[i] = journaled(t, config)
		})
		c.leader()
		for _, name := range all {
			bug := &planted{in: name}
			now.Store(bug)
			c.until(name+" panics twice", func() bool { return bug.panicked.Load() > 2 })
		}
		c.until("a leader that takes commands", func() bool { return c.define(c.leader()).Verdict == cluster.Applied })
		restarts, onRecord := 0, make(map[string]int)
		for i := range 3 {
			s := c.node(i).Lifecycle()
			require.Equal(t, nodestate.Running, s.State)
			require.Len(t, s.Components, len(all)+1, "and raft: a component that this test does not know")
			for _, one := range s.Components {
				restarts += one.Restarts
				if one.Restarts > 0 {
					assert.Contains(t, one.LastError, "planted in "+one.Name)
				}
			}
			require.NoError(t, journals[i].Sync(t.Context()))
			found, err := journals[i].Tail(0, 1000)
			require.NoError(t, err)
			for _, e := range found.Entries {
				if e.Kind == nodestate.KindComponent && e.Status == nodestate.StatusFailing {
					assert.Equal(t, "panic: planted in "+e.Component, e.Cause)
					onRecord[e.Component]++
				}
			}
		}
		require.Equal(t, 2*len(all), restarts)
		for _, name := range all {
			require.Equal(t, 2, onRecord[name], name)
		}
	})
}

// journaled gives a node a lifecycle that is kept, already Running.
func journaled(t *testing.T, config *cluster.Config) *nodejournal.Journal {
	journal, past, err := nodejournal.Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, journal.Close()) })
	config.Journal = journal
	config.State = nodestate.New(nodestate.Options{Policy: nodestate.DefaultPolicy, Before: past.Before, Sink: journal})
	for _, trigger := range []nodestate.Trigger{nodestate.Start, nodestate.InitOK} {
		require.Nil(t, config.State.Transition(trigger, nodestate.Cause{By: "test"}))
	}
	return journal
}

// A leader whose duty keeps failing hands leadership over instead of leading without
// it; the node is Degraded, and leads again when that is over.
func TestDutiesThatKeepFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Int32 // the node whose pulse fails, from 1
		c := newCrewWith(t, testStore(), true, func(i int, config *cluster.Config) {
			config.Supervised = func(one supervise.Component) supervise.Component {
				if one.Name != "pulse" {
					return one
				}
				return panicking(one, func() bool { return broken.Load() == int32(i+1) })
			}
		})
		weak := c.leader()
		broken.Store(int32(weak + 1))
		c.until("another node leads", func() bool { return c.leader() != weak })
		c.until("it is Degraded", func() bool { return c.node(weak).Lifecycle().State == nodestate.Degraded })
		require.Equal(t, nodestate.DefaultPolicy.DegradedAfter+1, component(t, c.node(weak), "pulse").Restarts)
		require.Equal(t, cluster.Applied, c.define(c.leader()).Verdict)

		broken.Store(0)
		require.NoError(t, c.node(c.leader()).Transfer(t.Context(), c.peers[weak].ID))
		c.until("it leads", func() bool { return c.leader() == weak })
		c.until("its pulse beats", func() bool { return component(t, c.node(weak), "pulse").Status == nodestate.StatusOK })
		c.until("it is well", func() bool { return c.node(weak).Lifecycle().State == nodestate.Running })
		require.Equal(t, weak, c.leader())
	})
}

// asking sees every question before it goes to another node.
type asking struct {
	consensus.PeerCaller
	before func(kind byte)
}

func (a asking) Call(ctx context.Context, address string, kind byte, body []byte) ([]byte, error) {
	a.before(kind)
	return a.PeerCaller.Call(ctx, address, kind, body)
}

// once panics the first time that it is due.
func once(due *atomic.Bool) {
	if due.CompareAndSwap(true, false) {
		panic("planted deep inside")
	}
}

// patient is a tool whose calls take a while and must not run twice.
type patient struct {
	began atomic.Int32
	takes time.Duration
}

func (*patient) Manifest() tools.Manifest {
	return tools.Manifest{Name: "http.request", MaxResultBytes: 1 << 10, DefaultTimeout: time.Hour}
}

func (s *patient) Call(ctx context.Context, r tools.Request) tools.Result {
	s.began.Add(1)
	sleep(ctx, s.takes)
	return tools.Succeed(value.True)
}

// NO-1: the goroutines that a component starts by itself are the component's: of two
// results that are handed on, one panics; the other still arrives, and the node goes on.
func TestHandingOnMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		tool := &patient{takes: time.Second}
		c := newCrewWith(t, testStore(), true, func(_ int, config *cluster.Config) {
			var err error
			config.Tools, err = tools.New(tools.Options{}, tool)
			require.NoError(t, err)
			config.Calls = asking{config.Calls, func(kind byte) {
				if kind == cluster.PeerHandIn {
					once(&armed)
				}
			}}
		})
		ran := c.leader()
		for i := range 2 {
			answer := c.node(ran).Propose(t.Context(), event.Event{Kind: event.AgentStart, Principal: "test", Body: event.Encode(event.Start{Define: event.Define{
				ID: kerneltest.AgentID(i + 1), Program: kerneltest.JSON(t, postOnce),
				Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/POST/**"}},
			}})})
			require.True(t, answer.Outcome.Done(), "%+v", answer)
		}
		c.until("both calls are under way", func() bool { return tool.began.Load() == 2 })
		armed.Store(true)
		require.NoError(t, c.node(ran).Transfer(t.Context(), ""))
		arrived, unknown := 0, 0
		c.until("both agents know", func() bool {
			view, err := c.node(c.leader()).Read(t.Context(), cluster.Consistency{Level: cluster.Linearizable})
			if err != nil {
				return false
			}
			arrived, unknown = 0, 0
			for no := uint32(1); no <= view.Agents.Len(); no++ {
				row := view.Agents.Get(no)
				switch result := row.Execution.Result; {
				case result == nil:
				case result.OK && row.Lifecycle.State == lifecycle.Terminated:
					arrived++
				case result.Code == failure.OutcomeUnknown:
					unknown++
				}
			}
			return arrived+unknown == 2
		})
		require.Equal(t, []int{1, 1}, []int{arrived, unknown})
		results := component(t, c.node(ran), "results")
		require.Equal(t, []any{1, "panic: planted deep inside", nodestate.StatusOK}, []any{results.Restarts, results.LastError, results.Status})
		require.Zero(t, c.node(ran).UnderWay().Calls)
		require.Equal(t, int32(2), tool.began.Load())
	})
}

// NO-1: the same of a leader's questions for chain values, and of what answers another
// node's question.
func TestQuestionsMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ask, answer atomic.Bool
		c := newCrewWith(t, testStore(), true, func(_ int, config *cluster.Config) {
			config.Calls = asking{config.Calls, func(kind byte) {
				if kind == cluster.PeerChain {
					once(&ask)
				}
			}}
			config.LogBlocked = func() time.Duration { // a node looks at it when it tells another one its status
				once(&answer)
				return 0
			}
		})
		leader := c.leader()
		ask.Store(true)
		require.Equal(t, cluster.Applied, c.define(leader).Verdict)
		c.until("it panics", func() bool { return component(t, c.node(leader), "checkpoints").Restarts == 1 })
		before := component(t, c.node(leader), "checkpoints")
		require.Equal(t, []any{"panic: planted deep inside", nodestate.StatusOK}, []any{before.LastError, before.Status})

		asked := (leader + 1) % 3
		answer.Store(true)
		_, err := c.node(asked).HandlePeer(t.Context(), "n1", cluster.PeerStatus, nil)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "planted", "what it was is for the node's own log")
		hurt := component(t, c.node(asked), "review")
		require.Equal(t, []any{"panic: planted deep inside", 0, nodestate.StatusOK}, []any{hurt.LastError, hurt.Restarts, hurt.Status})
		_, err = c.node(asked).HandlePeer(t.Context(), "n1", cluster.PeerStatus, nil)
		require.NoError(t, err)
		require.Equal(t, leader, c.leader())
		require.Equal(t, nodestate.Running, c.node(leader).Lifecycle().State)
	})
}
