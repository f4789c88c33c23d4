package kerneltest

import (
	"bytes"
	"testing"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/stretchr/testify/require"
)

func kindOf(r logging.Record) bus.Kind { return bus.Kind(r.Kind) }

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

// CheckChain verifies the log from its genesis.
func (s *Sim) CheckChain() {
	s.T.Helper()
	verifier := logging.NewVerifier(logging.Genesis("default").Point)
	for _, raw := range s.Blocks {
		require.NoError(s.T, verifier.Feed(raw))
	}
}

// Restore takes a kernel through a snapshot.
func Restore(t testing.TB, s *state.State) *kernel.Kernel {
	t.Helper()
	restorer := kernel.NewRestorer()
	kernel.Sections(s, func(one kernel.Section) bool {
		require.NoError(t, restorer.Add(kernel.Section{Kind: one.Kind, Body: bytes.Clone(one.Body)}))
		return true
	})
	k, err := restorer.Done(evaluator.Lookup)
	require.NoError(t, err)
	return k
}

// CheckReplay applies the log again on a fresh kernel, and publishes after
// every batch of the given size (0: never): batch cuts must not reach bytes.
// A kernel restored from a snapshot at every index goes one event further and
// must agree too.
func (s *Sim) CheckReplay(batch int, restoreEverywhere bool) {
	s.T.Helper()
	k := kernel.New("default", evaluator.Lookup)
	for i := range s.Events {
		sent, err := event.Decode(s.Events[i].Append(nil))
		require.NoError(s.T, err)
		var restored *kernel.Kernel
		if restoreEverywhere {
			restored = Restore(s.T, k.Publish())
		}
		applied := k.Apply(uint64(i+1), s.Term, &sent)
		require.Equal(s.T, s.Blocks[i], applied.Block, "replay differs at index %d", i+1)
		if restored != nil {
			again := restored.Apply(uint64(i+1), s.Term, &sent)
			require.Equal(s.T, s.Blocks[i], again.Block, "a restored kernel differs at index %d", i+1)
			require.Equal(s.T, kernel.Digest(k.Publish()), kernel.Digest(restored.Publish()), "index %d", i+1)
		}
		if batch > 0 && i%batch == 0 {
			k.Publish()
		}
	}
	require.Equal(s.T, kernel.Digest(s.State()), kernel.Digest(k.Publish()))
}
