package logexport

import (
	"encoding/binary"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// An export of one agent, all integers little endian:
//
//	┌───────────┬────────┬──────────────┬─────────┬───┬───┬──────────────┐
//	│ magic     │ format │ frame:       │ entry   │ … │ 0 │ frame:       │
//	│ OMNIAGE\n │ 4      │ header, JSON │         │   │ 1 │ trailer,JSON │
//	└───────────┴────────┴──────────────┴─────────┴───┴───┴──────────────┘
//	entry: part (1), position in the log (8), block as in the log
//
// The log's first block comes first, then those that touch the agent, in order.
// A block that holds a body which a record of the agent uses stands somewhere
// before that record's. Frames are as in an export of the log.
const agentMagic = "OMNIAGE\n"

// Part says why a block is in an agent's export.
type Part byte

// The parts.
const (
	partEnd   Part = 0
	PartFirst Part = 1 // the log's first: it has the configuration
	PartBody  Part = 2 // it holds a program, grants, labels or an environment
	PartAgent Part = 3 // it touches the agent
)

const entryBytes = 1 + 8

// AgentContentType of an agent's export.
const AgentContentType = "application/vnd.omnikernel.agent"

// AgentHeader says whose history an export holds, and up to where.
type AgentHeader struct {
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	AgentID   string `json:"agent_id"`
	Agent     uint32 `json:"agent"`    // its number in the log
	Position  uint64 `json:"position"` // of the last block that touches it
	Head      string `json:"head"`     // hex, its own chain value after that
}

// agentTrailer is what came before it.
type agentTrailer struct {
	Blocks uint64 `json:"blocks"` // that touch the agent
	Bodies uint64 `json:"bodies"`
	SHA256 string `json:"sha256"` // hex, of every byte before this frame
}

// AgentSummary of a verified export.
type AgentSummary struct {
	AgentHeader
	Blocks    uint64 `json:"blocks"`        // that touch the agent
	Bodies    uint64 `json:"bodies"`        // further blocks, for what they hold
	Bytes     uint64 `json:"bytes"`         // of all blocks
	FirstSeq  uint64 `json:"first_bus_seq"` // first record of the first block of the agent
	LastSeq   uint64 `json:"last_bus_seq"`  // last record of the last one
	LastIndex uint64 `json:"last_index"`    // Raft index of the last one
}

// chainOf follows one agent's blocks: each points to the one before it, and
// carries the agent's chain value before it.
type chainOf struct {
	agent   uint32
	pointer uint64
	head    [logging.HashBytes]byte
}

// follow takes the next block of the agent, and reports whether it is that.
func (c *chainOf) follow(position uint64, b *logging.Block) bool {
	previous, touched := b.Previous(c.agent)
	head, _ := b.Head(c.agent)
	if !touched || previous != c.pointer || head != c.head || position+1 <= c.pointer {
		return false
	}
	c.pointer, c.head = logging.PointerTo(position), logging.ChainAfter(head, b.Digest())
	return true
}

func entryHead(part Part, position uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{byte(part)}, position)
}
