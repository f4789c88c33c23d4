package recordjson

import (
	"encoding/hex"

	"github.com/omnikernel/omnikernel/cluster/traces"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/identity"
)

// span gives the id of a span, as traces have it.
func span(agent identity.ID, tick uint64, run uint32) string {
	return hex.EncodeToString(traces.Span(agent, tick, run))
}

// running is the tick's run that the records of a block are in: from
// TickStarted to the tick's exit, which stand in one block.
type running struct {
	agent   uint32
	tick    uint64
	run     uint32
	program uint32 // its number
}

func endsRun(k bus.Kind) bool {
	switch k {
	case bus.TickCompleted, bus.TickPendingTool, bus.TickPendingDelegation, bus.TickFailed:
		return true
	}
	return false
}
