package kerneltest

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/stretchr/testify/require"
)

// Check holds every property that must be true of any log and its state.
func (s *Sim) Check() {
	s.T.Helper()
	s.CheckChain()
	s.CheckTree()
	s.CheckFold()
	s.CheckCounts()
	s.CheckBodies()
	s.CheckSlices()
	s.CheckAgents()
	s.CheckLedgers()
	s.CheckPaths()
	s.CheckTicks()
	s.CheckTimers()
	s.CheckHistories()
	s.CheckWords()
	s.CheckBudgets()
	s.CheckAudit()
	s.CheckReplay(0)
	s.CheckReplay(1)
	s.CheckReplay(3)
	s.CheckRestores()
}

// CheckFold folds the whole execution log by the appliers alone and compares
// the state with the one that running gave (mechanics: "Decide, then apply", 7).
func (s *Sim) CheckFold() {
	s.T.Helper()
	folded := state.New("default")
	for i, raw := range s.Blocks {
		require.NoError(s.T, kernel.Fold(folded, raw), "block %d", i+1)
	}
	require.Equal(s.T, kernel.Digest(s.State()), kernel.Digest(folded), "the fold of the log is not the state")
}

// CheckChain verifies the log from its genesis (LO-1).
func (s *Sim) CheckChain() {
	s.T.Helper()
	verifier := logging.NewVerifier(logging.Genesis("default").Point)
	for _, raw := range s.Blocks {
		require.NoError(s.T, verifier.Feed(raw))
	}
	require.Equal(s.T, s.State().Log.Point, verifier.Point())
}

// CheckTree computes the tree over the log, its heads on record, and the own chain
// of each agent and each run in the plainest way (LO-1, RU-4).
func (s *Sim) CheckTree() {
	s.T.Helper()
	st := s.State()
	var tree logging.Tree
	pointers, position := make(map[uint32]uint64), uint64(0)
	heads := make(map[uint32][logging.HashBytes]byte)
	for _, raw := range s.Blocks {
		block, err := logging.Decode(raw)
		require.NoError(s.T, err)
		var subjects []uint32
		for i := range block.Touched() {
			subject, previous := block.TouchedAt(i)
			require.Equal(s.T, heads[subject], block.HeadAt(i), "subject %d at index %d", subject, block.Index)
			require.Equal(s.T, pointers[subject], previous, "subject %d at index %d", subject, block.Index)
			before, digest := block.HeadAt(i), block.Digest()
			heads[subject] = sha256.Sum256(append(before[:], digest[:]...))
			pointers[subject] = position + 1
			subjects = append(subjects, subject)
		}
		require.Equal(s.T, withRuns(st, subjects), subjects, "index %d", block.Index)
		position += uint64(len(raw))
		for _, r := range Decode(s.T, raw) {
			if head, ok := r.Content.(*logging.TreeHead); ok {
				require.Equal(s.T, logging.TreeHead{Size: tree.Size(), Root: tree.Root()}, *head)
			}
		}
		tree = tree.Append(block.Digest())
	}
	require.Equal(s.T, tree, st.Log.Tree)
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		require.Equal(s.T, heads[no], st.Agents.Get(no).Head, "agent %d", no)
		require.Equal(s.T, pointers[no], st.Agents.Get(no).LastBlock, "agent %d", no)
	}
	ledgers := 0
	st.Runs.AllLedgers(func(l runs.Ledger) bool {
		ledgers++
		require.NotNil(s.T, st.Runs.Get(l.Agent))
		require.Equal(s.T, heads[logging.RunSubject(l.Agent)], l.Head, "run %d", l.Agent)
		require.Equal(s.T, pointers[logging.RunSubject(l.Agent)], l.LastBlock, "run %d", l.Agent)
		return true
	})
	require.Equal(s.T, st.Runs.Len(), ledgers, "every run has a ledger")
}

// withRuns is what a block must touch that touches those agents: them, and every
// run whose root agent is above one of them.
func withRuns(st *state.State, subjects []uint32) []uint32 {
	var want []uint32
	for _, no := range subjects {
		if no > logging.MaxAgent {
			continue
		}
		want = append(want, no)
		for st.Agents.Get(no).Delegation.Parent != 0 {
			no = st.Agents.Get(no).Delegation.Parent
		}
		if st.Runs.Get(no) != nil {
			want = append(want, no|1<<31)
		}
	}
	slices.Sort(want)
	return slices.Compact(want)
}

