package consensus

import (
	"bytes"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// The real store, in virtual time: the log grows, a snapshot is taken by bytes,
// the log is cut, and a node that was away is brought back by the snapshot.
func TestSnapshotsByBytes(t *testing.T) {
	for _, store := range []raftstore.Kind{raftstore.Bolt, raftstore.WAL} {
		t.Run(string(store), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { snapshotsByBytes(t, store, dir) })
		})
	}
}

func snapshotsByBytes(t *testing.T, store raftstore.Kind, dir string) {
	c := newClusterOver(t, store, 3, func(c *Config) {
		c.Snapshots, c.SnapshotDir = nil, filepath.Join(dir, c.NodeID)
		c.Limits = Limits{SnapshotBytes: 200 << 10, TrailingLogs: 10}
	})
	leader := c.leader()
	away := c.others(leader)[0]
	c.crash(away)

	payload := bytes.Repeat([]byte("x"), 1000)
	write := func(count int) {
		for range count {
			require.Equal(t, Applied, leader.group().Propose(t.Context(), payload).Verdict)
		}
	}
	write(150)
	time.Sleep(5 * time.Second)
	require.Zero(t, len(list(t, leader)), "not yet")
	write(100)
	time.Sleep(5 * time.Second)
	require.Len(t, list(t, leader), 1)
	require.Less(t, leader.disk.opened.Bytes(), uint64(20<<10))
	first, err := leader.disk.opened.Logs().FirstIndex()
	require.NoError(t, err)
	require.Greater(t, first, uint64(200), "the log was cut")

	// The next one waits for twice the size of the last.
	write(250)
	time.Sleep(5 * time.Second)
	require.Len(t, list(t, leader), 1)

	c.start(away)
	index, err := leader.group().ReadIndex(t.Context())
	require.NoError(t, err)
	require.NoError(t, away.group().WaitApplied(t.Context(), index))
	require.Equal(t, leader.machine.lines(), away.machine.lines())
	require.Equal(t, uint64(1), away.group().Status().Restores)

	// A restart restores the snapshot and counts only what it does not cover.
	counted := leader.disk.opened.Bytes()
	c.crash(leader)
	c.start(leader)
	require.InDelta(t, counted, leader.disk.opened.Bytes(), 4096)
	applied, _ := leader.group().Applied()
	require.Equal(t, list(t, leader)[0], applied, "the state stands at the snapshot's index at once")
	require.NoError(t, leader.group().Snapshot(t.Context()), "on demand")
	c.close()
}

// list are the indexes of a node's snapshots, newest first.
func list(t *testing.T, n *node) []uint64 {
	t.Helper()
	metas, err := n.group().config.Snapshots.List()
	require.NoError(t, err)
	var out []uint64
	for _, m := range metas {
		out = append(out, m.Index)
	}
	return out
}
