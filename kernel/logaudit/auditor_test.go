package logaudit_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

func audit(t kerneltest.TB, blocks [][]byte) logaudit.Report {
	t.Helper()
	a := logaudit.New("default")
	for _, raw := range blocks {
		require.NoError(t, a.Feed(raw))
	}
	again := a.Origins("default")
	for _, raw := range blocks {
		require.NoError(t, again.Feed(raw))
	}
	require.True(t, again.Done())
	require.Zero(t, a.Unread())
	return a.Report()
}

// drawn lets a property make the choices of a history.
type drawn struct{ *rapid.T }

func (d drawn) Pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

// LO-12: whatever happened, the log of it is found to be right, and nothing of
// it was passed over.
func TestHistoriesAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 30, drawn{t})
		h.Run(rapid.IntRange(1, 80).Draw(t, "steps"))
		report := audit(t, h.Blocks)
		require.Empty(t, report.Findings)
		require.Zero(t, report.Found)
		require.Equal(t, uint64(len(h.Blocks)), report.Blocks)
		require.Equal(t, h.State().Log.NextSeq-1, report.Records)
		require.Equal(t, h.State().Log.Position, report.Bytes)
		require.Equal(t, uint64(h.State().Agents.Len()), report.Agents)
	})
}

// The seeded histories reach every rule's records.
func TestLongHistoriesAreInOrder(t *testing.T) {
	var seen logaudit.Counts
	for seed := range uint64(24) {
		h := kerneltest.NewHistory(t, 1, 200, kerneltest.NewSeeded(seed))
		h.Run(300)
		report := audit(t, h.Blocks)
		require.Empty(t, report.Findings, "seed %d", seed)
		for _, n := range []*[2]uint64{
			{report.Transitions}, {report.Ticks}, {report.Steps}, {report.Allowed}, {report.Denied}, {report.Answered}, {report.Tokens},
		} {
			require.NotZero(t, n[0], "seed %d", seed)
		}
		seen.Escalated += report.Escalated
		seen.Requested += report.Requested
		seen.Dispatched += report.Dispatched
		seen.Accesses += report.Accesses
		seen.Revoked += report.Revoked
		seen.Forks += report.Forks
	}
	for _, n := range []uint64{seen.Escalated, seen.Requested, seen.Dispatched, seen.Accesses, seen.Revoked, seen.Forks} {
		require.NotZero(t, n)
	}
}

// Every kind of record is known: the log has none that the audit passes over
// because it is new.
func TestEveryKindIsKnown(t *testing.T) {
	for kind := bus.Kind(1); kind < bus.Last; kind++ {
		known := kernel.KindName(kind) != "UNKNOWN_RECORD"
		f := &forgery{t: t, blocks: []*forged{{index: 1, term: 1, records: []*written{{Header: logging.Header{Kind: uint16(kind)}}}}}}
		refused := false
		for _, found := range audit(t, f.write()).Findings {
			refused = refused || strings.Contains(found.What, "no record has kind")
		}
		assert.Equal(t, known, !refused, "%d %s", kind, kernel.KindName(kind))
	}
}

// LO-1: a byte that changes breaks the chain, and nothing behind it is believed.
func TestBrokenChain(t *testing.T) {
	h := kerneltest.NewHistory(t, 1, 20, kerneltest.NewSeeded(3))
	h.Run(60)
	damaged := bytes.Clone(h.Blocks[20])
	damaged[len(damaged)/2] ^= 1
	a := logaudit.New("default")
	for _, raw := range h.Blocks[:20] {
		require.NoError(t, a.Feed(raw))
	}
	before := a.Point()
	var broken *logging.Mismatch
	require.ErrorAs(t, a.Feed(damaged), &broken)
	require.ErrorAs(t, a.Feed(h.Blocks[20]), &broken, "final")
	require.Equal(t, before, a.Point())
	report := a.Report()
	require.Len(t, report.Findings, 1)
	require.Equal(t, logaudit.Chain, report.Findings[0].Rule)
	require.Equal(t, before.NextSeq, report.Findings[0].Seq)
	require.Contains(t, report.Findings[0].What, "checksum mismatch")

	a = logaudit.New("another")
	require.ErrorAs(t, a.Feed(h.Blocks[0]), &broken)
	require.Equal(t, logaudit.Chain, a.Report().Findings[0].Rule, "the log of another kernel")
}

