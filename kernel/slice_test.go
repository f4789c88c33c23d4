package kernel_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// The routing table says of every kind that some module keeps what of it is one
// agent's alone. That it says so rightly, random histories show: each agent's
// slice equals its row.
func TestEveryKeptKindIsSliced(t *testing.T) {
	for _, kind := range kernel.Kinds() {
		told, hasPart, wantsPart := kernel.SliceOf(kind)
		assert.Equal(t, kernel.HasApplier(kind), told, kernel.KindName(kind))
		assert.Equal(t, wantsPart, hasPart, kernel.KindName(kind))
	}
}

// LO-4, EV-16: a slice finds each body in the block that a record points to,
// asks for it once while the agent has it, and says so when it is not there.
func TestSliceFindsBodies(t *testing.T) {
	s := kerneltest.New(t, 1)
	program := kerneltest.JSON(t, callEcho)
	s.Start(event.Define{Program: program}, nil) // brings the program
	id := s.Start(event.Define{Mode: "service", Program: program}, nil)
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, literal)})
	s.Answer(true, 1)
	s.Answer(true, 1)
	log := s.Placed()
	var asked []uint32
	slice := kernel.NewSlice(2, s.State().Config, s.Lookup, func(no uint32, block uint64) ([]byte, error) {
		asked = append(asked, no)
		return log.Body(no, block)
	})
	missing := errors.New("not here")
	lost := kernel.NewSlice(2, s.State().Config, s.Lookup, func(uint32, uint64) ([]byte, error) { return nil, missing })
	var wanted []uint64
	for _, at := range log.Order {
		b := log.Blocks[at]
		if _, touched := b.Previous(2); !touched {
			continue
		}
		wanted = append(wanted, kernel.Elsewhere(b, func(agent uint32) bool { return agent == 2 })...)
		require.NoError(t, slice.Fold(at, b))
		if lost != nil {
			err := lost.Fold(at, b)
			require.ErrorIs(t, err, kernel.ErrSlice)
			require.ErrorIs(t, err, missing)
			lost = nil
		}
	}
	row := s.State().Agents.Get(2)
	assert.ElementsMatch(t, []uint32{row.Identity.Program, row.Identity.Grants}, asked)
	assert.Equal(t, []uint64{log.Order[1] + 1}, slices.Compact(wanted), "what is asked for is what Elsewhere lists")
	kept := 0
	slice.State().Interned.All(func(*interning.Entry, uint32) bool {
		kept++
		return true
	})
	assert.Equal(t, 2, kept, "the submitted program went with its tick")
	assert.Nil(t, kernel.BodyIn(log.Blocks[log.Order[0]], 1))
	assert.NotNil(t, kernel.ConfigIn(log.Blocks[log.Order[0]]))
	assert.Nil(t, kernel.ConfigIn(log.Blocks[log.Order[1]]))
}

// A slice that met something else than its agent's history stays where it was.
func TestSliceRefusesWhatDoesNotFollow(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	s.Start(event.Define{Program: kerneltest.JSON(t, literal)}, nil)
	s.Answer(true, 1)
	log := s.Placed()
	blocks := log.Order
	slice := kernel.NewSlice(1, s.State().Config, s.Lookup, log.Body)
	for _, i := range []int{0, 2, 3} {
		require.ErrorIs(t, slice.Fold(blocks[i], log.Blocks[blocks[i]]), kernel.ErrSlice, "block %d", i)
	}
	require.Nil(t, slice.Row())
	require.NoError(t, slice.Fold(blocks[1], log.Blocks[blocks[1]]))
	require.ErrorIs(t, slice.Fold(blocks[1], log.Blocks[blocks[1]]), kernel.ErrSlice, "again")
	require.NoError(t, slice.Fold(blocks[3], log.Blocks[blocks[3]]))
	require.Equal(t, s.State().Agents.Get(1).Head, slice.Row().Head)
}
