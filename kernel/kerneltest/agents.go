package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/stretchr/testify/require"
)

// CheckAgents replays every agent from the blocks that touch it: each run of a
// tick gives the recorded records again (LO-4, INV-15).
func (s *Sim) CheckAgents() {
	s.T.Helper()
	st := s.State()
	log := s.Placed()
	agents := make(map[uint32]*replay.Agent)
	for _, at := range log.Order {
		b := log.Blocks[at]
		for i := range b.Touched() {
			no, _ := b.TouchedAt(i)
			if no > logging.MaxAgent {
				continue // a run
			}
			if agents[no] == nil {
				agents[no] = replay.NewAgent(no, st.Config, s.Lookup, log.Body, replay.Range{})
			}
			fleeting, gone := Fleeting(b)
			require.NoError(s.T, agents[no].Block(at, fleeting), "agent %d", no)
			gone()
		}
	}
	var steps, want uint64
	for _, a := range agents {
		steps += a.Stats().Steps
	}
	for _, r := range s.All() {
		if bus.Kind(r.Kind) == bus.Step {
			want++
		}
	}
	require.Equal(s.T, want, steps, "every step of the log was made again")
}

// CheckLedgers replays every run from its ledger: its agents' ticks, and its own
// records (RU-4).
func (s *Sim) CheckLedgers() {
	s.T.Helper()
	st := s.State()
	log := s.Placed()
	ledgers := make(map[uint32]*replay.WholeRun)
	for _, at := range log.Order {
		b := log.Blocks[at]
		for i := range b.Touched() {
			subject, _ := b.TouchedAt(i)
			run, ok := logging.RunOf(subject)
			if !ok {
				continue
			}
			if ledgers[run] == nil {
				ledgers[run] = replay.NewWholeRun(run, st.Config, s.Lookup, log.Body)
			}
			fleeting, gone := Fleeting(b)
			require.NoError(s.T, ledgers[run].Block(at, fleeting), "run %d", run)
			gone()
		}
	}
	st.Runs.All(func(r *runs.Run) bool {
		sum := ledgers[r.Agent].Stats().Ledger
		require.Equal(s.T, st.Runs.Ledger(r.Agent).Head, sum.Head)
		require.Equal(s.T, r.State, sum.State)
		require.Equal(s.T, st.Agents.Get(r.Agent).Identity.ID, sum.ID)
		return true
	})
}
