package consensus

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// A node joins as a learner, catches up, becomes a voter, and the leader can
// be removed.
func TestGrowAndShrink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, func(c *Config) { c.Limits = Limits{LearnerLag: 10} })
		ctx := t.Context()
		leader := c.leader()
		for i := range 100 {
			require.Equal(t, Applied, leader.group().Propose(ctx, fmt.Append(nil, i)).Verdict)
		}
		joiner := c.add("d", nil)
		c.network.isolate(joiner.address())
		require.NoError(t, leader.group().AddLearner(ctx, "d", joiner.address()))
		requireCode(t, Unreachable, leader.group().Promote(ctx, "d"))
		requireCode(t, NotCaughtUp, leader.group().Promote(ctx, "nobody"))
		c.network.heal()
		require.Eventually(t, func() bool { return leader.group().Promote(ctx, "d") == nil }, time.Minute, 50*time.Millisecond)
		require.Len(t, leader.group().voters(), 4)
		require.NoError(t, leader.group().Promote(ctx, "d"), "twice is once")
		require.Len(t, joiner.machine.lines(), len(leader.machine.lines()))
		index, err := joiner.group().ReadIndex(ctx)
		require.NoError(t, err)
		require.NoError(t, joiner.group().WaitApplied(ctx, index))

		var no *Refusal
		require.ErrorAs(t, joiner.group().Remove(ctx, "a"), &no)
		require.Equal(t, NotLeader, no.Code)

		require.NoError(t, leader.group().Remove(ctx, leader.id))
		next := c.leader(leader)
		require.Len(t, next.group().voters(), 3)
		require.Equal(t, Applied, next.group().Propose(ctx, []byte("after")).Verdict)
	})
}

// A learner with the whole log becomes no voter while it lacks what else a voter
// must have; whoever asks is told what that is (LO-2).
func TestPromotionWaitsForMoreThanTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lacks := errors.New("it lacks history below busSeq 17")
		var asked []Member
		c := newCluster(t, 3, func(c *Config) {
			c.MayVote = func(_ context.Context, learner Member) error {
				asked = append(asked, learner)
				return lacks
			}
		})
		ctx := t.Context()
		leader := c.leader()
		joiner := c.add("d", nil)
		require.NoError(t, leader.group().AddLearner(ctx, "d", joiner.address()))
		require.Eventually(t, func() bool { return joiner.group().Status().LastIndex == leader.group().Status().LastIndex }, time.Minute, time.Millisecond)
		err := leader.group().Promote(ctx, "d")
		requireCode(t, NotCaughtUp, err)
		require.ErrorContains(t, err, "d: it lacks history below busSeq 17")
		require.Equal(t, []Member{{ID: "d", Address: joiner.address()}}, asked)
		require.Len(t, leader.group().voters(), 3)

		lacks = refusal(Unreachable, "it does not answer")
		require.Same(t, lacks, leader.group().Promote(ctx, "d"))
		lacks = nil
		require.NoError(t, leader.group().Promote(ctx, "d"))
		require.Len(t, leader.group().voters(), 4)
		require.NoError(t, leader.group().Promote(ctx, "d"))
		require.Len(t, asked, 3, "of a voter nobody asks")
	})
}

// A learner's answer is not a voter's: reads need a majority of those who vote.
func TestLearnersDoNotConfirmReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		learner := c.add("z", nil)
		require.NoError(t, leader.group().AddLearner(t.Context(), "z", learner.address()))
		time.Sleep(time.Second)
		require.NoError(t, readOn(t, learner))
		for _, n := range c.others(leader) {
			if n != learner {
				c.network.isolate(n.address())
			}
		}
		require.Error(t, readOn(t, leader))
	})
}

// The list's order does not matter: the first entry is the same everywhere.
func TestBootstrapIsIdentical(t *testing.T) {
	members := names(3)
	want := raft.EncodeConfiguration(configurationOf(members))
	members[0], members[2] = members[2], members[0]
	require.Equal(t, want, raft.EncodeConfiguration(configurationOf(members)))
}

