package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
)

// picked replays the agent of an id out of a whole log.
func picked(s *kerneltest.Sim, log *kerneltest.Placed, id identity.ID, of replay.Range) (*replay.Agent, error) {
	var agent *replay.Agent
	x := replay.NewInLog(id, func(no uint32, c *config.Config, find kernel.FindBody) replay.Taker {
		agent = replay.NewAgent(no, c, s.Lookup, find, of)
		return agent
	})
	for _, at := range log.Order {
		b, gone := kerneltest.Fleeting(log.Blocks[at])
		err := x.Block(at, b)
		if gone(); err != nil {
			return agent, err
		}
		if x.Done() {
			break
		}
	}
	return agent, x.Over()
}

// LO-4: an agent is replayed out of a whole log as out of its own blocks.
func TestAgentInALog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 10, drawn{t})
		h.Run(rapid.IntRange(5, 40).Draw(t, "steps"))
		log, st := h.Placed(), h.State()
		for no := uint32(1); no <= st.Agents.Len(); no++ {
			agent, err := picked(h.Sim, log, st.Agents.Get(no).Identity.ID, replay.Range{})
			require.NoError(t, err)
			own, err := replayed(log, h.Sim, no, replay.Range{})
			require.NoError(t, err)
			require.Equal(t, own.Stats(), agent.Stats())
		}
	})
}

// What is missing is named, and what is not wanted any more is not looked at.
func TestAgentNotInALog(t *testing.T) {
	s := story(t)
	log := s.Placed()
	_, err := picked(s, log, identity.ID{9}, replay.Range{})
	require.ErrorIs(t, err, replay.ErrNoAgent)
	id := s.State().Agents.Get(1).Identity.ID
	_, err = picked(s, &kerneltest.Placed{Order: log.Order[1:], Blocks: log.Blocks}, id, replay.Range{})
	require.ErrorIs(t, err, replay.ErrLog)
	to := first(t, s, bus.TickStarted, 1)
	agent, err := picked(s, log, id, replay.Range{To: to})
	require.NoError(t, err)
	require.Less(t, agent.Stats().Blocks, uint64(4))
	lost := tampered(t, log, first(t, s, bus.Event, 2), func(r logging.Record) []logging.Record {
		dup := r
		dup.Kind, dup.Agent, dup.Body = uint16(bus.Released), 0, []byte{1, 77}
		return []logging.Record{r, dup}
	})
	_, err = picked(s, lost, id, replay.Range{})
	require.ErrorIs(t, err, replay.ErrLog)
}
