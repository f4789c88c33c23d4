package logging

import "hash/crc32"

// The layout of a block, format 0. All integers are little endian; a uvarint
// is the shortest base-128 form, and no other form is accepted.
//
//	offset  bytes  field
//	     0      4  length of the whole block in bytes, this field included
//	     4      4  CRC32C (Castagnoli) of all bytes from offset 8 to the end
//	     8      1  format, 0
//	     9      8  Raft index of the event
//	    17      8  Raft term of the event
//	    25      8  busSeq of the first record
//	    33      4  number of records, at least 1
//	    37      8  kernel clock after the event, milliseconds since 1970, signed
//	    45     32  chain value before this block
//	    77      4  offset of the touched list from the start of the block
//	    81      …  records, one after the other:
//	                 uvarint  kind (16 bits)
//	                 uvarint  agent number (31 bits), 0 = none
//	                 uvarint  tick (64 bits)
//	                 uvarint  step (32 bits)
//	                 uvarint  cause: the causing record's place in this block;
//	                          lower than the record's own, 0 for the first
//	                 uvarint  length of the body in bytes
//	                 bytes    body
//	     …      …  touched list, to the end of the block; entries of 44 bytes,
//	               subjects strictly ascending:
//	                  4 bytes  subject: an agent's number, below 1 << 31 and
//	                           never 0; or 1 << 31 plus a run's number
//	                  8 bytes  pointer to that subject's previous block:
//	                           its position + 1, 0 = none
//	                 32 bytes  that subject's own chain value before this block
//
// A record's busSeq is the first busSeq plus its place in the block. The
// digest of a block is the SHA-256 of its bytes from offset 8 to the end; the
// chain value after it is SHA-256(chain before || digest). A subject has a
// chain of its own over the blocks that touch it, made in the same way from 32
// zero bytes on: so its history can be checked without anybody else's. A run is
// touched by every block that touches an agent of it: its root agent, whose number
// it has, or one below that.
const (
	offsetLength    = 0
	offsetChecksum  = 4
	offsetFormat    = 8
	offsetIndex     = 9
	offsetTerm      = 17
	offsetFirstSeq  = 25
	offsetCount     = 33
	offsetClock     = 37
	offsetPrevChain = 45
	offsetTouched   = 77

	// HeaderBytes is the length of a block's fixed part.
	HeaderBytes = 81

	// formatVersion is the only block format there is.
	formatVersion = 0

	// touchedBytes is the length of one entry of the touched list.
	touchedBytes = 44

	// minRecordBytes is the shortest record: six uvarints of one byte each.
	minRecordBytes = 6
)

const (
	// MaxBlockBytes bounds a block: a decoder's limit, and a builder's.
	MaxBlockBytes = 16 << 20

	// MinBlockBytes is the length of the shortest possible block.
	MinBlockBytes = HeaderBytes + minRecordBytes

	// LengthBytes is how many bytes of a block BlockLen needs.
	LengthBytes = 4

	// HashBytes is the length of a digest and of a chain value.
	HashBytes = 32
)

// castagnoli is never written after it was made.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// PointerTo returns the pointer to the block at a position.
func PointerTo(position uint64) uint64 { return position + 1 }
