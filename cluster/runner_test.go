package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// A call that takes long outlives the term in which it began, and holds up neither the
// next one of the same node nor the node's stop (TO-2).
func TestLongCallsHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &patient{takes: 10 * time.Minute}
		c := newCrewWith(t, testStore(), true, func(_ int, config *cluster.Config) {
			var err error
			config.Tools, err = tools.New(tools.Options{}, tool)
			require.NoError(t, err)
			config.Drain = 5 * time.Second
		})
		ran := c.leader()
		answer := c.node(ran).Propose(t.Context(), event.Event{Kind: event.AgentStart, Principal: "test", Body: event.Encode(event.Start{Define: event.Define{
			ID: kerneltest.AgentID(1), Program: kerneltest.JSON(t, postOnce),
			Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/POST/**"}},
		}})})
		require.True(t, answer.Outcome.Done(), "%+v", answer)
		c.until("the call is under way", func() bool { return tool.began.Load() == 1 })
		require.NoError(t, c.node(ran).Transfer(t.Context(), ""))
		c.until("another node leads", func() bool { return c.leader() != ran })
		require.NoError(t, c.node(c.leader()).Transfer(t.Context(), c.peers[ran].ID))
		began := time.Now()
		c.until("it leads again", func() bool { return c.define(ran).Verdict == cluster.Applied })
		require.Equal(t, ran, c.leader(), "it is ready")
		require.Less(t, time.Since(began), 5*time.Second)
		require.Equal(t, 1, c.node(ran).UnderWay().Calls)

		began = time.Now()
		c.stop(ran)
		require.Less(t, time.Since(began), 10*time.Second)
		require.Equal(t, int32(1), tool.began.Load())
	})
}
