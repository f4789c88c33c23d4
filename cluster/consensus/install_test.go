package consensus

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// Of three nodes one is down, and one is so far behind that it needs the state
// as a snapshot, which takes it a long time to restore. The leader goes on to
// lead meanwhile: the node's term is what it was, and it says so. What was
// proposed meanwhile is committed as soon as the snapshot is in.
func TestInstallKeepsTheLease(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		const restoring = 2500 * time.Millisecond // within the transport timeout, the least that an install may take
		c, leader, behind := needsSnapshot(t, store, restoring)
		term, began := leader.group().Status().Term, time.Now()
		c.start(behind)
		waiting := make(chan Outcome, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { waiting <- leader.group().Propose(ctx, []byte("meanwhile")) }()

		for time.Since(began) < restoring {
			time.Sleep(10 * time.Millisecond)
			status := leader.group().Status()
			require.Equal(t, "Leader", status.State, "after %v", time.Since(began))
			require.Equal(t, term, status.Term)
		}
		out := <-waiting
		require.Equal(t, Applied, out.Verdict, "%+v", out)
		require.Equal(t, term, out.Term)
		require.Less(t, time.Since(began), restoring+time.Second)
		require.Equal(t, 1, leader.terms())
		require.Equal(t, uint64(1), behind.group().Status().Restores)
		c.requireEqual()
	})
}

// terms is in how many terms a node has led.
func (n *node) terms() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.tenures)
}

// needsSnapshot is a cluster of three that has gone on without two of them, one
// after the other: one is down for good, the other needs a snapshot to come back.
func needsSnapshot(t *testing.T, store raftstore.Kind, restoring time.Duration) (c *trio, leader, behind *node) {
	dir := t.TempDir()
	c = newClusterOver(t, store, 3, func(c *Config) {
		c.Snapshots, c.SnapshotDir, c.Limits = nil, filepath.Join(dir, c.NodeID), Limits{TrailingLogs: 10}
	})
	leader = c.leader()
	others := c.others(leader)
	behind = others[0]
	behind.restore = restoring
	c.crash(behind)
	for i := range 100 {
		require.Equal(t, Applied, leader.group().Propose(t.Context(), fmt.Append(nil, i)).Verdict)
	}
	require.NoError(t, leader.group().Snapshot(t.Context()))
	c.crash(others[1])
	return c, leader, behind
}

// Beside the library only heartbeats of the very term and leader are answered.
// Everything else waits until the install is over.
func TestInstallAnswersForItsTermOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const restoring = 2500 * time.Millisecond
		c, leader, behind := needsSnapshot(t, memory, restoring)
		c.start(behind)
		require.Eventually(t, func() bool { return behind.group().raft.CurrentTerm() == leader.group().Status().Term }, time.Minute, time.Millisecond)
		time.Sleep(restoring / 10)
		stranger := raft.NewNetworkTransport(c.network.join("host-x"), 3, 300*time.Millisecond, io.Discard)
		defer func() { _ = stranger.Close() }()
		beat := func(from *node, term uint64) error {
			request := raft.AppendEntriesRequest{RPCHeader: raftHeader(from), Term: term}
			var response raft.AppendEntriesResponse
			err := stranger.AppendEntries(raft.ServerID(behind.id), raft.ServerAddress(behind.address()), &request, &response)
			if err == nil {
				require.True(t, response.Success)
				require.Equal(t, term, response.Term)
				require.Equal(t, behind.group().raft.LastIndex(), response.LastLog)
			}
			return err
		}
		term := leader.group().Status().Term
		require.NoError(t, beat(leader, term))
		require.Error(t, beat(leader, term-1))
		require.Error(t, beat(leader, term+1))
		require.Error(t, beat(c.others(leader)[1], term))
		require.NoError(t, beat(leader, term), "nobody waits behind those")
	})
}
