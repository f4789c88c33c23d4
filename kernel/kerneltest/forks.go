package kerneltest

import (
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// Moment folds what the agent was after the event at that index (LO-13).
func (s *Sim) Moment(agent uint32, index uint64) *kernel.Moment {
	s.T.Helper()
	log := s.Placed()
	m := kernel.NewMoment(agent, kernel.ConfigIn(log.Blocks[0]), s.Lookup, log.Body)
	for _, at := range log.Order {
		b := log.Blocks[at]
		if _, touched := b.Previous(agent); touched && b.Index <= index {
			require.NoError(s.T, m.Fold(at, b))
		}
	}
	return m
}

// fork commits that a new agent starts from somewhere in an agent's history.
func (h *History) fork() {
	agents := int(h.State().Agents.Len())
	if h.plain || agents == 0 {
		h.start()
		return
	}
	no := uint32(1 + h.choose.Pick("forked", agents))
	back := h.choose.Pick("back", min(len(h.Log), 30))
	f, err := h.Moment(no, uint64(len(h.Log)-back)).Fork()
	if err != nil {
		require.ErrorIs(h.T, err, kernel.ErrNoMoment)
		h.start()
		return
	}
	switch h.choose.Pick("fork", 6) {
	case 0:
		f.Set = []event.ForkSet{{Key: "a", Value: h.message()}}
	case 1:
		f.Submit = &event.ForkInstruction{Input: h.message()}
	case 2:
		f.Define.Grants = nil
	case 3:
		f.Define.Mode = "service"
	}
	h.command(event.AgentFork, f)
}
