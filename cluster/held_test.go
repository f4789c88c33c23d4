package cluster_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/fsm"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/raftstream"
	"github.com/stretchr/testify/require"
)

// plantCrashes leaves a stopped node's directory as processes do that died in
// the event at index, and returns the entry's digest. The layout is the guard's.
func (c *trio) plantCrashes(i int, index uint64) (digest string) {
	c.t.Helper()
	return plantCrashes(c.t, c.dirs[i], c.store, index)
}

func plantCrashes(t testing.TB, dir string, kind raftstore.Kind, index uint64) (digest string) {
	t.Helper()
	store := openStore(t, dir, kind)
	var entry raft.Log
	require.NoError(t, store.Logs().GetLog(index, &entry))
	require.NoError(t, store.Close())
	sum := sha256.Sum256(entry.Data)
	page := binary.LittleEndian.AppendUint64(nil, index)
	page = append(page, sum[:]...)
	page = binary.LittleEndian.AppendUint64(page, index)
	page = binary.LittleEndian.AppendUint64(page, fsm.MaxCrashes-1)
	require.NoError(t, os.WriteFile(guardFile(dir), page, 0o600))
	return hex.EncodeToString(sum[:])
}

func (c *trio) guardFile(i int) string { return guardFile(c.dirs[i]) }

func guardFile(dir string) string { return filepath.Join(dir, "kernels", "default", "applying.bin") }

// openStore opens the Raft store of a node that is down.
func (c *trio) openStore(i int) *raftstore.Store {
	c.t.Helper()
	return openStore(c.t, c.dirs[i], c.store)
}

func openStore(t testing.TB, dir string, kind raftstore.Kind) *raftstore.Store {
	t.Helper()
	store, err := raftstore.Open(raftstore.Options{
		Kind: kind, Dir: filepath.Join(dir, "kernels", "default", "raft"),
		Fatal: func(err error) { t.Errorf("store: %v", err) },
	})
	require.NoError(t, err)
	return store
}

// vote is what a node that is down has on disk of terms and elections.
func (c *trio) vote(i int) (out [3]string) {
	c.t.Helper()
	store := c.openStore(i)
	for at, key := range []string{"CurrentTerm", "LastVoteTerm", "LastVoteCand"} {
		value, err := store.Stable().Get([]byte(key))
		if err != nil {
			require.EqualError(c.t, err, "not found")
		}
		out[at] = hex.EncodeToString(value)
	}
	require.NoError(c.t, store.Close())
	return out
}

// hold starts a node that cannot but be held.
func (c *trio) hold(i int) *cluster.Held {
	c.t.Helper()
	config, streams := c.config(i)
	_, err := cluster.Open(config)
	var cause *fsm.SafeModeError
	require.ErrorAs(c.t, err, &cause)
	held, err := cluster.Hold(config, cause)
	require.NoError(c.t, err)
	streams.Peers().Handle(held.HandlePeer)
	streams.History().Answer(held.HandleHistory)
	return held
}

func (c *trio) release(i int, held *cluster.Held) {
	require.NoError(c.t, held.Stop(c.t.Context()))
	require.NoError(c.t, c.endpoints[i].Close())
}

// An event that ended one node's process over and over holds that node: it says
// so, answers nothing else and takes no part, while the others go on. Given
// another chance it catches up (EV-14).
func TestNodeInSafeMode(t *testing.T) { overStores(t, nodeInSafeMode) }