// CheckAudit lets an independent reader judge the log (LO-12).
func (s *Sim) CheckAudit() {
	s.T.Helper()
	auditor := logaudit.New("default")
	for _, raw := range s.Blocks {
		require.NoError(s.T, auditor.Feed(raw))
	}
	origins := auditor.Origins("default")
	for _, raw := range s.Blocks {
		require.NoError(s.T, origins.Feed(raw))
	}
	require.Len(s.T, auditor.Report().Findings, s.Flaws)
}

// Restore takes a kernel through a snapshot.
func Restore(t TB, s *state.State, lookup flows.Lookup) *kernel.Kernel {
	t.Helper()
	restorer := kernel.NewRestorer()
	kernel.Sections(s, func(one kernel.Section) bool {
		require.NoError(t, restorer.Add(kernel.Section{Kind: one.Kind, Body: bytes.Clone(one.Body)}))
		return true
	})
	k, err := restorer.Done(lookup)
	require.NoError(t, err)
	require.Equal(t, kernel.Digest(s), kernel.Digest(k.Publish()), "a snapshot is not the state it was taken of")
	return k
}

// Restart takes the first replica through a snapshot: from here on it is a
// kernel that was restored.
func (s *Sim) Restart() {
	s.T.Helper()
	s.Replicas[0] = Restore(s.T, s.State(), s.Lookup)
}

// CheckReplay applies the log again on a fresh kernel, and publishes after
// every batch of the given size (0: never): batch cuts must not reach bytes.
func (s *Sim) CheckReplay(batch int) {
	s.T.Helper()
	k := kernel.New("default", s.Lookup)
	for i := range s.Log {
		applied := s.Log[i].on(s.T, k, uint64(i+1))
		require.Equal(s.T, s.Blocks[i], applied.Block, "replay in batches of %d differs at index %d", batch, i+1)
		if batch > 0 && i%batch == 0 {
			k.Publish()
		}
	}
	require.Equal(s.T, kernel.Digest(s.State()), kernel.Digest(k.Publish()))
}

// CheckRestores applies the log again on a kernel that is restored from its
// own snapshot before every event: nothing that matters later may live outside
// of a snapshot.
func (s *Sim) CheckRestores() {
	s.T.Helper()
	k := kernel.New("default", s.Lookup)
	for i := range s.Log {
		k = Restore(s.T, k.Publish(), s.Lookup)
		applied := s.Log[i].on(s.T, k, uint64(i+1))
		require.Equal(s.T, s.Blocks[i], applied.Block, "restored kernels differ at index %d", i+1)
	}
	require.Equal(s.T, kernel.Digest(s.State()), kernel.Digest(k.Publish()))
}

// Substance is the digest of a state apart from where in the log it stands:
// two states with equal substance differ in time and position only.
func Substance(s *state.State) [32]byte {
	bare := *s
	bare.Clock, bare.Index, bare.Term, bare.Log = 0, 0, 0, logging.Genesis("default")
	bare.Agents = table.Vector[state.Row]{}
	for no := uint32(1); no <= s.Agents.Len(); no++ {
		_, row := bare.Agents.Append()
		*row = *s.Agents.Get(no)
		row.LastBlock, row.Head, row.Logged.Bytes = 0, [32]byte{}, 0
	}
	bare.Runs = runs.Tables{}
	s.Runs.All(func(r *runs.Run) bool { bare.Runs.Load(r); return true })
	return kernel.Digest(&bare)
}

// foreign are words of libraries and of the Go runtime.
var foreign = []string{
	"runtime error", "goroutine", "nil pointer", "cbor", "starlark", "strconv", "json:", "invalid character", "unexpected EOF",
	"btree", "uuid:", "<nil>",
	"%!(", "%!v(", "%!d(", "%!s(", "%!q(", "%!w(", // of fmt; shorter ones stand in digests now and then
}

// CheckWords looks for text that is not ours in what the kernel wrote: every
// record but the event itself, which is the client's (EV-13).
func (s *Sim) CheckWords() {
	s.T.Helper()
	for _, r := range s.All() {
		if bus.Kind(r.Kind) == bus.Event {
			continue
		}
		for _, word := range foreign {
			if bytes.Contains(r.Body, []byte(word)) {
				require.FailNow(s.T, "a record has words that are not ours", "%s: %q", r.Name, r.Body)
			}
		}
	}
}
