package replay

import (
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Deviation says where running again came to something else than the log:
// REPLAY_DIVERGENCE.
type Deviation struct {
	Position    uint64 // of the block
	Index       uint64 // Raft index of the block
	Term        uint64 // Raft term of the block
	ClockMillis int64  // kernel clock of the block
	Seq         uint64 // busSeq of the record; 0 when it is the block's head or list of agents that differs
	What        string // differs, in words

	// The record on both sides, with bodies of their own; nil where there is
	// none.
	Recorded, Replayed *logging.Record
}

// Error implements error.
func (d *Deviation) Error() string {
	where := fmt.Sprintf("index %d", d.Index)
	if d.Seq != 0 {
		where = fmt.Sprintf("busSeq %d, index %d", d.Seq, d.Index)
	}
	return fmt.Sprintf("REPLAY_DIVERGENCE at %s: %s: recorded %s, replayed %s", where, d.What, nameOf(d.Recorded), nameOf(d.Replayed))
}

func nameOf(r *logging.Record) string {
	if r == nil {
		return "nothing"
	}
	return kernel.KindName(bus.Kind(r.Kind))
}

// recordOf is a record that was made, as the log would have it.
func recordOf(seq uint64, r *bus.Record) *logging.Record {
	return &logging.Record{
		Header: logging.Header{Kind: uint16(r.Kind), Agent: r.Agent, Tick: r.Tick, Step: r.Step},
		Seq:    seq, Body: r.Body.AppendTo(nil),
	}
}
