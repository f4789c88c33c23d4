package cluster_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/kernel/config"
)

// atVersion1 starts nodes as they come from an older cluster; those that held names may
// not be taken further.
func atVersion1(held ...string) func(*trio) {
	return func(c *trio) {
		c.adjust = func(settings *cluster.Config) {
			settings.Limits = config.Default().At(1)
			for _, id := range held {
				if id == settings.NodeID {
					settings.MaxKernelVersion = 1
				}
			}
		}
	}
}

// version is what every node has come to; 0 while they differ.
func (c *trio) version() (version uint32) {
	for i, n := range c.nodes {
		own := n.Status(c.t.Context(), true).KernelVersion
		if i > 0 && own != version {
			return 0
		}
		version = own
	}
	return version
}

// EV-9: the kernel version rises when every member says that it knows the next one, and
// not before; each directory says so from then on. A node that knows less is not taken
// in any more, one of a newer directory does not start.
func TestKernelVersionRises(t *testing.T) {
	c := newTrio(t, atVersion1("n3"))
	leader := c.nodes[c.leader()]
	require.Equal(t, cluster.Applied, leader.Propose(t.Context(), start(t, "")).Verdict)
	var behind []string
	require.Eventually(t, func() bool {
		leader = c.nodes[c.leader()]
		behind = leader.BehindVersion(t.Context(), 2)
		return len(behind) == 1
	}, 30*time.Second, 20*time.Millisecond)
	require.Equal(t, []string{"n3 (knows 1)"}, behind)
	require.Eventually(t, func() bool { // a node may be slow to say
		status := leader.Status(t.Context(), false)
		return status.KernelVersion == 1 && status.Nodes[0].KnowsVersion == 2 && status.Nodes[1].KnowsVersion == 2 && status.Nodes[2].KnowsVersion == 1
	}, 30*time.Second, 20*time.Millisecond)

	c.stop(2)
	require.Eventually(t, func() bool {
		behind = c.nodes[c.leader()].BehindVersion(t.Context(), 2)
		return len(behind) == 1 && behind[0] == "n3 (does not answer)"
	}, 30*time.Second, 20*time.Millisecond)
	require.EqualValues(t, 1, c.nodes[0].Status(t.Context(), true).KernelVersion)

	c.adjust = nil
	c.start(2)
	require.Eventually(t, func() bool { return c.version() == 2 }, 30*time.Second, 20*time.Millisecond)
	for i, dir := range c.dirs {
		content, err := os.ReadFile(filepath.Join(dir, "node.json"))
		require.NoError(t, err)
		var owner struct {
			Says uint32 `json:"kernel_version"`
		}
		require.NoError(t, json.Unmarshal(content, &owner))
		require.EqualValues(t, 2, owner.Says, "node %d", i+1)
	}
	view, err := c.nodes[0].Read(t.Context(), cluster.Consistency{Level: cluster.Stale})
	require.NoError(t, err)
	require.Equal(t, config.Default().LogErrorBytes, view.Config.LogErrorBytes)

	c.adjust = func(settings *cluster.Config) { settings.MaxKernelVersion = 1 }
	late := c.join("n4")
	leader = c.nodes[c.leader()]
	var refusal *consensus.Refusal
	require.Eventually(t, func() bool {
		return errors.As(leader.CheckJoins(t.Context(), "n4", c.peers[late].Raft), &refusal) && refusal.Code == cluster.CodeVersionTooLow
	}, 30*time.Second, 20*time.Millisecond)
	require.Equal(t, "n4 knows kernel version 1, and the cluster is at 2: start it with a binary as new as the other nodes'", refusal.Detail)
	c.stop(late)
	require.ErrorAs(t, leader.CheckJoins(t.Context(), "n4", c.peers[late].Raft), &refusal)
	require.Equal(t, consensus.Unreachable, refusal.Code)
	c.adjust = func(settings *cluster.Config) { settings.Join = true }
	c.start(late)
	require.Eventually(t, func() bool { return leader.CheckJoins(t.Context(), "n4", c.peers[late].Raft) == nil }, 30*time.Second, 20*time.Millisecond)
	c.stop(late)

	require.NoError(t, datadir.Need(c.dirs[late], config.Version+1))
	settings, _ := c.config(late)
	_, err = cluster.Open(settings)
	require.ErrorIs(t, err, datadir.ErrNewer)
	require.ErrorContains(t, err, "needs kernel version 3, this binary knows versions 1 to 2")
	require.NoError(t, c.endpoints[late].Close())
}

// EV-9: a new cluster begins at the newest version, a node that is told to hold it at
// the one it is told, and comes to the next when it no longer is.
func TestNewClustersVersion(t *testing.T) {
	c := newTrio(t)
	c.leader()
	require.Eventually(t, func() bool { return c.version() == config.Version }, 30*time.Second, 20*time.Millisecond)
	held := newTrio(t, func(c *trio) {
		c.adjust = func(settings *cluster.Config) { settings.MaxKernelVersion = 1 }
	})
	held.leader()
	require.Eventually(t, func() bool { return held.version() == 1 }, 30*time.Second, 20*time.Millisecond)
	settings := cluster.Config{NodeID: "n1", ClusterID: "c", KernelID: "k", DataDir: "d", Peers: []cluster.Peer{{ID: "n1"}}, MaxKernelVersion: config.Version + 1}
	require.ErrorContains(t, settings.Check(), "must be from 1 to 2")
}
