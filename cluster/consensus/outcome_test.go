package consensus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faultyLog is a log whose writes a test stops or fails.
type faultyLog struct {
	raft.LogStore
	fault func() error // runs in front of every write; set before use
}

func (l *faultyLog) StoreLog(e *raft.Log) error { return l.StoreLogs([]*raft.Log{e}) }

func (l *faultyLog) StoreLogs(entries []*raft.Log) error {
	if l.fault != nil {
		if err := l.fault(); err != nil {
			return err
		}
	}
	return l.LogStore.StoreLogs(entries)
}

// CL-2: what the library says, and what it means.
func TestOutcomeOfLibraryErrors(t *testing.T) {
	for _, row := range []struct {
		err     error
		verdict Verdict
		code    Code
	}{
		{raft.ErrNotLeader, Refused, NotLeader},
		{raft.ErrLeadershipTransferInProgress, Refused, Transferring},
		{raft.ErrEnqueueTimeout, Refused, QueueFull},
		{raft.ErrLeadershipLost, Unknown, LeadershipLost},
		{raft.ErrAbortedByRestore, Unknown, LeadershipLost},
		{raft.ErrRaftShutdown, Unknown, Shutdown},
		{errors.New("disk full"), Unknown, StoreFailed},
		{fmt.Errorf("wrapped: %w", raft.ErrNotLeader), Refused, NotLeader},
	} {
		out := outcomeOf(row.err, nil)
		assert.Equal(t, Outcome{Verdict: row.verdict, Code: row.code}, out, "%v", row.err)
	}
	assert.Equal(t, Outcome{Verdict: Applied, Response: "r", Index: 7, Term: 3}, outcomeOf(nil, &applied{7, 3, "r"}))
	assert.Equal(t, Unknown, outcomeOf(nil, nil).Verdict, "success without our own answer is no success")
}

func TestRefusedAtTheDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, nil)
		leader := c.leader()
		time.Sleep(time.Second)
		ctx := t.Context()
		g := leader.group()
		assert.Equal(t, refused(Empty), g.Propose(ctx, nil))
		assert.Equal(t, refused(TooLarge), g.Propose(ctx, make([]byte, 512<<10+1)))
		assert.Equal(t, Applied, g.Propose(ctx, make([]byte, 512<<10)).Verdict)

		// CL-1: whom to ask instead.
		for _, follower := range c.others(leader) {
			out := follower.group().Propose(ctx, []byte("x"))
			assert.Equal(t, Outcome{Verdict: Refused, Code: NotLeader, Leader: Member{leader.id, leader.address(), true}}, out)
		}
		c.network.isolate(leader.address())
		time.Sleep(2 * time.Second)
		assert.Equal(t, refused(NoLeader), g.Propose(ctx, []byte("x")))
		c.close()
		assert.Equal(t, refused(Shutdown), g.Propose(ctx, []byte("x")))
		require.Zero(t, g.open.count())
		require.Zero(t, g.bytes.Load())
	})
}

// stuckCluster has a leader whose next write waits until release is called.
func stuckCluster(t *testing.T, limits Limits) (c *trio, leader *node, release func()) {
	logs := make(map[string]*faultyLog)
	c = newCluster(t, 3, func(config *Config) {
		config.Limits = limits
		logs[config.NodeID] = &faultyLog{LogStore: config.Log}
		config.Log = logs[config.NodeID]
	})
	leader = c.leader()
	time.Sleep(time.Second)
	stuck := make(chan struct{})
	logs[leader.id].fault = func() error { <-stuck; return nil }
	release = sync.OnceFunc(func() { close(stuck) })
	t.Cleanup(release)
	return c, leader, release
}

type asked struct {
	data string
	out  Outcome
}

// ask proposes each in a goroutine of its own, in order, and hands out the
// outcomes as they come.
func ask(ctx context.Context, g *Group, count int, name string) <-chan asked {
	out := make(chan asked, count)
	for i := range count {
		data := fmt.Sprintf("%s%d", name, i)
		go func() { out <- asked{data, g.Propose(ctx, []byte(data))} }()
		synctest.Wait()
	}
	return out
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, leader, release := stuckCluster(t, Limits{Queued: 4, InFlight: 2, AppendEntries: 1})
		// The main loop holds one and its channel one more; the collector holds
		// one of those and has room for two; one waits to be collected; four are
		// queued.
		answers := ask(t.Context(), leader.group(), 30, "w")
		synctest.Wait()
		full := 0
		for len(answers) > 0 {
			require.Equal(t, refused(QueueFull), (<-answers).out)
			full++
		}
		require.Greater(t, full, 20)
		require.Equal(t, 30-full, leader.group().open.count())
		release()
		for range 30 - full {
			require.Equal(t, Applied, (<-answers).out.Verdict)
		}
		c.close()
	})
}

func TestBytesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, leader, release := stuckCluster(t, Limits{Bytes: 3000})
		answers := make(chan Outcome, 4)
		for range 3 {
			go func() { answers <- leader.group().Propose(t.Context(), make([]byte, 1000)) }()
		}
		synctest.Wait()
		require.Equal(t, refused(QueueFull), leader.group().Propose(t.Context(), []byte("x")))
		release()
		for range 3 {
			require.Equal(t, Applied, (<-answers).Verdict)
		}
		require.Equal(t, Applied, leader.group().Propose(t.Context(), make([]byte, 3000)).Verdict)
		require.Zero(t, leader.group().bytes.Load())
		c.close()
	})
}

