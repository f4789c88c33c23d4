package kerneltest

import (
	"bytes"
	"errors"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// CheckSlices folds every agent's own records alone, out of the blocks that
// touch it, and compares what they give, after each block, with what folding
// the whole log gives: its row, and what the tables have under its number.
func (s *Sim) CheckSlices() {
	s.T.Helper()
	log := s.Placed()
	whole := state.New("default")
	slices := make(map[uint32]*kernel.Slice)
	for _, at := range log.Order {
		b := log.Blocks[at]
		require.NoError(s.T, kernel.Fold(whole, b.Raw))
		for i := range b.Touched() {
			no, _ := b.TouchedAt(i)
			if no > logging.MaxAgent {
				continue // a run
			}
			if slices[no] == nil {
				slices[no] = kernel.NewSlice(no, whole.Config, s.Lookup, log.Body)
			}
			fleeting, gone := Fleeting(b)
			require.NoError(s.T, slices[no].Fold(at, fleeting), "agent %d", no)
			gone()
			s.sameSlice(whole, slices[no], no)
		}
	}
}

func (s *Sim) sameSlice(live *state.State, slice *kernel.Slice, no uint32) {
	s.T.Helper()
	row := *live.Agents.Get(no)
	// The agents around it are not its own: they are its parent's and siblings'
	// records, or its children's.
	d := &row.Delegation
	d.FirstChild, d.LastChild, d.NextSibling, d.Live = 0, 0, 0, 0
	row.Run = 0 // … and so is the run that it works for
	require.Equal(s.T, event.Encode(&row), event.Encode(slice.Row()), "agent %d: %+v %+v", no, row, slice.Row())
	mine := slice.State()
	require.Equal(s.T, ownTables(live, no), ownTables(mine, no), "agent %d", no)
	require.Equal(s.T, ownTables(mine, no), ownTables(mine, 0), "agent %d: others are in its slice", no)
	mine.Interned.All(func(e *interning.Entry, _ uint32) bool {
		require.Equal(s.T, live.Interned.Get(e.No), e, "agent %d", no)
		return true
	})
	bodies := row.Identity.Bodies()
	for _, body := range append(bodies[:], row.Permissions.Grants) {
		require.True(s.T, body == 0 || mine.Interned.Get(body) != nil, "agent %d: body %d", no, body)
	}
}

// ownTables encodes what a state's tables have under an agent's number; under
// any agent's, for 0.
func ownTables(st *state.State, no uint32) (own []string) {
	add := func(agent uint32, entry any) bool {
		if no == 0 || agent == no {
			own = append(own, string(event.Encode(entry)))
		}
		return true
	}
	st.Memory.All(func(e *memory.Entry) bool { return add(e.Agent, e) })
	st.Tools.All(func(c *tools.Call) bool { return add(c.Key.Agent, c) })
	st.Escalations.All(func(e *permissions.Escalation) bool { return add(e.Agent, e) })
	st.Timers.All(func(t timers.Timer) bool { return add(t.Agent, t) })
	st.Running.All(func(place uint64, agent uint32) bool { return add(agent, place) })
	st.Delegation.All(func(o *delegation.Open) bool {
		dup := *o
		dup.Open = 0 // its children's records say who is over
		return add(o.Parent, dup)
	})
	return own
}

// Fleeting is the block as a reader of files gives it: in memory that is used
// for something else once gone was called.
func Fleeting(b *logging.Block) (fleeting *logging.Block, gone func()) {
	raw := bytes.Clone(b.Raw)
	block, err := logging.Decode(raw)
	if err != nil {
		panic(err) // it was decoded before
	}
	return &block, func() {
		for i := range raw {
			raw[i] = 0xee
		}
	}
}

// Placed is a log by position.
type Placed struct {
	Order  []uint64 // positions, ascending
	Blocks map[uint64]*logging.Block
}

// Placed gives the simulation's log so far.
func (s *Sim) Placed() *Placed {
	s.T.Helper()
	p := &Placed{Blocks: make(map[uint64]*logging.Block)}
	var at uint64
	for _, raw := range s.Blocks {
		block, err := logging.Decode(raw)
		require.NoError(s.T, err)
		p.Order, p.Blocks[at] = append(p.Order, at), &block
		at += uint64(len(raw))
	}
	return p
}

var errNoBody = errors.New("the block does not hold the body")

// Body is a kernel.FindBody.
func (p *Placed) Body(no uint32, block uint64) ([]byte, error) {
	if b := p.Blocks[block-1]; b != nil {
		if body := kernel.BodyIn(b, no); body != nil {
			return body, nil
		}
	}
	return nil, errNoBody
}