func nodeInSafeMode(t *testing.T, store raftstore.Kind) {
	c := newTrio(t, func(c *trio) { c.store = store })
	leader := c.leader()
	answer := c.nodes[leader].Propose(t.Context(), start(t, "018f4e5c-0000-7000-8000-000000000010"))
	require.Equal(t, cluster.Applied, answer.Verdict)
	c.sameDigests()
	victim := (leader + 1) % 3
	c.stop(victim)
	digest, vote := c.plantCrashes(victim, answer.Outcome.Index), c.vote(victim)
	held := c.hold(victim)

	want := &cluster.SafeMode{Index: answer.Outcome.Index, Digest: digest, Kind: "AGENT_START", Crashes: fsm.MaxCrashes}
	requireRefuses(t, held, want)
	for name, status := range map[string]cluster.Status{"its own": held.Status(t.Context(), false), "another's": c.nodes[leader].Status(t.Context(), false)} {
		require.Equal(t, c.peers[leader].ID, status.Leader, name)
		said := status.Nodes[victim]
		require.False(t, said.Healthy, name)
		require.Equal(t, cluster.RoleSafeMode, said.Role, name)
		require.Equal(t, want.Error(), said.Reason, name)
		require.Equal(t, want.Digest, said.SafeMode.Digest, name)
		require.Contains(t, said.SafeMode.Hint, "quarantine.json", name)
		require.True(t, status.Nodes[leader].Healthy, name)
	}
	answer = c.nodes[leader].Propose(t.Context(), start(t, "018f4e5c-0000-7000-8000-000000000011"))
	require.Equal(t, cluster.Applied, answer.Verdict, "two of three go on")

	require.ErrorIs(t, c.hangsUp(victim), io.EOF, "Raft's streams are not kept waiting")

	// The third one alone stands for election, and gets no vote.
	last := (leader + 2) % 3
	c.stop(leader)
	require.Eventually(t, func() bool {
		return c.nodes[last].Status(t.Context(), false).Nodes[last].Role == cluster.RoleCandidate
	}, 20*time.Second, time.Millisecond)
	require.Equal(t, cluster.CodeNoLeader, c.nodes[last].Propose(t.Context(), start(t, "018f4e5c-0000-7000-8000-000000000012")).Code)
	c.release(victim, held)
	require.Equal(t, vote, c.vote(victim))

	require.NoError(t, os.Remove(c.guardFile(victim)))
	c.start(victim)
	c.start(leader)
	c.leader()
	c.sameDigests()
}

// hangsUp opens a stream to a node's Raft and tells how it ends.
func (c *trio) hangsUp(i int) error {
	c.t.Helper()
	stranger, err := raftstream.Listen(raftstream.Options{Listen: "127.0.0.1:0", ClusterID: "test", NodeID: "n9", Logger: nullLogger()})
	require.NoError(c.t, err)
	defer stranger.Close()
	streams, err := stranger.Kernel("default")
	require.NoError(c.t, err)
	conn, err := streams.Layer().Dial(raft.ServerAddress(c.peers[i].Raft), 5*time.Second)
	require.NoError(c.t, err)
	defer conn.Close()
	require.NoError(c.t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	_, err = conn.Read(make([]byte, 1))
	return err
}

// requireRefuses checks that a held node answers nobody with anything but why.
func requireRefuses(t *testing.T, held *cluster.Held, want *cluster.SafeMode) {
	t.Helper()
	var said *cluster.SafeMode
	require.ErrorAs(t, held.Healthy(), &said)
	require.Equal(t, want, &cluster.SafeMode{Index: said.Index, Digest: said.Digest, Kind: said.Kind, Crashes: said.Crashes})

	command := start(t, "018f4e5c-0000-7000-8000-000000000013")
	for _, answer := range append(held.ProposeAll(t.Context(), []event.Event{command, command}), held.Propose(t.Context(), command)) {
		require.Equal(t, cluster.Refused, answer.Verdict)
		require.Equal(t, cluster.CodeSafeMode, answer.Code)
	}
	for _, level := range []cluster.Level{cluster.Linearizable, cluster.Session, cluster.Stale} {
		_, err := held.Read(t.Context(), cluster.Consistency{Level: level})
		var refused *cluster.ReadError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, cluster.CodeSafeMode, refused.Code)
	}
	var refusal *consensus.Refusal
	require.ErrorAs(t, held.Transfer(t.Context(), ""), &refusal)
	require.EqualValues(t, cluster.CodeSafeMode, refusal.Code)
	for kind := range byte(64) {
		_, err := held.HandlePeer(context.Background(), "n9", kind, make([]byte, 8))
		require.Equal(t, kind != 32, err != nil, "peers are told the status (32) and nothing else: kind %d", kind)
		_, err = held.HandleHistory(context.Background(), "n9", kind, make([]byte, 12), nil)
		require.ErrorAs(t, err, &said)
	}
}
