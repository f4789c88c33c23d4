package cluster_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/fsm"
)

// change asks whoever leads for a change of the members, until that one has an answer
// of its own.
func (c *trio) change(change cluster.MemberChange) (done cluster.MemberChanged, err error) {
	c.t.Helper()
	poll(c.t, fmt.Sprintf("somebody answers %+v", change), func() bool {
		done, err = c.nodes[c.leader()].ChangeMember(c.t.Context(), change)
		var no *consensus.Refusal
		return !errors.As(err, &no) || no.Code == consensus.NotCaughtUp
	})
	return done, err
}

func (c *trio) refuses(code string, change cluster.MemberChange) {
	c.t.Helper()
	_, err := c.change(change)
	var no *cluster.MemberRefusal
	require.ErrorAs(c.t, err, &no)
	require.Equal(c.t, code, no.Code, "%+v", change)
	require.NotEmpty(c.t, no.Rule)
}

// member is one of the list, as a node has it.
func (c *trio) member(at int, id string) (found cluster.MemberStatus) {
	c.t.Helper()
	members, err := c.nodes[at].Members(c.t.Context())
	require.NoError(c.t, err)
	for _, m := range members.Members {
		if m.ID == id {
			found = m
		}
	}
	return found
}

func (c *trio) add(i int) cluster.MemberChange {
	return cluster.MemberChange{Change: cluster.MemberAdd, ID: c.peers[i].ID, Raft: c.peers[i].Raft}
}

// A node is added, and votes when it has caught up; the others learn where its API is
// although nobody told them. What it is to be outlives the leader that was told. It
// is removed, stops, and does not start again (ME-1 to ME-4).
func TestMembersComeAndGo(t *testing.T) {
	ended := make(chan error, 1)
	c := newTrio(t, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			config.Timing.Multiplier = 3
			if config.NodeID == "n4" {
				config.Fatal = func(err error) { ended <- err }
				config.Peers = append([]cluster.Peer(nil), config.Peers[3]) // it knows nobody before it is taken in
			}
		}
	})
	c.write(100)
	joiner := c.join("n4")
	add := c.add(joiner)
	none := newPeer(t, "n5")
	c.refuses(cluster.CodeNoAnswer, cluster.MemberChange{Change: cluster.MemberAdd, ID: "n5", Raft: none.Raft})
	c.refuses(cluster.CodeAddressInUse, cluster.MemberChange{Change: cluster.MemberAdd, ID: "n5", Raft: c.peers[0].Raft})
	c.refuses(cluster.CodeMemberExists, cluster.MemberChange{Change: cluster.MemberAdd, ID: "n1", Raft: add.Raft})
	c.refuses("INVALID_ARGUMENT", cluster.MemberChange{Change: cluster.MemberAdd, ID: "n5", Raft: add.Raft})
	c.refuses("INVALID_ARGUMENT", cluster.MemberChange{Change: cluster.MemberAdd, ID: "n5", Raft: "0.0.0.0:1"})
	c.refuses(cluster.CodeUnknownMember, cluster.MemberChange{Change: cluster.MemberRemove, ID: "n4"})
	learner := add
	learner.Learner = true
	tried := learner
	tried.DryRun = true
	done, err := c.change(tried)
	require.NoError(t, err)
	require.Equal(t, cluster.MemberChanged{Changed: true, Voters: 3}, done)
	for _, change := range []string{cluster.MemberRemove, cluster.MemberDemote} {
		done, err = c.change(cluster.MemberChange{Change: change, ID: c.peers[c.leader()].ID, DryRun: true})
		require.NoError(t, err)
		require.Equal(t, cluster.MemberChanged{Changed: true, Voters: 3}, done)
	}
	c.refuses(cluster.CodeUnknownMember, cluster.MemberChange{Change: cluster.MemberPromote, ID: "n4", DryRun: true})
	done, err = c.change(learner)
	require.NoError(t, err)
	require.Equal(t, cluster.MemberChanged{Changed: true, Voters: 3}, done)
	done, err = c.change(add)
	require.NoError(t, err)
	require.False(t, done.Changed, "twice is once")

	c.sameDigests()
	poll(t, "every node knows it, and where its API is", func() bool {
		for at := range c.nodes {
			if m := c.member(at, "n4"); m.API != c.peers[joiner].API || m.Voter || !m.Learner || !m.Healthy {
				return false
			}
		}
		return true
	})
	poll(t, "it knows the others", func() bool { return c.member(joiner, "n2").API == c.peers[1].API })

	promote := cluster.MemberChange{Change: cluster.MemberPromote, ID: "n4"}
	poll(t, "it is promoted", func() bool { done, err = c.change(promote); return err == nil })
	require.Equal(t, 4, done.Voters)
	demote := cluster.MemberChange{Change: cluster.MemberDemote, ID: "n4"}
	done, err = c.change(demote)
	require.NoError(t, err)
	require.Equal(t, cluster.MemberChanged{Changed: true, Voters: 3}, done)
	old := c.leader()
	poll(t, "another leads", func() bool {
		_ = c.nodes[old].Transfer(t.Context(), "")
		return c.leader() != old
	})
	leader := c.leader()
	poll(t, "the next leader knows that it is to stay a learner", func() bool { return c.member(leader, "n4").Learner })
	require.False(t, c.member(leader, "n4").Voter)

	_, _ = c.change(promote)
	poll(t, "it votes", func() bool { return c.member(c.leader(), "n4").Voter })
	_, err = c.change(cluster.MemberChange{Change: cluster.MemberRemove, ID: "n4"})
	require.NoError(t, err)
	select {
	case err := <-ended:
		require.ErrorIs(t, err, cluster.ErrRemoved)
	case <-time.After(30 * time.Second):
		require.Fail(t, "the removed node goes on")
	}
	c.stop(joiner)
	config, _ := c.config(joiner)
	_, err = cluster.Open(config)
	require.ErrorIs(t, err, cluster.ErrRemoved)
	require.NoError(t, c.endpoints[joiner].Close())
	c.write(10)
}

