package cluster_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/stretchr/testify/require"
)

// short makes a node's Raft log and its segments short, so that a node that was
// away needs a snapshot, and has many segments to fetch.
func short(c *cluster.Config) {
	c.Timing.Multiplier = 3
	c.Raft.TrailingLogs = 16
	c.Limits.SegmentBytes = 16 << 10
}

// write commits so many commands. A leader that is lost meanwhile leaves it open
// what became of some: those are sent again.
func (c *trio) write(count int) {
	c.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for count > 0 {
		batch := make([]event.Event, min(count, 64))
		for i := range batch {
			batch[i] = event.Event{Kind: event.AgentDefine, Principal: "client", Body: event.Encode(event.Define{
				ID: fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", c.written+i), Name: strings.Repeat("history ", 8),
			})}
		}
		for _, answer := range c.nodes[c.leader()].ProposeAll(c.t.Context(), batch) {
			if answer.Verdict != cluster.Applied {
				break
			}
			if r := answer.Outcome.Refusal; !answer.Outcome.Done() {
				require.Equal(c.t, failure.AlreadyExists, r.Code)
			}
			c.written++
			count--
		}
		require.True(c.t, time.Now().Before(deadline), "%d commands are left", count)
	}
}

// wipe removes a stopped node's data.
func (c *trio) wipe(i int) {
	c.t.Helper()
	require.NoError(c.t, os.RemoveAll(c.dirs[i]))
}

// snapshot takes one on every node that is up.
func (c *trio) snapshot() {
	c.t.Helper()
	for _, n := range c.nodes {
		if n != nil {
			require.NoError(c.t, n.Snapshot(c.t.Context()))
		}
	}
}

// statusOf is a node's account of itself.
func (c *trio) statusOf(i int) cluster.NodeStatus {
	c.t.Helper()
	return c.nodes[i].Status(c.t.Context(), true).Nodes[0]
}

// awaitHistory waits until every node has all of it, in files that are alike.
func (c *trio) awaitHistory() {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for i := range c.nodes {
			if s := c.statusOf(i); s.HistoryFrom != 1 || s.Backfill != nil {
				return false
			}
		}
		return true
	}, 30*time.Second, 10*time.Millisecond)
}

// requireSameFiles compares the segments of stopped nodes byte for byte. One that
// stopped earlier may lack what was committed later.
func (c *trio) requireSameFiles() {
	c.t.Helper()
	var logs [][]byte
	for _, dir := range c.dirs {
		found, err := filepath.Glob(filepath.Join(dir, "kernels", "default", "log", "*"))
		require.NoError(c.t, err)
		var log []byte // the files one after the other: their names and their order are the same
		files := 0
		for _, path := range found {
			if filepath.Ext(path) == ".idx" {
				continue // derived when it is wanted
			}
			require.Equal(c.t, ".seg", filepath.Ext(path), "nothing else is left")
			content, err := os.ReadFile(path)
			require.NoError(c.t, err)
			log = append(append(log, filepath.Base(path)...), content...)
			files++
		}
		require.Greater(c.t, files, 3, "too few segments to say anything")
		logs = append(logs, log)
	}
	for i, log := range logs {
		same := min(len(log), len(logs[0]))
		require.Less(c.t, max(len(log), len(logs[0]))-same, 4096, "only the end may be missing")
		require.True(c.t, bytes.Equal(logs[0][:same], log[:same]), "%s and %s differ", c.peers[0].ID, c.peers[i].ID)
	}
}

func (c *trio) stopAll() {
	c.t.Helper()
	for i := range c.nodes {
		c.stop(i)
	}
}

