package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/restore"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Agents of a cluster that is backed up while they are at it.
const (
	finishedAgent   = "018f4e5c-0000-7000-8000-0000000000a1"
	waitingAgent    = "018f4e5c-0000-7000-8000-0000000000a2" // for a message, with something in its memory
	dispatchedAgent = "018f4e5c-0000-7000-8000-0000000000a3" // for a call that must not be made twice
	delegatingAgent = "018f4e5c-0000-7000-8000-0000000000a4" // for a child that waits for a message
)

var programs = map[string]string{
	finishedAgent: program,
	waitingAgent: `{"kind":"SEQ","payload":{"steps":[
		{"kind":"WRITE","payload":{"key":"plan","value":"kept"}},
		{"kind":"LET","payload":{"name":"m","do":{"kind":"RECEIVE","payload":{"timeout_ms":600000}}}},
		{"kind":"LET","payload":{"name":"plan","do":{"kind":"READ","payload":{"key":"plan"}}}},
		{"kind":"CALL","payload":{"tool":"echo","args":"${[m, plan]}"}}]}}`,
	dispatchedAgent: `{"kind":"CALL","payload":{"tool":"http.request","timeout_ms":3000,"args":{"method":"POST","url":"http://127.0.0.1:1/pay"}}}`,
	delegatingAgent: `{"kind":"DELEGATE","payload":{"children":[{"name":"child",
		"grants":[{"effect":"ALLOW","action":"tool.call","resource":"mailbox.receive"}],
		"program":{"kind":"RECEIVE","payload":{"timeout_ms":600000}}}]}}`,
}

func startAll(t *testing.T, c *trio) {
	t.Helper()
	for _, id := range []string{finishedAgent, waitingAgent, dispatchedAgent, delegatingAgent} {
		c.command(event.AgentStart, event.Start{Define: event.Define{
			ID: id, Program: kerneltest.JSON(t, programs[id]),
			Grants: []permissions.Grant{
				{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}, {Effect: permissions.Allow, Action: "memory.*", Resource: "**"},
				{Effect: permissions.Allow, Action: "agent.*", Resource: "**"},
			},
		}})
	}
}

// command commits one at the leader, which has to take effect.
func (c *trio) command(kind event.Kind, body any) event.Outcome {
	c.t.Helper()
	answer := c.nodes[c.leader()].Propose(c.t.Context(), event.Event{Kind: kind, Principal: "client", Body: event.Encode(body)})
	require.Equal(c.t, cluster.Applied, answer.Verdict, "%+v", answer)
	require.Empty(c.t, answer.Outcome.Refusal)
	return answer.Outcome
}

func rowOf(t *testing.T, s *state.State, id string) *state.Row {
	t.Helper()
	uuid, ok := flows.ParseID(id)
	require.True(t, ok)
	_, row := s.Find(uuid)
	require.NotNil(t, row)
	return row
}

// await waits until a linearizable read of the leader shows what is wanted.
func (c *trio) await(wanted func(*state.State) bool) *state.State {
	c.t.Helper()
	var seen *state.State
	require.Eventually(c.t, func() bool {
		view, err := c.nodes[c.leader()].Read(c.t.Context(), cluster.Consistency{Level: cluster.Linearizable})
		if err != nil {
			return false
		}
		seen = view.State
		return wanted(seen)
	}, 30*time.Second, 10*time.Millisecond)
	return seen
}

func inState(t *testing.T, id string, want lifecycle.State) func(*state.State) bool {
	return func(s *state.State) bool { return rowOf(t, s, id).Lifecycle.State == want }
}

// busy keeps a cluster under load until it is told to stop: every node is sent
// commands, whether it leads or not.
func busy(c *trio) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var load sync.WaitGroup
	for worker := range 9 {
		node := c.nodes[worker%3]
		load.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				node.Propose(ctx, event.Event{Kind: event.SharedPut, Principal: "load", Body: event.Encode(event.PutShared{
					Namespace: "load", Key: fmt.Sprintf("%d-%d", worker, n%50), Value: kerneltest.JSON(c.t, `{"some":"value"}`),
				})})
			}
		})
	}
	return func() { cancel(); load.Wait() }
}

