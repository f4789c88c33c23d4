//go:build long

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
)

// Three real processes over each Raft store, under open-loop load; their leader
// is killed 20 times, and stopped 20 times for 1 to 10 heartbeats, and hands
// over 20 times. Nothing acknowledged is lost, nothing happens twice, no
// linearizable read is stale, and the digests are equal at the end (CL-2 … CL-4,
// LO-3).
func TestDrills(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		for _, kind := range []drill.Kind{drill.KillLeader, drill.PauseLeader, drill.Transfer} {
			t.Run(string(kind), func(t *testing.T) { longDrill(t, store, kind) })
		}
	})
}

func longDrill(t *testing.T, store raftstore.Kind, kind drill.Kind) {
	cluster := startCluster(t, store)
	report, err := drill.Run(t.Context(), drill.Options{
		Kind: kind, Rounds: 20, Clients: 8, Rate: 400, Heartbeat: 300 * time.Millisecond, Timeout: 20 * time.Second,
		Nodes: cluster, Talk: func(text string) { t.Log(text) },
	})
	require.NoError(t, err)
	t.Logf("first write p50 %.1f ms, p99 %.1f ms, max %.1f ms", report.P50FirstWrite, report.P99FirstWrite, report.MaxFirstWrite)
	t.Logf("%+v", report.Audit)
	require.Zero(t, report.Lost)
	require.Zero(t, report.Duplicated)
	require.Zero(t, report.Contradicted)
	require.True(t, report.DigestsEqual)
	require.Greater(t, report.Acknowledged, 1000, "too little load to say anything")
	if kind == drill.PauseLeader {
		require.Zero(t, *report.StaleReads)
		require.NotZero(t, *report.Reads)
	}
}