// A node whose disk is empty comes into a cluster whose Raft log reaches back to
// a snapshot only. It gets the state at once and history by and by, says how far
// back it reaches meanwhile, and ends with the very files of the others (LO-2).
func TestEmptyDiskGetsHistory(t *testing.T) {
	gate := newGate()
	c := newTrio(t, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			short(config)
			config.History = gate.before(config.History)
		}
	})
	c.write(1000)
	c.snapshot()
	victim := (c.leader() + 1) % 3
	c.stop(victim)
	c.wipe(victim)
	gate.close()
	c.start(victim)
	c.sameDigests()
	status := c.statusOf(victim)
	require.Greater(t, status.HistoryFrom, uint64(1000))
	require.NotNil(t, status.Backfill)
	require.Greater(t, status.Backfill.MissingBytes, uint64(100<<10))
	require.Eventually(t, func() bool { return c.statusOf(victim).Healthy }, 20*time.Second, 10*time.Millisecond, "it serves what it has")

	c.write(300)
	gate.open()
	c.awaitHistory()
	require.Greater(t, c.statusOf(victim).BusSeq, status.HistoryFrom)
	c.sameDigests()
	c.stopAll()
	c.requireSameFiles()
}

// A learner is not made a voter before its history is complete; whoever asks is
// told from where on it has it, and to wait (LO-2).
func TestPromotionWaitsForHistory(t *testing.T) {
	gate := newGate()
	c := newTrio(t, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			short(config)
			config.History = gate.before(config.History)
		}
	})
	c.write(500)
	c.snapshot()
	gate.close()
	joiner := c.join("n4")
	// Whoever leads is asked: under load it may be another one by now.
	poll(t, "n4 is taken in", func() bool {
		return c.nodes[c.leader()].AddLearner(t.Context(), c.peers[joiner]) == nil
	})
	c.sameDigests()
	var no *consensus.Refusal
	promoted := func() bool {
		err := c.nodes[c.leader()].Promote(t.Context(), "n4")
		no = nil
		require.True(t, err == nil || errors.As(err, &no), "%v", err)
		return err == nil
	}
	poll(t, "the refusal names what n4 has", func() bool {
		require.False(t, promoted(), "without history")
		return strings.Contains(no.Detail, "busSeq")
	})
	require.Equal(t, consensus.NotCaughtUp, no.Code)
	require.Contains(t, no.Detail, fmt.Sprintf("n4: it has history from busSeq %d on only", c.statusOf(joiner).HistoryFrom))
	require.Contains(t, no.Detail, "wait until")

	gate.open()
	poll(t, "n4 becomes a voter", promoted)
	require.Equal(t, uint64(1), c.statusOf(joiner).HistoryFrom)
	c.sameDigests()
	c.stopAll()
	c.requireSameFiles()
}

// Whoever gives history may end, give something else, or have nothing: the others
// are asked for the rest. What has come survives the restart of who fetches it.
func TestHistoryFromWhoeverHasIt(t *testing.T) {
	var liar, budget atomic.Value // an address; how many chunks may pass
	liar.Store("")
	budget.Store(new(atomic.Int64))
	c := newTrio(t, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			short(config)
			config.History = spoiledHistory{config.History, &liar, &budget}
		}
	})
	allow := func(chunks int64) *atomic.Int64 {
		left := new(atomic.Int64)
		left.Store(chunks)
		budget.Store(left)
		return left
	}
	c.write(1500)
	c.snapshot()
	leader := c.leader()
	victim, other := (leader+1)%3, (leader+2)%3
	c.stop(victim)
	c.wipe(victim)

	left := allow(4)
	c.start(victim)
	require.Eventually(t, func() bool { return left.Load() <= 0 }, 20*time.Second, time.Millisecond)
	before := c.statusOf(victim)
	require.NotNil(t, before.Backfill)
	require.Positive(t, before.Backfill.FetchedBytes)
	c.stop(victim)
	left = allow(4)
	c.start(victim)
	require.Eventually(t, func() bool { return left.Load() <= 0 }, 20*time.Second, time.Millisecond)
	require.Eventually(t, func() bool {
		now := c.statusOf(victim).Backfill
		return now != nil && strings.Contains(now.Reason, "out of order")
	}, 20*time.Second, time.Millisecond, "it tells why nothing comes")
	now := c.statusOf(victim)
	require.Less(t, now.HistoryFrom, before.HistoryFrom, "it goes on, and does not begin anew")

	// The one that follows lies, the other one does not.
	liar.Store(c.peers[other].Raft)
	left = allow(1 << 30)
	c.awaitHistory()
	require.Less(t, left.Load(), int64(1<<30))
	c.sameDigests()
	c.stopAll()
	c.requireSameFiles()
}