// take makes a backup at a node, with everything in it that was acknowledged before.
func take(t *testing.T, n *cluster.Node) ([]byte, backup.Summary) {
	t.Helper()
	view, err := n.Read(t.Context(), cluster.Consistency{Level: cluster.Linearizable})
	require.NoError(t, err)
	var file bytes.Buffer
	sum, err := n.Backup(t.Context(), view.State, &file)
	require.NoError(t, err)
	return file.Bytes(), sum
}

// restored makes a cluster from a backup and starts it.
func restored(t *testing.T, file []byte, id string, changes ...func(*trio)) *trio {
	t.Helper()
	return newTrio(t, append(changes, func(c *trio) {
		c.id = id
		dir := t.TempDir()
		plan := restore.Plan{ClusterID: id, Peers: c.peers, Dir: dir, Store: c.store}
		report, err := restore.Run(t.Context(), bytes.NewReader(file), plan)
		require.NoError(t, err)
		require.Len(t, report.Nodes, 3)
		for i, target := range report.Nodes {
			require.Equal(t, c.peers[i].ID, target.Node)
			c.dirs[i] = target.Dir
		}
	})...)
}

// logOf reads a node's whole log, verified from its genesis.
func logOf(t *testing.T, n *cluster.Node) (blocks [][]byte, end logging.Point) {
	t.Helper()
	verifier := logging.NewVerifier(logging.Genesis("default").Point)
	_, err := n.Log().ReadFrom(1, func(_ uint64, b *logging.Block) bool {
		require.NoError(t, verifier.Feed(b.Raw))
		blocks = append(blocks, bytes.Clone(b.Raw))
		return true
	})
	require.NoError(t, err)
	return blocks, verifier.Point()
}

