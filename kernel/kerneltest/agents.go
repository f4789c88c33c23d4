package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
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
