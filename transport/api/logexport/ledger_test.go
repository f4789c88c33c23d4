package logexport_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

const delegating = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"CALL","payload":{"tool":"agent.delegate","args":{"children":[
		{"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}],"program":{"kind":"CALL","payload":{"tool":"echo"}}}]}}},
	{"kind":"CALL","payload":{"tool":"echo"}}]}}`

// twoRuns are agents 1 and 2, with a child each, 3 and 4: their blocks take turns.
func twoRuns(t testing.TB) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	for range 2 {
		s.Must(event.RunPlan, event.PlanRun{
			Agent: event.Define{Grants: kerneltest.Everything(), MaxDepth: 1}, Tasks: []event.RunTask{{Name: "only", Program: kerneltest.JSON(t, delegating)}},
		})
	}
	for no := uint32(1); no <= 2; no++ {
		s.Must(event.RunStart, event.StartRun{Run: kerneltest.IDOf(s.State().Agents.Get(no).Identity.ID)})
	}
	for range 2 {
		for _, root := range []uint32{1, 2} {
			for no := s.State().Agents.Len(); no > 0; no-- {
				row := s.State().Agents.Get(no)
				if row.Run == root && row.Execution.Current != nil && row.Lifecycle.State.String() == "WAITING" && row.Delegation.Live == 0 {
					s.Result(callOf(s, no), true, int(no))
					break
				}
			}
		}
	}
	return s
}

// ledgerHeader describes a run's ledger as of the simulation's state.
func ledgerHeader(s *kerneltest.Sim, run uint32) logexport.SubjectHeader {
	l := s.State().Runs.Ledger(run)
	return logexport.SubjectHeader{
		ClusterID: "test", KernelID: "default", RunID: kerneltest.IDOf(s.State().Agents.Get(run).Identity.ID), Run: run,
		Position: l.LastBlock - 1, Head: hex.EncodeToString(l.Head[:]),
	}
}

// exportLedger writes a run's ledger as a server does.
func exportLedger(t kerneltest.TB, s *kerneltest.Sim, run uint32) []byte {
	t.Helper()
	var file bytes.Buffer
	log := s.Placed()
	w, err := logexport.NewSubjectWriter(&file, ledgerHeader(s, run))
	require.NoError(t, err)
	require.NoError(t, w.First(log.Blocks[0]))
	for _, at := range log.Order {
		b := log.Blocks[at]
		if _, touched := b.Previous(logging.RunSubject(run)); !touched {
			continue
		}
		for _, pointer := range kernel.Elsewhere(b, func(agent uint32) bool { return s.State().Agents.Get(agent).Run == run }) {
			if !w.Has(pointer) {
				require.NoError(t, w.Body(pointer-1, log.Blocks[pointer-1]))
			}
		}
		require.NoError(t, w.Block(at, b))
	}
	require.NoError(t, w.Finish())
	return file.Bytes()
}

// RU-4: a run's ledger holds the blocks of its whole tree, and nobody else's.
func TestLedgerIsTheRuns(t *testing.T) {
	s := twoRuns(t)
	for run := uint32(1); run <= 2; run++ {
		var copied bytes.Buffer
		file := exportLedger(t, s, run)
		sum, err := logexport.CopyLedger(&copied, bytes.NewReader(file))
		require.NoError(t, err)
		assert.Equal(t, file, copied.Bytes())
		assert.Equal(t, ledgerHeader(s, run), sum.SubjectHeader)
		assert.EqualValues(t, 4, sum.Blocks, "planned, started, the child's answer, its own")
	}
}

// RU-4: whatever is cut off, changed, left out or put elsewhere is noticed, with the
// place in the file.
func TestEveryDamageOfALedgerIsNoticed(t *testing.T) {
	s := twoRuns(t)
	file := exportLedger(t, s, 2)
	refused := func(damaged []byte, why string, args ...any) *logexport.Broken {
		t.Helper()
		_, err := logexport.CopyLedger(io.Discard, bytes.NewReader(damaged))
		var broken *logexport.Broken
		require.ErrorAs(t, err, &broken, args...)
		require.ErrorContains(t, err, why)
		require.ErrorContains(t, err, "run ledger: broken at byte ")
		return broken
	}
	for n := range len(file) {
		broken := refused(file[:n], "it ends before its trailer", "cut at byte %d", n)
		require.LessOrEqual(t, broken.Offset, int64(n))
	}
	for n := range len(file) {
		damaged := bytes.Clone(file)
		damaged[n] ^= 0x20
		refused(damaged, "", "byte %d", n)
	}
	refused(append(bytes.Clone(file), 0), "follows the trailer")
	refused(exportAgent(t, s, 2), "this is no run ledger")
	_, err := logexport.VerifyAgent(bytes.NewReader(file))
	require.ErrorContains(t, err, "this is no agent export")

	entries, starts := entriesOf(t, file)
	n := len(entries)
	with := func(from, to int, more ...int) []byte { // all of them, but for some in the place of from … to
		twisted := bytes.Clone(file[:starts[from]])
		for _, i := range more {
			twisted = append(twisted, entries[i]...)
		}
		return append(twisted, file[starts[to]:]...)
	}
	require.Equal(t, file, with(1, 3, 1, 2))
	for i := 1; i < n; i++ {
		if logexport.Part(entries[i][0]) == logexport.PartBody {
			refused(with(i, i+1), "the trailer does not belong to the blocks")
			continue
		}
		why := "does not continue the run's history"
		if i == n-1 {
			why = "the trailer does not belong to the blocks"
		}
		refused(with(i, i+1), why, "entry %d is missing", i)
		if i > 1 && logexport.Part(entries[i-1][0]) == logexport.PartSubject {
			broken := refused(with(i-1, i+1, i, i-1), "does not continue the run's history", "entries %d and %d in turn", i-1, i)
			require.EqualValues(t, starts[i-1]+len(entries[i]), broken.Offset)
		}
		refused(with(i, i+1, i, i), "does not continue the run's history", "entry %d twice", i)
	}
	refused(with(0, 1), "it does not begin with the log's first block")
}

// A writer's header is a run's or an agent's, not both.
func TestLedgerHeaders(t *testing.T) {
	s := twoRuns(t)
	for name, change := range map[string]func(h *logexport.SubjectHeader){
		"an agent's too":  func(h *logexport.SubjectHeader) { h.AgentID, h.Agent = h.RunID, h.Run },
		"no id":           func(h *logexport.SubjectHeader) { h.RunID = "" },
		"no head":         func(h *logexport.SubjectHeader) { h.Head = "00" },
		"too high number": func(h *logexport.SubjectHeader) { h.Run = logging.RunSubject(2) },
	} {
		h := ledgerHeader(s, 2)
		change(&h)
		var start bytes.Buffer
		_, err := logexport.NewSubjectWriter(&start, h)
		require.NoError(t, err)
		_, err = logexport.NewLedgerReader(&start)
		require.ErrorContains(t, err, "the header is malformed", name)
	}
}

func FuzzVerifyLedger(f *testing.F) {
	s := twoRuns(f)
	f.Add(exportLedger(f, s, 1))
	f.Add(exportLedger(f, s, 2))
	f.Fuzz(func(t *testing.T, file []byte) {
		sum, err := logexport.CopyLedger(io.Discard, bytes.NewReader(file))
		if err == nil && (sum.Blocks == 0 || sum.LastSeq < sum.FirstSeq || sum.Run == 0) {
			t.Fatalf("verified nonsense: %+v", sum)
		}
	})
}

// entriesOf cuts an export into its entries, and says where each begins, and where
// what follows them does.
func entriesOf(t *testing.T, file []byte) (entries [][]byte, starts []int) {
	t.Helper()
	at := 12 + 4 + int(file[12]) + int(file[13])<<8 + 4
	for file[at] != 0 {
		length, err := logging.BlockLen(file[at+9:])
		require.NoError(t, err)
		starts = append(starts, at)
		entries = append(entries, file[at:at+9+int(length)])
		at += 9 + int(length)
	}
	return entries, append(starts, at)
}

var errNone = errors.New("no call is open")

func callOf(s *kerneltest.Sim, agent uint32) (key tools.Key) {
	found := errNone
	s.State().Tools.All(func(c *tools.Call) bool {
		if c.Key.Agent == agent {
			key, found = c.Key, nil
		}
		return true
	})
	require.NoError(s.T, found)
	return key
}