// Who leads can be removed: it hands over first. A voter that is needed stays, unless
// it is forced; the last one always (ME-5).
func TestVotersThatAreNeededStay(t *testing.T) {
	ended := make(chan string, 3)
	c := newTrio(t, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			config.Timing.Multiplier = 3
			config.Fatal = func(error) { ended <- config.NodeID }
		}
	})
	c.write(1)
	first := c.leader()
	_, err := c.change(cluster.MemberChange{Change: cluster.MemberRemove, ID: c.peers[first].ID})
	require.NoError(t, err)
	select {
	case id := <-ended:
		require.Equal(t, c.peers[first].ID, id)
	case <-time.After(30 * time.Second):
		require.Fail(t, "the removed node goes on")
	}
	c.stop(first)
	leader := c.leader()
	other := 3 - first - leader
	c.refuses(cluster.CodeUnknownMember, cluster.MemberChange{Change: cluster.MemberDemote, ID: c.peers[first].ID})
	done, err := c.change(cluster.MemberChange{Change: cluster.MemberDemote, ID: c.peers[other].ID})
	require.NoError(t, err, "one of two may go: the one that is left is its own majority")
	require.Equal(t, 1, done.Voters)
	c.refuses(cluster.CodeLastVoter, cluster.MemberChange{Change: cluster.MemberRemove, ID: c.peers[leader].ID, Force: true})
	c.write(1)
}

// unhurried is for machines that have much else to do.
func unhurried(c *trio) { c.adjust = func(config *cluster.Config) { config.Timing.Multiplier = 3 } }

// A voter that answers is not spared while too few of the others do (ME-5).
func TestNobodyIsRemovedFromABareMajority(t *testing.T) {
	c := newTrio(t, unhurried)
	c.write(1)
	leader := c.leader()
	down, up := (leader+1)%3, (leader+2)%3
	c.stop(down)
	remove := cluster.MemberChange{Change: cluster.MemberRemove, ID: c.peers[up].ID}
	c.refuses(cluster.CodeMajority, remove)
	remove.Change = cluster.MemberDemote
	c.refuses(cluster.CodeMajority, remove)
	_, err := c.change(cluster.MemberChange{Change: cluster.MemberRemove, ID: c.peers[down].ID})
	require.NoError(t, err, "who is gone may go")
	c.write(1)
}

// A member that has not answered for the time that the operator set is removed by the
// leader; never below the number of voters that must be left (ME-6).
func TestDeadMembersAreRemoved(t *testing.T) {
	for _, least := range []int{2, 3} {
		t.Run(fmt.Sprint(least), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrewWith(t, testStore(), true, func(_ int, config *cluster.Config) {
					config.RemoveDead, config.MinVoters = time.Minute, least
				})
				leader := c.leader()
				dead := (leader + 1) % 3
				c.crash(dead)
				time.Sleep(50 * time.Second)
				members := func() map[string]bool {
					found, err := c.node(c.leader()).Members(t.Context())
					require.NoError(t, err)
					ids := make(map[string]bool)
					for _, m := range found.Members {
						ids[m.ID] = true
					}
					return ids
				}
				require.Len(t, members(), 3, "it may come back")
				time.Sleep(2 * time.Minute)
				require.Equal(t, least == 3, members()[c.peers[dead].ID])
				require.Len(t, members(), max(2, least))
				require.Equal(t, cluster.Applied, c.define(c.leader()).Verdict)
			})
		})
	}
}

// openLayer leaves questions between nodes alone when Raft's streams are closed, which
// here are one.
type openLayer struct{ *port }

func (openLayer) Close() error { return nil }

