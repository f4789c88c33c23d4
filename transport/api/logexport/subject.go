package logexport

import (
	"encoding/binary"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// An export of one subject of the log, an agent or a run, all integers little
// endian:
//
//	┌───────────┬────────┬──────────────┬─────────┬───┬───┬──────────────┐
//	│ magic     │ format │ frame:       │ entry   │ … │ 0 │ frame:       │
//	│ OMNIAGE\n │ 4      │ header, JSON │         │   │ 1 │ trailer,JSON │
//	└───────────┴────────┴──────────────┴─────────┴───┴───┴──────────────┘
//	entry: part (1), position in the log (8), block as in the log
//
// A run's begins with OMNILED\n: its ledger. The log's first block comes first,
// then those that touch the subject, in order. A block that holds a body which a
// record of the agent uses, or of one of the run's agents, stands somewhere before
// that record's. Frames are as in an export of the log.
const (
	agentMagic  = "OMNIAGE\n"
	ledgerMagic = "OMNILED\n"
)

// Part says why a block is in a subject's export.
type Part byte

// The parts.
const (
	partEnd     Part = 0
	PartFirst   Part = 1 // the log's first: it has the configuration
	PartBody    Part = 2 // it holds a program, grants, labels or an environment
	PartSubject Part = 3 // it touches the subject
)

const entryBytes = 1 + 8

// Content types of an agent's export and of a run's ledger.
const (
	AgentContentType  = "application/vnd.omnikernel.agent"
	LedgerContentType = "application/vnd.omnikernel.ledger"
)

// SubjectHeader says whose history an export holds, and up to where: an agent's, or
// a run's. The fields of the other are empty.
type SubjectHeader struct {
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	AgentID   string `json:"agent_id,omitempty"`
	Agent     uint32 `json:"agent,omitempty"` // its number in the log
	RunID     string `json:"run_id,omitempty"`
	Run       uint32 `json:"run,omitempty"` // its number: that of its root agent
	Position  uint64 `json:"position"`      // of the last block that touches the subject
	Head      string `json:"head"`          // hex, its own chain value after that
}

// Subject is the number that stands for it in blocks.
func (h *SubjectHeader) Subject() uint32 {
	if h.Run != 0 {
		return logging.RunSubject(h.Run)
	}
	return h.Agent
}

// kind is what an export can be of.
type kind struct {
	magic string
	name  string // of such an export
	what  string // it is of
}

func agentKind() kind  { return kind{agentMagic, "agent export", "agent"} }
func ledgerKind() kind { return kind{ledgerMagic, "run ledger", "run"} }

// kind of export that the header belongs to.
func (h *SubjectHeader) kind() kind {
	if h.Run != 0 {
		return ledgerKind()
	}
	return agentKind()
}

// fits reports whether the header is one of that kind, and of that only.
func (h *SubjectHeader) fits(k kind) bool {
	if k.magic == ledgerMagic {
		return h.RunID != "" && h.Run != 0 && h.Run <= logging.MaxAgent && h.AgentID == "" && h.Agent == 0
	}
	return h.AgentID != "" && h.Agent != 0 && h.Agent <= logging.MaxAgent && h.RunID == "" && h.Run == 0
}

// subjectTrailer is what came before it.
type subjectTrailer struct {
	Blocks uint64 `json:"blocks"` // that touch the subject
	Bodies uint64 `json:"bodies"`
	SHA256 string `json:"sha256"` // hex, of every byte before this frame
}

// SubjectSummary of a verified export.
type SubjectSummary struct {
	SubjectHeader
	Blocks    uint64 `json:"blocks"`        // that touch the subject
	Bodies    uint64 `json:"bodies"`        // further blocks, for what they hold
	Bytes     uint64 `json:"bytes"`         // of all blocks
	FirstSeq  uint64 `json:"first_bus_seq"` // first record of the first block of the subject
	LastSeq   uint64 `json:"last_bus_seq"`  // last record of the last one
	LastIndex uint64 `json:"last_index"`    // Raft index of the last one
}

// chainOf follows one subject's blocks: each points to the one before it, and
// carries the subject's chain value before it.
type chainOf struct {
	subject uint32
	pointer uint64
	head    [logging.HashBytes]byte
}

// follow takes the next block of the subject, and reports whether it is that.
func (c *chainOf) follow(position uint64, b *logging.Block) bool {
	previous, touched := b.Previous(c.subject)
	head, _ := b.Head(c.subject)
	if !touched || previous != c.pointer || head != c.head || position+1 <= c.pointer {
		return false
	}
	c.pointer, c.head = logging.PointerTo(position), logging.ChainAfter(head, b.Digest())
	return true
}

func entryHead(part Part, position uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{byte(part)}, position)
}
