package consensus

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// TestHeartbeatOfNewerTerm is the reason for steadyTransport; keep it for ever.
//
// A leader that sits in its main loop is sent a heartbeat of a newer term, then
// a client's entry. On the bare network transport the heartbeat is answered
// beside the main loop, and the entry is stored with the newer term, which this
// node never led: another node may store a different entry with that index and
// term. On steadyTransport the node has stepped down before it sees the entry.
func TestHeartbeatOfNewerTerm(t *testing.T) {
	bare := func(n *raft.NetworkTransport) raft.Transport { return n }
	steady := func(n *raft.NetworkTransport) raft.Transport { return newSteadyTransport(n) }

	t.Run("bare transport: the hazard", func(t *testing.T) {
		term, entry, err := deposeThenApply(t, bare)
		require.Error(t, err)
		require.Equal(t, term+1, entry.Term, "the library no longer shows the hazard: look whether the wrapper is still needed")
		require.Equal(t, raft.LogCommand, entry.Type)
		require.Equal(t, "client", string(entry.Data))
	})
	t.Run("steady transport: none", func(t *testing.T) {
		term, entry, err := deposeThenApply(t, steady)
		require.ErrorIs(t, err, raft.ErrNotLeader)
		require.Equal(t, term, entry.Term, "the log ends with an entry of the term that was led")
		require.NotEqual(t, "client", string(entry.Data))
	})
}

// deposeThenApply returns the term that the node led, the last entry in its
// log afterwards, and what the client was told.
func deposeThenApply(t *testing.T, wrap func(*raft.NetworkTransport) raft.Transport) (term uint64, last raft.Log, answer error) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork()
		dial := func(address string) *raft.NetworkTransport {
			return raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
				Stream: net.join(address), MaxPool: 1, Timeout: time.Second, Logger: hclog.NewNullLogger(),
			})
		}
		members := names(3)
		var nodes []*raft.Raft
		stores := make(map[*raft.Raft]*raft.InmemStore)
		for _, m := range members {
			conf := raft.DefaultConfig()
			conf.LocalID = raft.ServerID(m.ID)
			conf.Logger = hclog.NewNullLogger()
			transport, store, snapshots := wrap(dial(m.Address)), raft.NewInmemStore(), raft.NewInmemSnapshotStore()
			require.NoError(t, raft.BootstrapCluster(conf, store, store, snapshots, transport, configurationOf(members)))
			node, err := raft.NewRaft(conf, &machine{}, store, store, snapshots, transport)
			require.NoError(t, err)
			nodes, stores[node] = append(nodes, node), store
		}
		leader, follower := electOne(nodes)
		require.NoError(t, leader.Barrier(0).Error())
		time.Sleep(2500 * time.Millisecond) // nothing is under way
		term = leader.CurrentTerm()

		// The heartbeat is the one a new leader would send first.
		successor := dial("host-x")
		id, address := []byte(members[follower].ID), []byte(members[follower].Address)
		heartbeat := &raft.AppendEntriesRequest{
			RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: id, Addr: address},
			Term:      term + 1,
		}
		var response raft.AppendEntriesResponse
		leaderAddress, leaderID := leader.LeaderWithID()
		require.NoError(t, successor.AppendEntries(leaderID, leaderAddress, heartbeat, &response))

		answer = leader.Apply([]byte("client"), 0).Error()
		index, err := stores[leader].LastIndex()
		require.NoError(t, err)
		require.NoError(t, stores[leader].GetLog(index, &last))
		for _, node := range nodes {
			require.NoError(t, node.Shutdown().Error())
		}
		require.NoError(t, successor.Close())
		for _, p := range net.nodes {
			require.NoError(t, p.Close())
		}
		time.Sleep(time.Minute)
	})
	return term, last, answer
}

func electOne(nodes []*raft.Raft) (leader *raft.Raft, follower int) {
	for {
		for i, n := range nodes {
			if n.State() == raft.Leader {
				return n, (i + 1) % len(nodes)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}
