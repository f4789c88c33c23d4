package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/stretchr/testify/require"
)

// CheckBodies follows every reference to an interned body to the block that it
// points to: the body is there, under that number and class (EV-16).
func (s *Sim) CheckBodies() {
	s.T.Helper()
	type body struct {
		class interning.Class
		block uint64
	}
	held := make(map[uint32]body)
	var at uint64
	for _, raw := range s.Blocks {
		here := logging.PointerTo(at)
		at += uint64(len(raw))
		block, err := logging.Decode(raw)
		require.NoError(s.T, err)
		for records := block.Records(); records.Next(); {
			if bus.Kind(records.Record.Kind) != bus.Interned {
				continue
			}
			gained, ok := interning.DecodeGained(records.Record.Body)
			require.True(s.T, ok)
			for _, e := range gained.Entries {
				if e.New {
					held[e.No] = body{e.Class, here}
					continue
				}
				require.Equal(s.T, held[e.No], body{e.Class, e.Block}, "body %d at busSeq %d", e.No, records.Record.Seq)
			}
		}
	}
	st := s.State()
	st.Interned.All(func(e *interning.Entry, _ uint32) bool {
		require.Equal(s.T, held[e.No], body{e.Class, e.Block}, "body %d in the state", e.No)
		return true
	})
}