// A caller that gives up while its proposal is queued knows that it will never
// happen; one whose proposal is in flight does not.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, leader, release := stuckCluster(t, Limits{Queued: 50, InFlight: 2, AppendEntries: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		answers := ask(ctx, leader.group(), 20, "w")
		verdicts := make(map[string]Verdict)
		for range 20 {
			a := <-answers
			require.Equal(t, Timeout, a.out.Code)
			verdicts[a.data] = a.out.Verdict
		}
		release()
		time.Sleep(time.Second)
		requireConsistent(t, c, verdicts, 3, 10)
		c.close()
	})
}

// requireConsistent holds what callers were told against what happened.
func requireConsistent(t *testing.T, c *trio, verdicts map[string]Verdict, unknowns, refusals int) {
	t.Helper()
	happened := make(map[string]int)
	for _, l := range c.requireEqual() {
		happened[l.Data]++
	}
	count := make(map[Verdict]int)
	for data, verdict := range verdicts {
		count[verdict]++
		switch verdict {
		case Applied:
			require.Equal(t, 1, happened[data], "%s was applied", data)
		case Refused:
			require.Zero(t, happened[data], "%s was refused", data)
		case Unknown:
			require.LessOrEqual(t, happened[data], 1, "%s is unknown", data)
		}
	}
	require.GreaterOrEqual(t, count[Unknown], unknowns)
	require.GreaterOrEqual(t, count[Refused], refusals)
}

// mechanics.md, sessions 5: when leadership is lost, what is queued is
// definite, what is in flight unknown.
func TestLosingLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, func(c *Config) { c.Limits = Limits{InFlight: 2, AppendEntries: 1} })
		leader := c.leader()
		time.Sleep(time.Second)
		c.network.isolate(leader.address())
		answers := ask(t.Context(), leader.group(), 20, "w")
		verdicts := make(map[string]Verdict)
		for range 20 {
			a := <-answers
			verdicts[a.data] = a.out.Verdict
			switch a.out.Verdict {
			case Unknown:
				require.Equal(t, LeadershipLost, a.out.Code)
			case Refused:
				require.Contains(t, []Code{NotLeader, NoLeader}, a.out.Code)
			default:
				t.Fatalf("%+v", a)
			}
		}
		c.network.heal()
		time.Sleep(2 * time.Second)
		requireConsistent(t, c, verdicts, 3, 10)
		c.close()
	})
}

// A state machine that hangs while the group is closed: nobody waits for it.
func TestShutdownInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, func(c *Config) { c.Limits = Limits{InFlight: 4} })
		leader := c.leader()
		time.Sleep(time.Second)
		gate := make(chan struct{})
		leader.machine.mu.Lock()
		leader.machine.gate = gate
		leader.machine.mu.Unlock()
		answers := ask(t.Context(), leader.group(), 20, "w")
		time.Sleep(time.Second) // committed, and waiting for the state machine
		require.Empty(t, answers)

		began := time.Now()
		closed := make(chan error, 1)
		go func() { closed <- leader.group().Close() }()
		verdicts := make(map[string]Verdict)
		for range 20 {
			a := <-answers
			require.Equal(t, Shutdown, a.out.Code, "%+v", a)
			verdicts[a.data] = a.out.Verdict
		}
		require.Zero(t, time.Since(began), "nobody waits for the library's futures")
		close(gate)
		require.NoError(t, <-closed)
		leader.set(nil)
		time.Sleep(2 * time.Second)
		requireConsistent(t, c, verdicts, 4, 5)
		c.close()
	})
}

// An entry whose write failed may be on disk all the same.
func TestStoreFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := make(map[string]*faultyLog)
		c := newCluster(t, 3, func(config *Config) {
			logs[config.NodeID] = &faultyLog{LogStore: config.Log}
			config.Log = logs[config.NodeID]
		})
		leader := c.leader()
		time.Sleep(time.Second)
		logs[leader.id].fault = func() error { return errors.New("no space left on device") }
		require.Equal(t, unknown(StoreFailed), leader.group().Propose(t.Context(), []byte("x")))
		next := c.leader(leader)
		require.Equal(t, Applied, next.group().Propose(t.Context(), []byte("y")).Verdict)
		c.close()
	})
}

func TestProposeAllKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, func(c *Config) { c.Limits = Limits{Bytes: 40_000} })
		leader := c.leader()
		var batch [][]byte
		for i := range 300 {
			batch = append(batch, fmt.Appendf(nil, "%04d%s", i, bytes.Repeat([]byte("."), 100)))
		}
		out := leader.group().ProposeAll(t.Context(), batch)
		for i := range out {
			require.Equal(t, Applied, out[i].Verdict)
			require.True(t, i == 0 || out[i].Index > out[i-1].Index)
		}
		// The fifth is refused, so the rest is, although it would fit.
		batch[4] = make([]byte, 513<<10)
		out = leader.group().ProposeAll(t.Context(), batch[:50])
		for i := range out {
			if i < 4 {
				require.Equal(t, Applied, out[i].Verdict)
			} else {
				require.Equal(t, refused(TooLarge), out[i])
			}
		}
		c.close()
	})
}

// Large proposals go one at a time; small ones are not held up for good.
func TestOneLargeProposalAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, leader, release := stuckCluster(t, Limits{})
		answers := make(chan Outcome, 20)
		for i := range 20 {
			data := make([]byte, 10+i%2*(100<<10))
			go func() { answers <- leader.group().Propose(t.Context(), data) }()
		}
		synctest.Wait()
		require.Len(t, leader.group().large, 1)
		release()
		for range 20 {
			require.Equal(t, Applied, (<-answers).Verdict)
		}
		require.Empty(t, leader.group().large)
		c.close()
	})
}