// spoiledHistory lets so many chunks pass, and turns a bit in each that comes
// from the liar.
type spoiledHistory struct {
	inner  cluster.HistoryCaller
	liar   *atomic.Value
	budget *atomic.Value
}

func (h spoiledHistory) CallInto(ctx context.Context, address string, kind byte, body, room []byte) ([]byte, error) {
	if h.budget.Load().(*atomic.Int64).Add(-1) < 0 {
		return nil, errors.New("the network is out of order")
	}
	out, err := h.inner.CallInto(ctx, address, kind, body, room)
	if err == nil && len(out) > 0 && address == h.liar.Load().(string) {
		out[len(out)/2] ^= 1
	}
	return out, err
}

// What a peer asks for is checked, and what it may ask for is given.
func TestQuestionsForHistory(t *testing.T) {
	c := newTrio(t, func(c *trio) { c.adjust = short })
	c.write(100)
	node := c.nodes[c.leader()]
	ask := func(kind byte, position uint64, most uint32) ([]byte, error) {
		body := binary.LittleEndian.AppendUint64(nil, position)
		return node.HandleHistory(t.Context(), "n9", kind, binary.LittleEndian.AppendUint32(body, most), nil)
	}
	whole, err := ask(1, 0, 1<<30)
	require.NoError(t, err)
	require.LessOrEqual(t, len(whole), 1<<20, "not more than fits an answer, whatever is asked for")
	some, err := ask(1, 10, 20)
	require.NoError(t, err)
	require.Equal(t, whole[8+10:8+30], some[8:])
	require.EqualValues(t, 30, binary.LittleEndian.Uint64(some), "where to go on")
	var ahead *segment.AheadError
	_, err = ask(1, 1<<40, 20)
	require.ErrorAs(t, err, &ahead)
	_, err = ask(2, 0, 20)
	require.Error(t, err)
	for _, body := range [][]byte{nil, make([]byte, 11), make([]byte, 13)} {
		_, err = node.HandleHistory(t.Context(), "n9", 1, body, nil)
		require.Error(t, err)
	}
}

// poll waits for a condition that is judged on the test's own goroutine.
func poll(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "not in time: %s", what)
	}
}

// historyGate holds all questions for history up while it is closed.
type historyGate struct{ opened atomic.Pointer[chan struct{}] }

func newGate() *historyGate {
	g := &historyGate{}
	g.close()
	g.open()
	return g
}

func (g *historyGate) close() {
	opened := make(chan struct{})
	g.opened.Store(&opened)
}

func (g *historyGate) open() { close(*g.opened.Load()) }

func (g *historyGate) before(inner cluster.HistoryCaller) cluster.HistoryCaller {
	return gatedHistory{g, inner}
}

type gatedHistory struct {
	gate  *historyGate
	inner cluster.HistoryCaller
}

func (h gatedHistory) CallInto(ctx context.Context, address string, kind byte, body, room []byte) ([]byte, error) {
	select {
	case <-*h.gate.opened.Load():
		return h.inner.CallInto(ctx, address, kind, body, room)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// frail is other nodes' history, whose first question panics.
type frail struct {
	cluster.HistoryCaller
	due *atomic.Bool
}

func (f frail) CallInto(ctx context.Context, address string, kind byte, body, room []byte) ([]byte, error) {
	once(f.due)
	return f.HistoryCaller.CallInto(ctx, address, kind, body, room)
}

// NO-1: a panic over a question for history is the component's: it begins anew, and
// fetches everything.
func TestFetchingHistoryMayPanic(t *testing.T) {
	var due atomic.Bool
	c := newTrio(t, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			short(config)
			config.History = frail{config.History, &due}
		}
	})
	c.write(300)
	c.snapshot()
	victim := (c.leader() + 1) % 3
	c.stop(victim)
	c.wipe(victim)
	due.Store(true)
	c.start(victim)
	c.awaitHistory()
	history := component(t, c.nodes[victim], "history")
	require.Equal(t, []any{1, "panic: planted deep inside"}, []any{history.Restarts, history.LastError})
	c.sameDigests()
}