// A node that is held in safe mode takes no part, and is not dead (ME-6).
func TestHeldMembersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrewWith(t, testStore(), true, func(_ int, config *cluster.Config) {
			config.RemoveDead, config.MinVoters = time.Minute, 2
		})
		answer := c.define(c.leader())
		require.Equal(t, cluster.Applied, answer.Verdict)
		victim := (c.leader() + 1) % 3
		c.until("it has it", func() bool { return c.node(victim).Applied() >= answer.Outcome.Index })
		c.crash(victim)
		plantCrashes(t, c.dirs[victim], c.store, answer.Outcome.Index)
		config, p := c.config(victim)
		_, err := cluster.Open(config)
		var cause *fsm.SafeModeError
		require.ErrorAs(t, err, &cause)
		config.Stream = openLayer{p}
		held, err := cluster.Hold(config, cause)
		require.NoError(t, err)
		defer func() { _ = held.Stop(t.Context()) }()
		c.ports[victim] = p
		p.serve(held.HandlePeer)
		listed := func() int {
			found, err := c.node(c.leader()).Members(t.Context())
			require.NoError(t, err)
			return len(found.Members)
		}
		time.Sleep(10 * time.Minute)
		require.Equal(t, 3, listed())
		require.NoError(t, p.Close())
		time.Sleep(3 * time.Minute)
		require.Equal(t, 2, listed(), "now it is")
	})
}

// A leader whose process stood still has not asked anybody meanwhile, and takes nobody
// for dead (ME-6).
func TestAPauseIsNobodysDeath(t *testing.T) {
	var alive cluster.Lives
	now := time.Now()
	pass := func(d time.Duration) int {
		now = now.Add(d)
		return alive.Round(now, time.Minute, "n2")
	}
	require.Equal(t, 0, pass(0))
	for range 59 {
		require.Zero(t, pass(time.Second))
	}
	require.Equal(t, 1, pass(time.Second), "n2 has not answered for a minute")
	require.Zero(t, pass(31*time.Second), "it was not asked for long")
	for range 59 {
		require.Zero(t, pass(time.Second))
	}
	require.Equal(t, 1, pass(time.Second))
}

// What a node knew last is on disk, for when Raft does not run.
func TestMembersAreKept(t *testing.T) {
	c := newTrio(t, unhurried)
	poll(t, "it is written", func() bool {
		kept, err := datadir.ReadMembership(c.dirs[0])
		return err == nil && kept.Member && len(kept.Peers) == 3 && kept.Peers[1].API == c.peers[1].API && kept.Peers[2].Voter
	})
	require.NoError(t, os.WriteFile(filepath.Join(c.dirs[0], "members.json"), []byte("{"), 0o600))
	c.stop(0)
	config, _ := c.config(0)
	_, err := cluster.Open(config)
	require.ErrorContains(t, err, "remove the file")
	require.NoError(t, c.endpoints[0].Close())
	require.NoError(t, os.Remove(filepath.Join(c.dirs[0], "members.json")))
	c.start(0)
}

// A node that is part of a majority at work stays when a member answers of a recovery that it
// knows nothing of, and says so, also when it was started a moment ago; what is not said again
// is forgotten; and two that have just come back stop for good, also when one of them has
// been elected (ME-9).
func TestTwoClustersOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards ended
		ended := make(map[string]error)
		c := newCrewWith(t, testStore(), true, func(i int, config *cluster.Config) {
			config.Fatal = func(err error) {
				mu.Lock()
				defer mu.Unlock()
				ended[config.NodeID] = err
			}
		})
		// told has nodes be answered by a member that goes on without them.
		told := func(by string, nodes ...int) {
			for range 10 {
				for _, i := range nodes {
					c.node(i).Outlived(by)
				}
				time.Sleep(time.Second)
			}
		}
		c.define(c.leader())
		time.Sleep(2 * time.Minute)
		told("10.9.9.9:7800", 0, 1, 2)
		for i := range 3 {
			require.NoError(t, c.node(i).Healthy(), "it is no member who said so")
			require.False(t, c.node(i).Fresh())
		}
		odd := (c.leader() + 2) % 3
		told(c.peers[odd].Raft, 0, 1, 2)
		for i := range 3 {
			require.ErrorContains(t, c.node(i).Healthy(), "the member at "+c.peers[odd].Raft+" said so")
		}
		back := (c.leader() + 1) % 3
		c.crash(back)
		c.start(back)
		told(c.peers[odd].Raft, back)
		require.Equal(t, cluster.Applied, c.define(c.leader()).Verdict)
		require.Empty(t, ended)
		time.Sleep(time.Minute)
		for i := range 3 {
			require.NoError(t, c.node(i).Healthy(), "it was not said again")
		}

		for i := range 3 {
			c.crash(i)
		}
		lost := []int{(odd + 1) % 3, (odd + 2) % 3}
		for _, i := range lost {
			c.start(i)
		}
		c.until("they are a majority", func() bool { return c.node(lost[0]).Healthy() == nil && c.node(lost[1]).Healthy() == nil })
		told(c.peers[odd].Raft, lost...)
		for _, i := range lost {
			require.ErrorIs(t, ended[c.peers[i].ID], cluster.ErrOutlived)
			require.FileExists(t, filepath.Join(c.dirs[i], "OUTLIVED"))
		}
	})
	c := newTrio(t, unhurried)
	joiner := c.nodes[c.join("n4")]
	require.True(t, joiner.Fresh())
	joiner.Outlived(c.peers[0].Raft) // its Fatal would fail the test
	require.NoFileExists(t, filepath.Join(c.dirs[3], "OUTLIVED"))
}
