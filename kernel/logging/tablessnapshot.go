package logging

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The canonical form of Tables, format 0. All integers are little endian and
// of fixed width; there is one form for each value.
//
//	offset  bytes  field
//	     0      1  format, 0
//	     1      8  next busSeq
//	     9      8  position
//	    17     32  chain
//	    49      8  last index
//	    57      8  last term
//	    65      8  last clock, milliseconds
//	    73      8  number of blocks
//	    81   32 *  peaks of the tree over them, the highest first: as many as the
//	               number of blocks has bits
//	     …      8  pointer to the newest block with a tree head
//	     …     64  tail: first index, first busSeq, first block's number, start,
//	               chain in
//	     …      4  number of sealed segments
//	     …  128 *  sealed segments: first and last index, first and last busSeq,
//	               first block's number, start, bytes, chain in, chain out, index
//	               of the event that archived it
const (
	tablesFormat     = 0
	tablesFixedBytes = 157 // without peaks and segments
	entryBytes       = 128
)

// SnapshotError says which rule the bytes of a Tables snapshot break.
type SnapshotError struct{ Rule string }

// Error implements error.
func (e *SnapshotError) Error() string { return "log tables: " + e.Rule }

// AppendSnapshot appends the canonical form of the tables.
func (t *Tables) AppendSnapshot(dst []byte) []byte {
	peaks := t.Tree.peaks()
	dst = slices.Grow(dst, tablesFixedBytes+len(peaks)*HashBytes+len(t.Sealed)*entryBytes)
	dst = append(dst, tablesFormat)
	dst = appendUint64s(dst, t.NextSeq, t.Position)
	dst = append(dst, t.Chain[:]...)
	dst = appendUint64s(dst, t.LastIndex, t.LastTerm, uint64(t.LastClockMillis), t.Tree.Size())
	for i := range peaks {
		dst = append(dst, peaks[i][:]...)
	}
	dst = appendUint64s(dst, t.Signed, t.Tail.FirstIndex, t.Tail.FirstSeq, t.Tail.FirstLeaf, t.Tail.Start)
	dst = append(dst, t.Tail.ChainIn[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.Sealed)))
	for i := range t.Sealed {
		s := &t.Sealed[i]
		dst = appendUint64s(dst, s.FirstIndex, s.LastIndex, s.FirstSeq, s.LastSeq, s.FirstLeaf, s.Start, s.Bytes)
		dst = append(dst, s.ChainIn[:]...)
		dst = append(dst, s.ChainOut[:]...)
		dst = appendUint64s(dst, s.ArchivedAt)
	}
	return dst
}

// DecodeSnapshot reads what AppendSnapshot wrote, and nothing else: the bytes
// must be one whole snapshot whose parts agree with each other. An error is
// always a *SnapshotError.
func DecodeSnapshot(b []byte) (Tables, error) {
	if len(b) < tablesFixedBytes {
		return Tables{}, &SnapshotError{Rule: "too short"}
	}
	if b[0] != tablesFormat {
		return Tables{}, &SnapshotError{Rule: "unknown format"}
	}
	r := fieldReader{rest: b[1:]}
	t := Tables{}
	t.NextSeq, t.Position, t.Chain = r.uint64(), r.uint64(), r.hash()
	t.LastIndex, t.LastTerm, t.LastClockMillis = r.uint64(), r.uint64(), int64(r.uint64())
	size := r.uint64()
	peaks := make([][HashBytes]byte, bits.OnesCount64(size))
	if len(r.rest) < tablesFixedBytes-81+len(peaks)*HashBytes {
		return Tables{}, &SnapshotError{Rule: "too short"}
	}
	for i := range peaks {
		peaks[i] = r.hash()
	}
	t.Tree, t.Signed = treeOf(size, peaks), r.uint64()
	t.Tail = Head{FirstIndex: r.uint64(), FirstSeq: r.uint64(), FirstLeaf: r.uint64(), Start: r.uint64(), ChainIn: r.hash()}
	count := uint64(r.uint32())
	if uint64(len(r.rest)) != count*entryBytes {
		return Tables{}, &SnapshotError{Rule: "length does not match the number of segments"}
	}
	if count > 0 {
		t.Sealed = make([]Segment, count)
	}
	for i := range t.Sealed {
		t.Sealed[i] = Segment{
			FirstIndex: r.uint64(), LastIndex: r.uint64(),
			FirstSeq: r.uint64(), LastSeq: r.uint64(), FirstLeaf: r.uint64(),
			Start: r.uint64(), Bytes: r.uint64(),
			ChainIn: r.hash(), ChainOut: r.hash(), ArchivedAt: r.uint64(),
		}
	}
	if rule := t.inconsistency(); rule != "" {
		return Tables{}, &SnapshotError{Rule: rule}
	}
	return t, nil
}