// A backup of a cluster at work, taken at the leader or at a follower, becomes
// another cluster: its agents, their memory and their sessions go on, what they
// waited for comes, and the log is the old one, continued (EV-17, LO-1). What
// must not be done twice is not (TO-4).
func TestRestoredClusterGoesOn(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		held := &tally{calls: make(map[string]int), hold: make(chan struct{})}
		old := newTrio(t, func(c *trio) {
			c.store, c.adapters = store, []tools.Adapter{echo.Adapter{}, held}
			c.adjust = func(config *cluster.Config) { config.Limits.SegmentBytes = 16 << 10 }
		})
		defer close(held.hold)
		startAll(t, old)
		session := event.Event{Kind: event.AgentKill, Principal: "client", Body: event.Encode(event.Kill{Agent: "018f4e5c-0000-7000-8000-0000000000ff"})}
		session.Session = event.Session{ID: old.nodes[0].MintSession(), Seq: 1, Floor: 1}
		first := old.nodes[old.leader()].Propose(t.Context(), session).Outcome
		require.Equal(t, failure.NotFound, first.Refusal.Code)
		old.await(func(s *state.State) bool {
			dispatched, _ := held.counts()
			return dispatched == 1 && inState(t, finishedAgent, lifecycle.Terminated)(s) &&
				inState(t, waitingAgent, lifecycle.Waiting)(s) && inState(t, delegatingAgent, lifecycle.Waiting)(s)
		})
		stop := busy(old)
		leader := old.leader()
		follower := old.nodes[(leader+1)%3]
		grown := old.await(func(s *state.State) bool { return len(s.Log.Sealed) > 2 })
		old.command(event.LogArchive, event.ArchiveLog{Before: grown.Log.NextSeq})
		_, fromLeader := take(t, old.nodes[leader])
		file, sum := take(t, follower)
		require.GreaterOrEqual(t, sum.Index, fromLeader.Index)
		require.Equal(t, follower.ID(), sum.Node)
		require.Equal(t, "test", sum.ClusterID)
		_, err := backup.Verify(t.Context(), bytes.NewReader(file), backup.Options{Deep: true, Evaluators: registry.Lookup})
		require.NoError(t, err)
		stop()
		var before [][]byte
		require.Eventually(t, func() bool { // the follower may have been first
			before, _ = logOf(t, old.nodes[leader])
			return uint64(len(before)) >= sum.Blocks
		}, 30*time.Second, 20*time.Millisecond)
		for i := range old.nodes {
			old.stop(i)
		}

		again := &tally{calls: make(map[string]int), hold: make(chan struct{})}
		c := restored(t, file, "second", func(c *trio) { c.store, c.adapters = store, []tools.Adapter{echo.Adapter{}, again} })
		stop = busy(c) // the first leader must come to word all the same
		s := c.await(func(s *state.State) bool { return s.Config.ClusterID == "second" })
		stop()
		require.NotZero(t, s.Log.Sealed[0].ArchivedAt, "the manifest goes on, too")
		require.Equal(t, "[10,20,30]", string(rowOf(t, s, finishedAgent).Execution.Result.Value.AppendJSON(nil)))

		answer := c.nodes[c.leader()].Propose(t.Context(), session)
		first.Repeated = true
		require.Equal(t, first, answer.Outcome, "the session goes on (CL-3)")
		message := kerneltest.JSON(t, `"hello"`)
		c.command(event.AgentSend, event.Send{Agent: waitingAgent, Message: message})
		s = c.await(inState(t, waitingAgent, lifecycle.Terminated))
		require.Equal(t, `["hello","kept"]`, string(rowOf(t, s, waitingAgent).Execution.Result.Value.AppendJSON(nil)))
		no, _ := s.Find(rowOf(t, s, delegatingAgent).Identity.ID)
		child := flows.FormatID(s.Agents.Get(s.Agents.Get(no).Delegation.FirstChild).Identity.ID)
		c.command(event.AgentSend, event.Send{Agent: child, Message: message})
		s = c.await(inState(t, delegatingAgent, lifecycle.Terminated))
		require.True(t, rowOf(t, s, delegatingAgent).Execution.Result.OK)
		s = c.await(inState(t, dispatchedAgent, lifecycle.Faulted))
		require.Equal(t, failure.OutcomeUnknown, rowOf(t, s, dispatchedAgent).Execution.Result.Code)
		called, _ := again.counts()
		require.Zero(t, called, "the call was made again")

		c.sameDigests()
		after, end := logOf(t, c.nodes[1])
		require.LessOrEqual(t, s.Log.NextSeq, end.NextSeq)
		require.Equal(t, before[:sum.Blocks], after[:sum.Blocks], "the log goes on where the backup ended")
		turn, err := logging.Decode(after[sum.Blocks])
		require.NoError(t, err)
		require.Equal(t, sum.Chain, fmt.Sprintf("%x", turn.PrevChain))
		var kinds []bus.Kind
		for records := turn.Records(); records.Next(); {
			kinds = append(kinds, bus.Kind(records.Record.Kind))
		}
		require.Contains(t, kinds, bus.ClusterRestored, "the first event after the backup says what happened")
		require.Greater(t, turn.Term, sum.Term)

		c.restartAll() // and is a cluster like any other
		for i := range c.nodes {
			require.NoError(t, c.nodes[i].Snapshot(t.Context()))
		}
		c.restartAll()
		c.sameDigests()
		second, sum := take(t, c.nodes[c.leader()])
		require.Equal(t, "second", sum.ClusterID)
		third := restored(t, second, "third", func(c *trio) { c.store, c.adapters = store, []tools.Adapter{echo.Adapter{}, again} })
		third.await(func(s *state.State) bool { return s.Config.ClusterID == "third" })
	})
}