// A crash between the two writes of a bootstrap is repaired; a store that has
// lived is left alone.
func TestBootstrapCutShort(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		c := &trio{t: t, network: newNetwork(), members: names(1), store: store}
		n := &node{id: "a", disk: newDisk(t, store, filepath.Join(t.TempDir(), "a")), snapshots: raft.NewInmemSnapshotStore(), bootstrap: c.members}
		var files Config
		n.disk.open(&files)
		require.NoError(t, files.Stable.SetUint64([]byte("CurrentTerm"), 1))
		n.disk.close()
		c.nodes = append(c.nodes, n)
		c.start(n)
		require.Equal(t, Applied, c.leader().group().Propose(t.Context(), []byte("x")).Verdict)
		before := n.group().Status().LastIndex

		c.crash(n)
		n.bootstrap = []Member{{ID: "a", Address: n.address(), Voter: true}, {ID: "b", Address: "host-b", Voter: true}}
		c.start(n)
		c.leader()
		require.Len(t, n.group().Members(), 1, "a later list is ignored")
		require.Greater(t, n.group().Status().LastIndex, before)
		c.close()
	})
	for name, lived := range map[string]func(*raft.InmemStore) error{
		"voted": func(s *raft.InmemStore) error { return s.Set([]byte("LastVoteCand"), []byte("b")) },
		"term":  func(s *raft.InmemStore) error { return s.SetUint64([]byte("CurrentTerm"), 2) },
	} {
		t.Run(name, func(t *testing.T) {
			store := raft.NewInmemStore()
			require.NoError(t, store.SetUint64([]byte("CurrentTerm"), 1))
			require.NoError(t, lived(store))
			config := Config{Log: store, Stable: store, Snapshots: raft.NewInmemSnapshotStore(), Logger: logger("")}
			require.NoError(t, finishBootstrap(config, configurationOf(names(1))))
			last, err := store.LastIndex()
			require.NoError(t, err)
			require.Zero(t, last)
		})
	}
}

func TestConfigIsChecked(t *testing.T) {
	net := newNetwork()
	whole := func() Config {
		store, p := raft.NewInmemStore(), net.join("x")
		return Config{NodeID: "x", FSM: &machine{}, Log: store, Stable: store, Snapshots: raft.NewInmemSnapshotStore(), Stream: p, Peers: p}
	}
	for name, spoil := range map[string]func(*Config){
		"node":       func(c *Config) { c.NodeID = "" },
		"machine":    func(c *Config) { c.FSM = nil },
		"log":        func(c *Config) { c.Log = nil },
		"stream":     func(c *Config) { c.Stream = nil },
		"peers":      func(c *Config) { c.Peers = nil },
		"snapshots":  func(c *Config) { c.Snapshots = nil },
		"multiplier": func(c *Config) { c.Timing.Multiplier = 11 },
		"lease":      func(c *Config) { c.Timing.Lease = time.Minute },
		"growth":     func(c *Config) { c.Growth = brokenGrowth{} },
	} {
		c := whole()
		spoil(&c)
		_, err := Start(c)
		require.Error(t, err, name)
	}
	g, err := Start(whole())
	require.NoError(t, err)
	require.NoError(t, g.Close())
}

type brokenGrowth struct{}

func (brokenGrowth) Bytes() uint64          { return 0 }
func (brokenGrowth) Forget(uint64)          {}
func (brokenGrowth) CountFrom(uint64) error { return errors.New("cannot read") }

func TestTimingScales(t *testing.T) {
	timing, err := Timing{Multiplier: 4, Heartbeat: 100 * time.Millisecond}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, Timing{
		Multiplier: 1, Heartbeat: 400 * time.Millisecond, Election: 1200 * time.Millisecond, Lease: 1200 * time.Millisecond,
		Commit: 80 * time.Millisecond, Transport: 12 * time.Second,
	}, timing)
}
