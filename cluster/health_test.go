package cluster_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/capacity"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	evaluators "github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// NO-1: a node says that it should not be asked while its disk is nearly full or
// nobody reads its log output; where it stands is another matter.
func TestHealthOfTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var blocked atomic.Int64
		c := newCrewWith(t, testStore(), true, func(i int, config *cluster.Config) {
			config.MinFree = 256 << 20
			free := []uint64{255 << 20, 1 << 40, 7 << 20}[i]
			total := []uint64{1 << 40, 1 << 41, 64 << 20}[i] // the last one is small
			config.Room = func(string) (uint64, uint64, error) { return free, total, nil }
			config.LogBlocked = func() time.Duration { return time.Duration(blocked.Load()) }
		})
		c.leader()
		healthy := func(i int) func() bool { return func() bool { return c.node(i).Healthy() == nil } }
		c.until("room is enough", healthy(1))
		c.until("a tenth of a small disk is enough", healthy(2))
		require.ErrorContains(t, c.node(0).Healthy(), "nearly full: 255 MiB")
		require.Equal(t, "Running", string(c.node(0).Lifecycle().State))
		blocked.Store(int64(6 * time.Second))
		require.ErrorContains(t, c.node(1).Healthy(), "log output")
		blocked.Store(0)
		require.NoError(t, c.node(1).Healthy())
	})
}

// NO-1: a node whose state machine stands still while the others commit is unhealthy
// after a while, and well again when it has gone on; the others are well all along.
func TestHealthOfANodeThatDoesNotApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var victim atomic.Int32
		victim.Store(-1)
		held := make(chan struct{})
		c := newCrewWith(t, testStore(), true, func(i int, config *cluster.Config) {
			config.Evaluators = func(name string) (evaluator.Evaluator, bool) { // called by Apply
				if victim.Load() == int32(i) {
					<-held
				}
				return evaluators.Lookup(name)
			}
		})
		leader := c.leader()
		stuck := (leader + 1) % 3
		c.until("it is well", func() bool { return c.node(stuck).Healthy() == nil })
		victim.Store(int32(stuck))
		began := time.Now()
		require.Equal(t, cluster.Applied, c.startOne(leader).Verdict)
		c.until("it is unhealthy", func() bool { return c.node(stuck).Healthy() != nil })
		require.GreaterOrEqual(t, time.Since(began), 4500*time.Millisecond, "a moment is no reason")
		require.LessOrEqual(t, time.Since(began), 6*time.Second)
		require.ErrorContains(t, c.node(stuck).Healthy(), "entries are committed, but the node does not apply them")
		require.Equal(t, nodestate.Running, c.node(stuck).Lifecycle().State)
		require.NoError(t, c.node(leader).Healthy())
		require.Equal(t, cluster.Applied, c.define(leader).Verdict)
		require.Less(t, c.node(stuck).Applied(), c.node(leader).Applied())

		close(held)
		c.until("it is well again", func() bool { return c.node(stuck).Healthy() == nil })
		c.until("it has caught up", func() bool { return c.node(stuck).Applied() == c.node(leader).Applied() })
	})
}

// startOne has a program compiled on every node.
func (c *crew) startOne(at int) cluster.Answer {
	return c.node(at).Propose(c.t.Context(), event.Event{Kind: event.AgentStart, Principal: "test", Body: event.Encode(event.Start{Define: event.Define{
		Program: kerneltest.JSON(c.t, `{"kind":"LITERAL","payload":{"value":1}}`),
	}})})
}

// LI-10: as a limit of the whole cluster comes near and is reached, every node's log
// says so once, and the cluster's status says it to whoever asks.
func TestLimitsOfTheClusterAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logs [3]lines
		c := newCrewWith(t, testStore(), true, func(i int, config *cluster.Config) {
			config.Limits.MaxAgents = 5
			config.Logger = hclog.New(&hclog.LoggerOptions{Output: &logs[i], DisableTime: true})
		})
		leader := c.leader()
		for said, agents := range []uint64{3, 4, 5} { // nothing at 60 %, then the warning, then the error
			for c.node(leader).Measure().Kernel.Agents.Len() < uint32(agents) {
				require.Equal(t, cluster.Applied, c.define(leader).Verdict)
			}
			c.until("every node has said it", func() bool {
				return logs[0].with("limit=max_agents") == said && logs[1].with("limit=max_agents") == said && logs[2].with("limit=max_agents") == said
			})
			near := c.node(leader).Status(t.Context(), true).Near
			if said == 0 {
				require.Empty(t, near)
				continue
			}
			require.Equal(t, []capacity.Use{{Limit: "max_agents", Used: agents, Most: 5}}, near)
		}
		time.Sleep(time.Minute) // of the test's clock
		for i := range logs {
			require.Equal(t, 2, logs[i].with("limit=max_agents"), logs[i].text.String())
			require.Equal(t, 1, logs[i].with("more is refused: limit=max_agents used=5 most=5"))
		}
	})
}

// lines is what a node's log says.
type lines struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

// Write takes a line.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) with(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}