// Directories that hold anything, ids that are taken and lists that make no sense are
// refused, and nothing is written.
func TestRefusedRestores(t *testing.T) {
	c := newTrio(t)
	startAll(t, c)
	file, _ := take(t, c.nodes[c.leader()])
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "n2"), nil, 0o600))
	used := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(used, "n3", "kernels"), 0o700))
	plan := func(change func(*restore.Plan)) restore.Plan {
		p := restore.Plan{ClusterID: "second", Peers: c.peers, Dir: filepath.Join(t.TempDir(), "new")}
		change(&p)
		return p
	}
	for name, p := range map[string]restore.Plan{
		"the same cluster": plan(func(p *restore.Plan) { p.ClusterID = "test" }),
		"no cluster":       plan(func(p *restore.Plan) { p.ClusterID = "" }),
		"no peers":         plan(func(p *restore.Plan) { p.Peers = nil }),
		"no directory":     plan(func(p *restore.Plan) { p.Dir = "" }),
		"another store":    plan(func(p *restore.Plan) { p.Store = "paper" }),
		"a stranger":       plan(func(p *restore.Plan) { p.Node = "n9" }),
		"twice":            plan(func(p *restore.Plan) { p.Peers = append(p.Peers[:2:2], p.Peers[0]) }),
		"one address": plan(func(p *restore.Plan) {
			p.Peers = append(p.Peers[:2:2], cluster.Peer{ID: "n3", Raft: p.Peers[0].Raft})
		}),
		"no name of a directory": plan(func(p *restore.Plan) { p.Peers = []cluster.Peer{{ID: "../n1", Raft: "a:1"}} }),
	} {
		_, err := restore.Run(t.Context(), bytes.NewReader(file), p)
		var refused *restore.PlanError
		require.ErrorAs(t, err, &refused, name)
		require.NoDirExists(t, p.Dir, name)
	}
	for name, dir := range map[string]string{"a file in the way": full, "a directory with data": used} {
		_, err := restore.Run(t.Context(), bytes.NewReader(file), plan(func(p *restore.Plan) { p.Dir = dir }))
		require.Error(t, err, name)
		require.NoDirExists(t, filepath.Join(dir, "n1"), name)
	}
	_, err := restore.Run(t.Context(), bytes.NewReader(file), plan(func(p *restore.Plan) { p.Dir = used }))
	require.ErrorIs(t, err, datadir.ErrNotEmpty)
	_, err = restore.Run(t.Context(), bytes.NewReader(file), plan(func(p *restore.Plan) { p.Dir, p.Node = c.dirs[0], "n1" }))
	require.ErrorIs(t, err, datadir.ErrNotEmpty, "a node's own directory")
}

// A damaged or a cut backup, and a restore that is interrupted, leave nothing behind;
// what a killed process leaves starts nowhere, and makes room for the next restore.
func TestUnfinishedRestores(t *testing.T) {
	c := newTrio(t)
	startAll(t, c)
	file, sum := take(t, c.nodes[c.leader()])
	dir := filepath.Join(t.TempDir(), "data")
	plan := restore.Plan{ClusterID: "second", Peers: c.peers, Dir: dir, Node: "n1"}
	damaged := bytes.Clone(file)
	damaged[len(file)-len(file)/4] ^= 4
	var broken *backup.Broken
	_, err := restore.Run(t.Context(), bytes.NewReader(damaged), plan)
	require.ErrorAs(t, err, &broken)
	require.NoDirExists(t, dir)
	_, err = restore.Run(t.Context(), bytes.NewReader(file[:len(file)-1]), plan)
	require.ErrorAs(t, err, &broken)
	require.NoDirExists(t, dir)

	ctx, cancel := context.WithCancel(t.Context())
	interrupted := plan
	interrupted.Progress = func(part backup.Part, done, total uint64) {
		if part == backup.PartState && done == sum.Sections/2 {
			cancel()
		}
	}
	_, err = restore.Run(ctx, &slow{from: file}, interrupted)
	require.ErrorIs(t, err, context.Canceled)
	require.NoDirExists(t, dir)

	_, err = datadir.Begin(dir) // all that a process has done that is killed then
	require.NoError(t, err)
	_, err = cluster.Open(cluster.Config{
		NodeID: "n1", ClusterID: "second", KernelID: "default", DataDir: dir, Peers: c.peers, Fatal: func(error) {}, Logger: nullLogger(),
	})
	require.ErrorIs(t, err, datadir.ErrRestoring)
	report, err := restore.Run(t.Context(), bytes.NewReader(file), plan)
	require.NoError(t, err)
	require.Equal(t, []restore.Target{{Node: "n1", Dir: dir}}, report.Nodes)
	require.Equal(t, sum, report.Backup)
	require.NoError(t, datadir.Claim(dir, "second", "n1"))
}

// slow gives a few bytes at a time, so that a restore can be interrupted within.
type slow struct {
	from []byte
	at   int
}

func (s *slow) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), 64)], s.from[s.at:])
	s.at += n
	return n, nil
}
