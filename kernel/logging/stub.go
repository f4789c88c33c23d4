package logging

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// A stub stands where a block stood that was archived: it says how long the block
// is, and has its digest, so that the chain and the tree still verify. All
// integers are little endian.
//
//	offset  bytes  field
//	     0      4  length of the stub in bytes, 56: no block is that short
//	     4      4  CRC32C of all bytes from offset 8 to the end
//	     8      4  length of the block
//	    12      4  number of its records
//	    16      8  Raft index of its event
//	    24     32  its digest
const (
	// StubBytes is the length of a stub.
	StubBytes = 56

	stubBlock  = 8
	stubCount  = 12
	stubIndex  = 16
	stubDigest = 24
)

// Stub is what is left of a block that was archived.
type Stub struct {
	Bytes  uint32 // length of the block
	Count  uint32 // number of its records
	Index  uint64 // Raft index
	Digest [HashBytes]byte
}

// StubOf makes the stub of a block: a function of the block alone.
func StubOf(b *Block) Stub {
	return Stub{Bytes: uint32(len(b.Raw)), Count: b.Count, Index: b.Index, Digest: b.Digest()}
}

// AppendTo appends the stub's bytes.
func (s *Stub) AppendTo(dst []byte) []byte {
	base := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, StubBytes)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, s.Bytes)
	dst = binary.LittleEndian.AppendUint32(dst, s.Count)
	dst = binary.LittleEndian.AppendUint64(dst, s.Index)
	dst = append(dst, s.Digest[:]...)
	binary.LittleEndian.PutUint32(dst[base+offsetChecksum:], crc32.Checksum(dst[base+stubBlock:], castagnoli))
	return dst
}

// DecodeStub reads raw as exactly one stub; an error is always a *DecodeError.
func DecodeStub(raw []byte) (Stub, error) {
	switch {
	case len(raw) < StubBytes:
		return Stub{}, malformed(Truncated, len(raw))
	case len(raw) > StubBytes || binary.LittleEndian.Uint32(raw) != StubBytes:
		return Stub{}, malformed(BadLength, offsetLength)
	case crc32.Checksum(raw[stubBlock:], castagnoli) != binary.LittleEndian.Uint32(raw[offsetChecksum:]):
		return Stub{}, malformed(BadChecksum, offsetChecksum)
	}
	s := Stub{
		Bytes:  binary.LittleEndian.Uint32(raw[stubBlock:]),
		Count:  binary.LittleEndian.Uint32(raw[stubCount:]),
		Index:  binary.LittleEndian.Uint64(raw[stubIndex:]),
		Digest: [HashBytes]byte(raw[stubDigest:]),
	}
	switch {
	case s.Bytes < MinBlockBytes || s.Bytes > MaxBlockBytes:
		return Stub{}, malformed(BadHeader, stubBlock)
	case s.Count == 0:
		return Stub{}, malformed(BadHeader, stubCount)
	case s.Index == 0:
		return Stub{}, malformed(BadHeader, stubIndex)
	}
	return s, nil
}

// ItemLen reads the length of what begins at the front of b where stubs stand
// among the blocks: of either. It needs LengthBytes bytes.
func ItemLen(b []byte) (length uint32, stub bool, err error) {
	if len(b) >= LengthBytes && binary.LittleEndian.Uint32(b) == StubBytes {
		return StubBytes, true, nil
	}
	length, err = BlockLen(b)
	return length, false, err
}

// FeedStub takes a stub for the next block. What only the block could tell, its
// term, clock and pointers, goes unchecked; the chain after it stands for it all,
// since the digest enters that. A failure is final, as it is with Feed.
func (v *Verifier) FeedStub(s *Stub) error {
	if v.failure == nil {
		v.failure = v.checkStub(s)
	}
	if v.failure != nil {
		return v.failure
	}
	return nil
}

func (v *Verifier) checkStub(s *Stub) *Mismatch {
	at := &v.at
	switch {
	case s.Index <= at.LastIndex:
		return v.mismatch(&Block{Index: s.Index}).numbers(AspectIndex, at.LastIndex+1, s.Index)
	case at.NextSeq > math.MaxUint64-uint64(s.Count):
		return v.mismatch(&Block{Index: s.Index}).numbers(AspectSeq, at.NextSeq, math.MaxUint64)
	}
	at.NextSeq += uint64(s.Count)
	at.Position += uint64(s.Bytes)
	at.Chain = ChainAfter(at.Chain, s.Digest)
	at.LastIndex = s.Index
	return nil
}
