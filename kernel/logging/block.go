package logging

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// Block is a decoded block. It aliases the bytes it was decoded from.
type Block struct {
	Raw         []byte // the whole block
	Index       uint64 // Raft index
	Term        uint64 // Raft term
	FirstSeq    uint64 // busSeq of the first record
	Count       uint32 // number of records
	ClockMillis int64  // kernel clock after the event
	PrevChain   [HashBytes]byte

	records []byte
	touched touchedList
}

// LastSeq is the busSeq of the last record.
func (b *Block) LastSeq() uint64 { return b.FirstSeq + uint64(b.Count) - 1 }

// Records iterates over the records.
func (b *Block) Records() Records {
	return Records{rest: b.records, seq: b.FirstSeq, left: b.Count}
}

// Chain is the chain value after the block.
func (b *Block) Chain() [HashBytes]byte { return ChainAfter(b.PrevChain, b.Digest()) }

// Digest of the block.
func (b *Block) Digest() [HashBytes]byte { return Digest(b.Raw) }

// Touched is the number of subjects the block touches: agents, and runs.
func (b *Block) Touched() int { return b.touched.len() }

// TouchedAt gives the i-th touched subject, ascending by number, and the pointer
// to its previous block. RunOf tells a run from an agent.
func (b *Block) TouchedAt(i int) (subject uint32, previous uint64) { return b.touched.at(i) }

// HeadAt gives the chain value of the i-th touched subject before this block.
func (b *Block) HeadAt(i int) [HashBytes]byte { return b.touched.head(i) }

// Previous gives the pointer to a subject's previous block, and whether this
// block touches the subject at all.
func (b *Block) Previous(subject uint32) (pointer uint64, touched bool) {
	i, touched := b.touched.find(subject)
	if !touched {
		return 0, false
	}
	_, pointer = b.touched.at(i)
	return pointer, true
}

// Head gives a subject's own chain value before this block, and whether this
// block touches the subject at all.
func (b *Block) Head(subject uint32) (head [HashBytes]byte, touched bool) {
	i, touched := b.touched.find(subject)
	if !touched {
		return [HashBytes]byte{}, false
	}
	return b.touched.head(i), true
}

// BlockLen reads the length of the block that begins at the front of b, which
// needs LengthBytes bytes.
func BlockLen(b []byte) (uint32, error) {
	if len(b) < LengthBytes {
		return 0, malformed(Truncated, len(b))
	}
	length := binary.LittleEndian.Uint32(b[offsetLength:])
	if length < MinBlockBytes || length > MaxBlockBytes {
		return 0, malformed(BadLength, offsetLength)
	}
	return length, nil
}

// Decode reads raw as exactly one block and checks all that can be known from
// its bytes alone; an error is always a *DecodeError. It keeps raw, copies
// nothing, and allocates nothing unless it fails. Once it has succeeded,
// iterating over the block cannot fail.
func Decode(raw []byte) (Block, error) {
	length, err := BlockLen(raw)
	if err != nil {
		return Block{}, err
	}
	switch {
	case uint32(len(raw)) < length:
		return Block{}, malformed(Truncated, len(raw))
	case uint32(len(raw)) > length:
		return Block{}, malformed(BadLength, int(length))
	case crc32.Checksum(raw[offsetFormat:], castagnoli) != binary.LittleEndian.Uint32(raw[offsetChecksum:]):
		return Block{}, malformed(BadChecksum, offsetChecksum)
	case raw[offsetFormat] != formatVersion:
		return Block{}, malformed(UnknownFormat, offsetFormat)
	}
	b, problem := decodeHeader(raw)
	if problem == nil {
		problem = b.checkLists()
	}
	if problem != nil {
		return Block{}, problem
	}
	return b, nil
}

// decodeHeader reads the fixed part of a block whose length and checksum hold.
func decodeHeader(raw []byte) (Block, *DecodeError) {
	b := Block{
		Raw:         raw,
		Index:       binary.LittleEndian.Uint64(raw[offsetIndex:]),
		Term:        binary.LittleEndian.Uint64(raw[offsetTerm:]),
		FirstSeq:    binary.LittleEndian.Uint64(raw[offsetFirstSeq:]),
		Count:       binary.LittleEndian.Uint32(raw[offsetCount:]),
		ClockMillis: int64(binary.LittleEndian.Uint64(raw[offsetClock:])),
	}
	copy(b.PrevChain[:], raw[offsetPrevChain:])
	touchedAt := binary.LittleEndian.Uint32(raw[offsetTouched:])
	switch {
	case b.Index == 0:
		return Block{}, malformed(BadHeader, offsetIndex)
	case b.FirstSeq == 0 || b.FirstSeq > math.MaxUint64-uint64(b.Count):
		return Block{}, malformed(BadHeader, offsetFirstSeq)
	case b.Count == 0:
		return Block{}, malformed(BadHeader, offsetCount)
	case touchedAt < HeaderBytes || touchedAt > uint32(len(raw)):
		return Block{}, malformed(BadHeader, offsetTouched)
	}
	b.records, b.touched = raw[HeaderBytes:touchedAt:touchedAt], touchedList(raw[touchedAt:])
	return b, nil
}

// checkLists walks the touched list and the records once.
func (b *Block) checkLists() *DecodeError {
	touchedAt := HeaderBytes + len(b.records)
	if !b.touched.wellFormed() {
		return malformed(BadTouched, touchedAt)
	}
	at := 0
	var known uint32 // the agent looked up last: records of one agent come together
	for place := range b.Count {
		// The cause comes before the record; the first one has itself.
		h, _, size := readRecord(b.records[at:], max(place, 1)-1)
		if size == 0 {
			return malformed(BadRecord, HeaderBytes+at)
		}
		if h.Agent >= firstRun {
			return malformed(BadRecord, HeaderBytes+at)
		}
		if h.Agent != known && h.Agent != 0 {
			if _, ok := b.touched.find(h.Agent); !ok {
				return malformed(BadTouched, HeaderBytes+at)
			}
			known = h.Agent
		}
		at += size
	}
	if at != len(b.records) {
		return malformed(BadRecord, HeaderBytes+at)
	}
	return nil
}
