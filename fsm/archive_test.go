package fsm

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/stretchr/testify/require"
)

const makesAChild = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"CALL","payload":{"tool":"agent.delegate","args":{"detach":true,"children":[{"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}],
		"program":{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":5}}}}]}}},
	{"kind":"CALL","payload":{"tool":"echo"}}]}}`

// archivedLog is the log of a kernel with many agents, most of which are over when
// the log is archived.
func archivedLog(t *testing.T) (*kerneltest.Sim, []*raft.Log) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.SegmentBytes = 4096 })
	var ids []string
	for i := range 60 {
		ids = append(ids, s.Start(event.Define{
			Name: fmt.Sprint("agent ", i), Mode: "service", Labels: map[string]string{"n": fmt.Sprint(i / 7)},
			Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":7}}`),
		}, nil))
		if i%2 == 0 {
			require.Empty(t, s.Kill(ids[i]).Refusal)
		}
		if i%6 == 3 { // whose child is over soon, in an event of its own
			run := kerneltest.IDOf(s.Must(event.RunPlan, event.PlanRun{
				Agent: event.Define{Grants: kerneltest.Everything(), MaxDepth: 1}, Start: true, Tasks: []event.RunTask{{Name: "only", Program: kerneltest.JSON(t, makesAChild)}},
			}).Agent)
			s.Pass(5)
			if i%4 == 3 {
				require.Empty(t, s.Kill(run).Refusal)
			}
		}
		s.Pulse()
	}
	for i := 1; i < 20; i += 6 { // others, later
		require.Empty(t, s.Kill(ids[i]).Refusal)
	}
	s.Settle()
	s.Pass(60_000)
	s.Must(event.LogArchive, event.ArchiveLog{Before: 1 << 40})
	for range 5 {
		s.Pulse()
	}
	logs := make([]*raft.Log, len(s.Log))
	for i := range s.Log {
		logs[i] = &raft.Log{Index: uint64(i + 1), Term: s.Log[i].Term, Type: raft.LogCommand, Data: s.Log[i].Event.Append(nil)}
	}
	return s, logs
}

// archived waits until the replica's log has done what a snapshot lets it do.
func (r *replica) archived() {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return !r.store.Status().Archiving }, 30*time.Second, time.Millisecond)
	require.Zero(r.t, r.store.Status().ToArchive)
}

func (r *replica) files(pattern string) map[string]string {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.dir, "log", pattern))
	require.NoError(r.t, err)
	out := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(r.t, err)
		out[filepath.Base(name)] = string(b)
	}
	return out
}

// INV-07: nothing that somebody alive may need leaves the log, everything else does,
// and the files are the same on every replica, whenever it took its snapshots; a new
// one fetches them.
func TestArchive(t *testing.T) {
	s, logs := archivedLog(t)
	asked := 0
	a, b := newReplica(t, t.TempDir()), newReplica(t, t.TempDir())
	a.options.Archived = func() { asked++ }
	a.ApplyBatch(logs)
	require.NoError(t, a.fatal)
	require.Equal(t, 1, asked)
	require.Empty(t, a.files("*.cmp"), "not before a snapshot stands behind it")
	snapshot := a.snapshot()
	a.archived()
	for i, entry := range logs {
		b.ApplyBatch([]*raft.Log{entry})
		if i%40 == 39 {
			b.snapshot()
		}
	}
	b.snapshot()
	b.archived()
	want := a.files("*.cmp")
	require.Greater(t, len(want), 3)
	require.Equal(t, want, b.files("*.cmp"))
	require.Equal(t, a.files("archive/*.seg"), b.files("archive/*.seg"))
	require.Equal(t, a.files("*.seg"), b.files("*.seg"))

	require.NoError(t, os.RemoveAll(filepath.Join(a.dir, "log", "archive")))
	a.requireKept(s)

	c := newReplica(t, t.TempDir())
	require.NoError(t, c.restore(snapshot))
	room := make([]byte, 1<<16)
	for p, missing := c.store.Missing(); missing; p, missing = c.store.Missing() {
		at, err := c.store.Have(p)
		require.NoError(t, err)
		for at < p.To {
			n, next, err := a.store.Serve(at, room)
			require.NoError(t, err)
			require.NoError(t, c.store.Accept(p, at, room[:n]))
			at = next
		}
		require.NoError(t, c.store.Complete(p))
	}
	c.archived()
	require.Equal(t, want, c.files("*.cmp"))
	c.requireKept(s)
	c.close()
	again := newReplica(t, c.dir)
	require.NoError(t, again.restore(snapshot))
	again.archived()
	again.requireKept(s)
}

// requireKept checks a log whose archive is gone.
func (r *replica) requireKept(s *kerneltest.Sim) {
	t, st := r.t, r.State()
	verifier, tree, gone, i := logging.NewVerifier(logging.Genesis("default").Point), logging.Tree{}, 0, 0
	_, err := r.store.Walk(1, func(item *segment.Item) bool {
		if item.Archived() {
			gone++
			require.NoError(t, verifier.FeedStub(&item.Stub))
		} else {
			require.Equal(t, s.Blocks[i], item.Block.Raw)
			require.NoError(t, verifier.Feed(item.Block.Raw))
		}
		tree = tree.Append(item.Digest())
		i++
		return true
	})
	require.NoError(t, err)
	require.Equal(t, st.Log.Chain, verifier.Point().Chain)
	require.Equal(t, st.Log.Tree.Root(), tree.Root())
	require.Greater(t, gone, 40)

	alive, over := 0, 0
	for no := uint32(1); st.Agents.Get(no) != nil; no++ {
		row := st.Agents.Get(no)
		err := r.store.AgentHistory(no, row.LastBlock, 1, func(uint64, *logging.Block) bool { return true })
		if row.Lifecycle.State != lifecycle.Terminated {
			require.NoError(t, err, "agent %d", no)
			require.NoError(t, r.store.AgentBlocks(no, row.LastBlock, func(uint64, *logging.Block) bool { return true }))
			alive++
		} else if err != nil {
			require.ErrorAs(t, err, new(*segment.CompactedError))
			over++
		}
	}
	require.Greater(t, alive, 20)
	require.Greater(t, over, 20)
	going, ended := 0, 0
	st.Runs.AllLedgers(func(l runs.Ledger) bool { // RU-4
		err := r.store.AgentHistory(logging.RunSubject(l.Agent), l.LastBlock, 1, func(uint64, *logging.Block) bool { return true })
		if !st.Runs.Get(l.Agent).State.Over() {
			require.NoError(t, err, "run %d", l.Agent)
			require.Equal(t, lifecycle.Terminated, st.StateOf(l.Agent+1), "its child")
			going++
		} else {
			require.ErrorAs(t, err, new(*segment.CompactedError))
			ended++
		}
		return true
	})
	require.Equal(t, []int{5, 5}, []int{going, ended})
	st.Interned.All(func(e *interning.Entry, _ uint32) bool {
		_, err := r.store.BlockAt(e.Block - 1)
		require.NoError(t, err, "the block that brought body %d", e.No)
		return true
	})
	_, err = r.store.BlockAt(0)
	require.NoError(t, err)
}
