package kernel_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// The log is the sole source of history: what does not continue it, or cannot
// be read, is refused, and the state stays where it was.
func TestFoldRefusesWhatDoesNotFollow(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	s.Pulse()
	folded := state.New("default")
	require.NoError(t, kernel.Fold(folded, s.Blocks[0]))
	before := kernel.Digest(folded)
	damaged := bytes.Clone(s.Blocks[1])
	damaged[len(damaged)-1] ^= 1
	unknown := blockOf(t, folded, 100, []byte{})
	unreadable := blockOf(t, folded, bus.Outcome, []byte{0xff})
	for name, raw := range map[string][]byte{
		"skipped": s.Blocks[2], "again": s.Blocks[0], "damaged": damaged, "nothing": nil,
	} {
		require.ErrorIs(t, kernel.Fold(folded, raw), kernel.ErrFold, name)
		require.Equal(t, before, kernel.Digest(folded), name)
	}
	require.NoError(t, kernel.Fold(folded, s.Blocks[1]))
	for _, raw := range [][]byte{unknown, unreadable} {
		fresh := state.New("default")
		require.NoError(t, kernel.Fold(fresh, s.Blocks[0]))
		require.ErrorIs(t, kernel.Fold(fresh, raw), kernel.ErrFold)
	}
}

// blockOf builds a block of one record that follows a state.
func blockOf(t *testing.T, s *state.State, kind bus.Kind, body []byte) []byte {
	t.Helper()
	var b logging.Builder
	b.Begin(s.Index+1, s.Term, s.Log.NextSeq, s.Clock)
	b.Open(logging.Header{Kind: uint16(kind)})
	b.Buf = append(b.Buf, body...)
	b.Close()
	raw, _ := b.Seal(s.Log.Chain)
	return raw
}
