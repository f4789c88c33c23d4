//go:build long

package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Of three nodes one has an empty disk and gets a state of some 300 MiB as a
// snapshot, which takes it many leases. Another one dies meanwhile. The leader goes
// on to lead, in the same term, and what was proposed is committed as soon as the
// snapshot is in.
func TestInstallOfALargeState(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()})
	p.plant(640<<20, 40_000)
	p.start(0)
	p.start(1)
	var before api.NodeStatus
	require.Eventually(t, func() bool {
		status, err := p.client.Status(t.Context(), client.Timeout(time.Second))
		if err == nil && status.Leader != "" {
			before = leaderOf(status)
		}
		return before.Healthy && before.Role == "leader"
	}, time.Minute, 20*time.Millisecond)
	leader, other := 0, 1
	if before.ID == p.id(1) {
		leader, other = 1, 0
	}
	const empty = 2
	p.start(empty)
	require.Eventually(t, func() bool { return p.said(empty, "creating new snapshot") > 0 }, time.Minute, time.Millisecond)
	p.kill(other)
	began := time.Now()

	committed := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := p.client.PutShared(ctx, event.PutShared{Namespace: "meanwhile", Key: "k", Value: value.Raw(value.AppendString(nil, "v"))})
		committed <- err
	}()
	installed := func() bool { return p.said(empty, "Installed remote snapshot") > 0 }
	for !installed() {
		require.Less(t, time.Since(began), time.Minute)
		status, err := p.client.Status(t.Context(), client.Node(p.url(leader)))
		require.NoError(t, err)
		now := status.Nodes[leader]
		require.Equal(t, "leader", now.Role, "after %v", time.Since(began))
		require.Equal(t, before.Term, now.Term)
	}
	took := time.Since(began)
	require.NoError(t, <-committed)
	t.Logf("installed %v after the other node died, committed %v later", took, time.Since(began)-took)
	require.Greater(t, took, time.Second, "too short to say anything of leases of 300 ms")
	require.Zero(t, p.said(leader, "failed to contact quorum"))
	status, err := p.client.Status(t.Context(), client.Node(p.url(leader)))
	require.NoError(t, err)
	require.Equal(t, before.Term, status.Term)
}
