package backup

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"time"

	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// A backup is a row of frames. All integers are little endian.
//
//	┌──────────┬────────┬─────────┬─────────┬───┬─────────┬───┬─────────┐
//	│ OMNIBACK │ format │ header  │ state   │ … │ log     │ … │ trailer │
//	│ 8 bytes  │ u32    │ 1 frame │ frames      │ frames      │ 1 frame │
//	└──────────┴────────┴─────────┴─────────────┴─────────────┴─────────┘
//
//	          ┌─────────┬────────────┬──────┬────────┐
//	a frame:  │ part u8 │ length u32 │ body │ CRC32C │
//	          └─────────┴────────────┴──────┴────────┘
//
// The checksum is over the frame's offset in the file (u64) and everything in the
// frame before it, so that a frame in another place is as wrong as a damaged one.
//
//	part     body
//	header   1  Header as JSON
//	state    2  the next piece of a snapshot (package fsm/snapshot), up to 256 KiB
//	log      3  whole blocks, back to back as they lie in the log: 256 KiB or more,
//	            and one block at least; before FullFrom, stubs in the places of blocks
//	            that were archived
//	trailer  4  u64 each: bytes of the state, its sections, blocks of the log, stubs
//	            included, bytes of the blocks, records, stubs; then the SHA-256 of
//	            every byte of the file before this frame
const (
	magic  = "OMNIBACK"
	format = 0 // no promise of compatibility before the first release

	startBytes   = len(magic) + 4
	headBytes    = 5 // of a frame
	sumBytes     = 4
	maxHeader    = 64 << 10
	pieceBytes   = 256 << 10
	trailerBytes = 6*8 + 32
	maxLogFrame  = pieceBytes + logging.MaxBlockBytes
)

// ContentType of a backup.
const ContentType = "application/vnd.omnikernel.backup"

// castagnoli is never written after it was made.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Part of a backup.
type Part byte

// The parts, in order.
const (
	PartStart   Part = 0 // magic and format
	PartHeader  Part = 1
	PartState   Part = 2
	PartLog     Part = 3
	PartTrailer Part = 4
)

// String names the part.
func (p Part) String() string {
	switch p {
	case PartStart:
		return "start"
	case PartHeader:
		return "header"
	case PartState:
		return "state"
	case PartLog:
		return "log"
	case PartTrailer:
		return "trailer"
	}
	return "unknown part"
}

// longest is how long a body of the part may be.
func (p Part) longest() int {
	switch p {
	case PartHeader:
		return maxHeader
	case PartState:
		return pieceBytes
	case PartLog:
		return maxLogFrame
	case PartTrailer:
		return trailerBytes
	}
	return -1
}

// Header says whose state and log a backup holds, and up to where.
type Header struct {
	ClusterID     string `json:"cluster_id"`
	KernelID      string `json:"kernel_id"`
	KernelVersion uint32 `json:"kernel_version"`
	Index         uint64 `json:"index"` // Raft index of the last event in it
	Term          uint64 `json:"term"`
	ClockMillis   int64  `json:"clock_ms"`  // kernel clock
	BusSeq        uint64 `json:"bus_seq"`   // of the last record in it
	LogBytes      uint64 `json:"log_bytes"` // of the log's blocks
	Chain         string `json:"chain"`     // hex, after the last block
	// FullFrom is the busSeq from which on every block is in it; 0: from the beginning.
	// Below, stubs stand for blocks whose archive was not on the node.
	FullFrom uint64    `json:"full_from,omitempty"`
	MadeAt   time.Time `json:"made_at"` // by the clock of the node that made it
	Node     string    `json:"node"`
	Binary   string    `json:"binary"` // version of the program that made it
}

// headerOf describes a booted state.
func headerOf(s *state.State) Header {
	return Header{
		ClusterID: s.Config.ClusterID, KernelID: s.Config.KernelID, KernelVersion: s.Config.Version,
		Index: s.Index, Term: s.Term, ClockMillis: s.Clock,
		BusSeq: s.Log.NextSeq - 1, LogBytes: s.Log.Position, Chain: hex.EncodeToString(s.Log.Chain[:]),
	}
}

// Summary of a backup that was written, or read to its end.
type Summary struct {
	Header
	StateBytes  uint64 `json:"state_bytes"`
	Sections    uint64 `json:"sections"`
	StateDigest string `json:"state_digest"` // hex
	Blocks      uint64 `json:"blocks"`
	Records     uint64 `json:"records"`
	Stubs       uint64 `json:"stubs,omitempty"` // of the blocks: only their digests are here
	Bytes       int64  `json:"bytes"`           // of the whole backup
	SHA256      string `json:"sha256"`          // hex, of everything before the trailer
}

// trailer is the body of the last frame.
type trailer struct {
	stateBytes, sections      uint64
	blocks, logBytes, records uint64
	stubs                     uint64
	sum                       [32]byte
}

func (t *trailer) append(dst []byte) []byte {
	for _, n := range [...]uint64{t.stateBytes, t.sections, t.blocks, t.logBytes, t.records, t.stubs} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return append(dst, t.sum[:]...)
}

func parseTrailer(b []byte) (t trailer, ok bool) {
	if len(b) != trailerBytes {
		return t, false
	}
	for i, n := range [...]*uint64{&t.stateBytes, &t.sections, &t.blocks, &t.logBytes, &t.records, &t.stubs} {
		*n = binary.LittleEndian.Uint64(b[8*i:])
	}
	t.sum = [32]byte(b[6*8:])
	return t, true
}

// checksum of a frame: its offset, its head, its body.
func checksum(offset int64, frame []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(offset))
	return crc32.Update(crc32.Checksum(at[:], castagnoli), castagnoli, frame)
}