// The list of findings is bounded; they are counted on.
func TestFindingsAreBounded(t *testing.T) {
	f := &forgery{t: t}
	for i := range uint64(30) {
		block := &forged{index: i + 1, term: 1}
		for range 50 {
			block.records = append(block.records, &written{Header: logging.Header{Kind: uint16(bus.Emitted), Agent: 7}})
		}
		f.blocks = append(f.blocks, block)
	}
	report := audit(t, f.write())
	require.Len(t, report.Findings, logaudit.MaxFindings)
	require.Greater(t, report.Found, uint64(1500))
	sum := uint64(0)
	for _, n := range report.ByRule {
		sum += n
	}
	require.Equal(t, report.Found, sum)
}

// LO-12: what the auditor keeps grows with the agents that live, not with those
// that ever did.
func TestMemoryIsOfTheLiving(t *testing.T) {
	blocks, _ := atWork(t, 40, 8)
	a := logaudit.New("default")
	most := uint64(0)
	for _, raw := range blocks {
		require.NoError(t, a.Feed(raw))
		most = max(most, uint64(a.Kept()))
	}
	report := a.Report()
	require.Empty(t, report.Findings)
	require.EqualValues(t, 320, report.Agents)
	require.Zero(t, report.Alive)
	require.Zero(t, a.Kept())
	require.LessOrEqual(t, most, uint64(8+8*2), "agents and their open calls")
}

// LO-12: of a random history, whatever of these is left out is noticed.
func TestWhatIsLeftOutIsNoticed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 30, drawn{t})
		h.Run(rapid.IntRange(1, 60).Draw(t, "steps"))
		f := forge(t, h.Blocks)
		var found []*written
		for _, kind := range []bus.Kind{bus.AgentDefined, bus.TokenIssued, bus.TickStarted, bus.TickPendingTool, bus.CallRequested} {
			found = append(found, f.all(kind, 0)...)
		}
		if len(found) == 0 {
			return
		}
		r := found[rapid.IntRange(0, len(found)-1).Draw(t, "which")]
		kind, agent := bus.Kind(r.Kind), r.Agent
		if kind == bus.CallRequested && f.executed(r) == nil || kind == bus.AgentDefined && len(f.all(bus.TokenIssued, agent)) == 0 {
			return // nothing rests on it yet
		}
		if next := f.at(r.seq + 1); kind == bus.TickStarted && bus.Kind(next.Kind) == bus.TickFailed {
			return // one that lost its token fails without a step, and might as well not have begun
		}
		f.blank(r)
		report := audit(t, f.write())
		require.NotEmpty(t, report.Findings, "%s of agent %d", kernel.KindName(kind), agent)
	})
}

// An auditor believes nothing and survives everything: bytes that no kernel
// wrote, in a chain that holds.
func FuzzFeed(f *testing.F) {
	for seed := range byte(8) {
		f.Add(uint64(seed), []byte{seed, 3, 7, 1, 9, seed * 31, 200, 4, 0, 1, 80, 2})
	}
	f.Fuzz(func(t *testing.T, seed uint64, changes []byte) {
		h := kerneltest.NewHistory(t, 1, 20, kerneltest.NewSeeded(seed%64))
		h.Run(60)
		forged := forge(t, h.Blocks)
		var all []*written
		for _, block := range forged.blocks {
			all = append(all, block.records...)
		}
		at := 0
		for len(changes) >= 4 {
			at = (at + int(changes[0])*7) % len(all)
			r := all[at]
			switch changes[1] % 6 {
			case 0:
				r.Kind = uint16(changes[2])
			case 1:
				r.Agent = uint32(changes[2] % 30)
			case 2:
				r.Tick = uint64(changes[2] % 5)
			case 3:
				if len(r.body) > 0 {
					r.body[int(changes[2])%len(r.body)] = changes[3]
				}
			case 4:
				forged.copy(r, all[(at+int(changes[2]))%len(all)])
			case 5:
				forged.swap(r, all[(at+int(changes[2]))%len(all)])
			}
			changes = changes[4:]
		}
		report := audit(t, forged.write())
		require.LessOrEqual(t, uint64(len(report.Findings)), report.Found)
	})
}
