package recordjson

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/identity"
)

// span gives the id of a span: an agent's life (tick and run 0), one tick of
// it (run 0), or one run of the tick, which is its first entry or one
// continuation. It is a digest, so every node gives the same.
func span(agent identity.ID, tick uint64, run uint32) string {
	var b [4 + 16 + 8 + 4]byte
	copy(b[:], "span")
	copy(b[4:], agent[:])
	binary.BigEndian.PutUint64(b[20:], tick)
	binary.BigEndian.PutUint32(b[28:], run)
	sum := sha256.Sum256(b[:])
	return hex.EncodeToString(sum[:8])
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
