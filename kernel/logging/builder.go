package logging

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

// Header says what a record is about. Kind is the record kind's number; Agent
// 0 is no agent; Tick and Step are 0 outside a tick; Cause is the place in the
// block of the record that caused this one, 0 being the event itself.
type Header struct {
	Kind  uint16
	Agent uint32
	Tick  uint64
	Step  uint32
	Cause uint32
}

// Builder puts one block together at a time. The zero value is ready. It is
// used by one goroutine, the order being Begin, then for each record Open,
// appends to Buf, Close, with Touch anywhere between, then Seal. Calls out of
// order panic: they are errors of the kernel, never of its input.
type Builder struct {
	// Buf is the block so far. Between Open and Close, and only there, the
	// caller appends the record's body to it.
	Buf []byte

	touched  []touch
	firstSeq uint64
	count    uint32
	bodyAt   int // where the open record's body begins; 0 when none is open
	begun    bool
}

// Begin starts the block of one event: its Raft index and term, the busSeq of
// its first record, and the kernel clock after it in milliseconds since 1970.
// Whatever was in the builder is dropped, and the last block with it.
func (b *Builder) Begin(index, term, firstSeq uint64, clockMillis int64) {
	if index == 0 || firstSeq == 0 {
		panic("logging: index and busSeq begin at 1")
	}
	b.Buf = slices.Grow(b.Buf[:0], HeaderBytes)[:HeaderBytes]
	b.touched = b.touched[:0]
	b.firstSeq, b.count, b.bodyAt, b.begun = firstSeq, 0, 0, true
	head := b.Buf
	head[offsetFormat] = formatVersion
	binary.LittleEndian.PutUint64(head[offsetIndex:], index)
	binary.LittleEndian.PutUint64(head[offsetTerm:], term)
	binary.LittleEndian.PutUint64(head[offsetFirstSeq:], firstSeq)
	binary.LittleEndian.PutUint64(head[offsetClock:], uint64(clockMillis))
}

// Open begins a record and returns its busSeq. The caller then appends the
// body to Buf and calls Close.
func (b *Builder) Open(h Header) (seq uint64) {
	switch {
	case !b.begun || b.bodyAt != 0:
		panic("logging: Open outside a block or inside a record")
	case h.Cause >= b.count && (h.Cause|b.count) != 0:
		panic("logging: a record's cause must come before it")
	}
	buf := binary.AppendUvarint(b.Buf, uint64(h.Kind))
	buf = binary.AppendUvarint(buf, uint64(h.Agent))
	buf = binary.AppendUvarint(buf, h.Tick)
	buf = binary.AppendUvarint(buf, uint64(h.Step))
	buf = binary.AppendUvarint(buf, uint64(h.Cause))
	b.Buf = append(buf, 0) // the body's length: one byte is nearly always enough
	b.bodyAt = len(b.Buf)
	seq = b.firstSeq + uint64(b.count)
	b.count++
	return seq
}

// Close ends the record that Open began.
func (b *Builder) Close() {
	if b.bodyAt == 0 || len(b.Buf) < b.bodyAt {
		panic("logging: Close without an open record")
	}
	body := len(b.Buf) - b.bodyAt
	if body < 0x80 {
		b.Buf[b.bodyAt-1] = byte(body)
		b.bodyAt = 0
		return
	}
	// A longer length needs more bytes than were left for it: move the body.
	var room [binary.MaxVarintLen64]byte
	extra := uvarintLen(uint64(body)) - 1
	b.Buf = append(b.Buf, room[:extra]...)
	copy(b.Buf[b.bodyAt+extra:], b.Buf[b.bodyAt:b.bodyAt+body])
	binary.PutUvarint(b.Buf[b.bodyAt-1:], uint64(body))
	b.bodyAt = 0
}

// Touch notes that the block concerns a subject, an agent or a run, whose previous
// block is at the given pointer (position + 1, 0 = none), and what its own chain
// value is before this block. Only the first call for a subject in a block counts.
func (b *Builder) Touch(subject uint32, previous uint64, head [HashBytes]byte) {
	if !b.begun || subject&^firstRun == 0 {
		panic("logging: Touch outside a block or of nobody")
	}
	if n := len(b.touched); n > 0 && b.touched[n-1].subject == subject {
		return
	}
	b.touched = append(b.touched, touch{subject: subject, previous: previous, head: head})
}

// Touched is the number of subjects that the block touches, once it is sealed.
// Before that one that was noted twice may count twice.
func (b *Builder) Touched() int { return len(b.touched) }

// TouchedAt gives the i-th of them, and its own chain value before the block.
func (b *Builder) TouchedAt(i int) (subject uint32, head [HashBytes]byte) {
	return b.touched[i].subject, b.touched[i].head
}

// Count is the number of records so far.
func (b *Builder) Count() uint32 { return b.count }

// Len is an upper bound of the length in bytes the block would have if it were
// sealed now. The kernel's work budget keeps it within MaxBlockBytes.
func (b *Builder) Len() int { return len(b.Buf) + len(b.touched)*touchedBytes }

// Seal ends the block: it appends the touched list, writes the chain value
// before the block into it, and the checksum. It returns the block, valid until
// the next Begin, and its digest.
func (b *Builder) Seal(prevChain [HashBytes]byte) (block []byte, digest [HashBytes]byte) {
	if !b.begun || b.bodyAt != 0 || b.count == 0 {
		panic("logging: Seal of a block without records or with an open one")
	}
	b.begun = false
	recordsEnd := len(b.Buf)
	b.touched = inOrder(b.touched)
	b.Buf = appendTouched(b.Buf, b.touched)
	if len(b.Buf) > MaxBlockBytes || b.firstSeq > math.MaxUint64-uint64(b.count) {
		panic("logging: block exceeds MaxBlockBytes or the busSeq is exhausted")
	}
	block = b.Buf
	binary.LittleEndian.PutUint32(block[offsetLength:], uint32(len(block)))
	binary.LittleEndian.PutUint32(block[offsetCount:], b.count)
	copy(block[offsetPrevChain:], prevChain[:])
	binary.LittleEndian.PutUint32(block[offsetTouched:], uint32(recordsEnd))
	binary.LittleEndian.PutUint32(block[offsetChecksum:], crc32.Checksum(block[offsetFormat:], castagnoli))
	return block, Digest(block)
}