// inconsistency names the first way in which the parts contradict each other;
// empty when they agree.
func (t *Tables) inconsistency() string {
	at, leaf := Point{NextSeq: 1}, uint64(0)
	for i := range t.Sealed {
		s := &t.Sealed[i]
		switch {
		case s.FirstLeaf < leaf || (i > 0 && s.FirstLeaf == leaf) || (i == 0 && s.FirstLeaf != 0):
			return "the numbers of blocks do not increase"
		case s.ArchivedAt != 0 && (s.ArchivedAt <= s.LastIndex || s.ArchivedAt > t.LastIndex):
			return "a segment was archived before its end, or will be"
		case i > 0 && s.ArchivedAt > t.Sealed[i-1].ArchivedAt:
			return "a segment was archived before an older one"
		case s.Start != at.Position || s.FirstSeq != at.NextSeq || (i > 0 && s.ChainIn != at.Chain):
			return "a segment does not continue the one before it"
		case s.FirstIndex <= at.LastIndex || s.LastIndex < s.FirstIndex:
			return "indices of segments do not increase"
		case s.LastSeq < s.FirstSeq || s.LastSeq+1 == 0 || s.Bytes < MinBlockBytes || s.End() < s.Start:
			return "a segment is empty or too large"
		}
		at = Point{NextSeq: s.LastSeq + 1, Position: s.End(), Chain: s.ChainOut, LastIndex: s.LastIndex}
		leaf = s.FirstLeaf
	}
	if t.Tail.FirstLeaf < leaf || (len(t.Sealed) > 0 && t.Tail.FirstLeaf == leaf) || t.Tail.FirstLeaf > t.Tree.Size() || t.Signed > t.Position {
		return "the tail does not fit the number of blocks"
	}
	if t.Tail.Start != at.Position || t.Tail.FirstSeq != at.NextSeq || (len(t.Sealed) > 0 && t.Tail.ChainIn != at.Chain) {
		return "the tail does not continue the sealed segments"
	}
	if t.Tail.FirstIndex == 0 {
		if t.Position != t.Tail.Start || t.NextSeq != t.Tail.FirstSeq || t.Chain != t.Tail.ChainIn || t.LastIndex != at.LastIndex {
			return "an empty tail has moved"
		}
		return ""
	}
	if t.Tail.FirstIndex <= at.LastIndex || t.LastIndex < t.Tail.FirstIndex ||
		t.NextSeq <= t.Tail.FirstSeq || t.Position < t.Tail.Start || t.Position-t.Tail.Start < MinBlockBytes {
		return "the tail does not fit its own beginning"
	}
	return ""
}

func appendUint64s(dst []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

// fieldReader reads fixed-width fields whose presence was checked before.
type fieldReader struct{ rest []byte }

func (r *fieldReader) take(n int) []byte {
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *fieldReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *fieldReader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *fieldReader) hash() [HashBytes]byte {
	return [HashBytes]byte(r.take(HashBytes))
}
