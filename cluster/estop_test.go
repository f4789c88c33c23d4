package cluster_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// metered is the echo tool, which counts the calls that began and those that are
// under way.
type metered struct {
	echo.Adapter
	began, open atomic.Int64
}

func (a *metered) Call(ctx context.Context, r tools.Request) tools.Result {
	a.began.Add(1)
	a.open.Add(1)
	defer a.open.Add(-1)
	return a.Adapter.Call(ctx, r)
}

// do proposes a command to whoever leads, until somebody has decided it.
func (c *trio) do(kind event.Kind, body any) event.Outcome {
	c.t.Helper()
	var outcome event.Outcome
	key := fmt.Sprintf("%s %d", kind, time.Now().UnixNano())
	require.Eventually(c.t, func() bool {
		answer := c.nodes[c.leader()].Propose(c.t.Context(), event.Event{
			Kind: kind, Principal: "client", IdempotencyKey: key, Body: event.Encode(body),
		})
		outcome = answer.Outcome
		return answer.Verdict == cluster.Applied
	}, 20*time.Second, 10*time.Millisecond)
	return outcome
}

// NO-2: an emergency stop under load: nothing runs and no Pulse is proposed,
// though every agent has something to do, through a failover and a restart; when
// it is over, all agents end as if there had been none.
func TestStoppedClusterRunsNothing(t *testing.T) {
	const agents, rounds = 40, 60
	meter := &metered{}
	c := newTrio(t, func(c *trio) { c.adapters = []tools.Adapter{meter} })
	for i := range agents {
		require.Empty(t, c.do(event.AgentStart, event.Start{Define: event.Define{
			ID:      kerneltest.AgentID(i + 1),
			Program: kerneltest.JSON(t, `{"kind":"LOOP","payload":{"max":60,"do":{"kind":"CALL","payload":{"tool":"echo","args":1}}}}`),
			Grants:  []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "echo"}},
		}}).Refusal)
	}
	stopped := c.do(event.KernelSuspend, event.SuspendKernel{Reason: "drill"})
	require.Empty(t, stopped.Refusal)
	view := c.newest(stopped.Index)
	require.Less(t, meter.began.Load(), int64(agents*rounds), "it was stopped under load")
	require.Equal(t, "drill", view.Estop.Stop().Reason)

	// What was under way ends; then nothing begins, though the outbox is looked at
	// again and ticks are queued.
	require.Eventually(t, func() bool { return meter.open.Load() == 0 }, 10*time.Second, 5*time.Millisecond)
	began := meter.began.Load()
	require.Never(t, func() bool { return meter.began.Load() != began }, 1500*time.Millisecond, 50*time.Millisecond)

	victim := c.leader()
	c.stop(victim)
	require.Equal(t, failure.KernelSuspended, c.do(event.AgentDefine, event.Define{}).Refusal.Code, "the next leader knows it")
	require.Empty(t, c.do(event.AgentKill, event.Kill{Agent: kerneltest.AgentID(agents)}).Refusal)
	c.start(victim)
	require.Never(t, func() bool { return meter.began.Load() != began }, 1500*time.Millisecond, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		status := c.nodes[victim].Status(t.Context(), false)
		for _, n := range status.Nodes {
			if n.Stopped == nil || n.Stopped.Reason != "drill" {
				return false
			}
		}
		return status.Stopped != nil && status.Stopped.By == "client"
	}, 20*time.Second, 20*time.Millisecond)

	resumed := c.do(event.KernelResume, event.ResumeKernel{Reason: "drilled"})
	require.Empty(t, resumed.Refusal)
	require.Eventually(t, func() bool {
		view, over := c.newest(resumed.Index), 0
		for no := uint32(1); no <= view.Agents.Len(); no++ {
			if row := view.Agents.Get(no); row.Lifecycle.State == lifecycle.Terminated && row.Execution.Result != nil && row.Execution.Result.OK {
				over++
			}
		}
		return over == agents-1
	}, 60*time.Second, 20*time.Millisecond)
	require.GreaterOrEqual(t, meter.began.Load(), int64((agents-1)*rounds))
	c.sameDigests()
	c.nothingBetween(stopped.Index, resumed.Index)
}

// newest is the leader's state, when it has applied an index.
func (c *trio) newest(index uint64) (view cluster.View) {
	c.t.Helper()
	require.Eventually(c.t, func() (done bool) {
		var err error
		view, err = c.nodes[c.leader()].Read(c.t.Context(), cluster.Consistency{Level: cluster.Linearizable, MinIndex: index})
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	return view
}

// nothingBetween looks into the log for what must not be there while the kernel
// is suspended. One Pulse may have been under way when it was.
func (c *trio) nothingBetween(stopped, resumed uint64) {
	c.t.Helper()
	results, pulses := 0, 0
	_, err := c.nodes[0].Log().ReadFrom(1, func(_ uint64, b *logging.Block) bool {
		if b.Index <= stopped || b.Index >= resumed {
			return b.Index < resumed
		}
		for records := b.Records(); records.Next(); {
			switch kind := bus.Kind(records.Record.Kind); kind {
			case bus.TickStarted, bus.CallDispatched, bus.CallRequested:
				assert.Fail(c.t, "something ran", "record %d of kind %d at index %d", records.Record.Seq, kind, b.Index)
			case bus.ActionExecuted:
				results++
			case bus.Event:
				recorded, ok := event.DecodeRecorded(records.Record.Body)
				require.True(c.t, ok)
				if recorded.Event.Kind == event.Pulse {
					pulses++
				}
			}
		}
		return true
	})
	require.NoError(c.t, err)
	assert.LessOrEqual(c.t, pulses, 1)
	c.t.Logf("%d results came while the kernel was suspended, over %d indexes", results, resumed-stopped)
}
