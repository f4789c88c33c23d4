package logging

import (
	"encoding/binary"
	"slices"
)

const (
	// DefaultSegmentBytes is where a segment is cut unless the cluster's
	// config says otherwise.
	DefaultSegmentBytes = 64 << 20

	// MaxSegmentBytes bounds what the config may say, so that every offset
	// within a segment, its last block included, fits 32 bits.
	MaxSegmentBytes = 1 << 30
)

// Point is a place in the log, between two blocks: all that one must know to
// continue from there, or to check what follows.
type Point struct {
	NextSeq  uint64          // busSeq of the next record; 1 at the beginning
	Position uint64          // of the next block
	Chain    [HashBytes]byte // after the last block

	LastIndex       uint64 // Raft index of the last block; 0 before the first
	LastTerm        uint64
	LastClockMillis int64
}

// Head is how the tail segment begins. FirstIndex is 0 while it has no block.
type Head struct {
	FirstIndex uint64
	FirstSeq   uint64
	FirstLeaf  uint64 // number of its first block in the log, from 0
	Start      uint64 // position of its first block
	ChainIn    [HashBytes]byte
}

// Segment is the manifest entry of a sealed segment. The chain values
// authenticate its content, so it needs no digest of its own.
type Segment struct {
	FirstIndex, LastIndex uint64
	FirstSeq, LastSeq     uint64
	FirstLeaf             uint64 // number of its first block in the log, from 0
	Start                 uint64 // position of its first block
	Bytes                 uint64 // of its blocks
	ChainIn, ChainOut     [HashBytes]byte

	// ArchivedAt is the Raft index of the event that moved what no living agent
	// needs of it to the archive; 0 while the segment is whole (INV-07).
	ArchivedAt uint64
}

// End is the position after the segment's last block.
func (s *Segment) End() uint64 { return s.Start + s.Bytes }

// Tables is the log's own part of kernel state: where the log ends, how its
// tail began, and the manifest of sealed segments in order. It is a value:
// a copy stays what it was when the original advances. Both ends may advance,
// too, without disturbing each other.
type Tables struct {
	Point
	Tree   Tree   // over the digests of all blocks
	Signed uint64 // pointer to the newest block with a tree head, 0 for none
	Tail   Head
	Sealed []Segment // shared between copies: never written in place
}

// Genesis is the log before its first block.
func Genesis(kernelID string) Tables {
	chain := GenesisChain(kernelID)
	return Tables{
		Point: Point{NextSeq: 1, Chain: chain},
		Tail:  Head{FirstSeq: 1, ChainIn: chain},
	}
}

// Advance takes a sealed block and its digest into account. The
// tail is cut at the first block boundary at or after segmentBytes, which the
// replicated config fixes (1 to MaxSegmentBytes): where a segment ends is a
// function of the events alone. A block that does not continue the log is a
// broken invariant and panics.
func (t *Tables) Advance(block []byte, digest [HashBytes]byte, segmentBytes uint64) {
	if segmentBytes == 0 || segmentBytes > MaxSegmentBytes {
		panic("logging: segment size out of range")
	}
	index := binary.LittleEndian.Uint64(block[offsetIndex:])
	firstSeq := binary.LittleEndian.Uint64(block[offsetFirstSeq:])
	if firstSeq != t.NextSeq || index <= t.LastIndex {
		panic("logging: block does not continue the log")
	}
	if t.Tail.FirstIndex == 0 {
		t.Tail.FirstIndex = index
	}
	t.NextSeq += uint64(binary.LittleEndian.Uint32(block[offsetCount:]))
	t.Position += uint64(len(block))
	t.Chain = ChainAfter(t.Chain, digest)
	t.Tree = t.Tree.Append(digest)
	t.LastIndex = index
	t.LastTerm = binary.LittleEndian.Uint64(block[offsetTerm:])
	t.LastClockMillis = int64(binary.LittleEndian.Uint64(block[offsetClock:]))
	if t.Position-t.Tail.Start >= segmentBytes {
		t.cut()
	}
}

// cut seals the tail and begins the next one.
func (t *Tables) cut() {
	// Clipped, so that append copies: two copies of the tables that both go on
	// must not write into one array. It happens once per segment.
	t.Sealed = append(slices.Clip(t.Sealed), Segment{
		FirstIndex: t.Tail.FirstIndex,
		LastIndex:  t.LastIndex,
		FirstSeq:   t.Tail.FirstSeq,
		LastSeq:    t.NextSeq - 1,
		FirstLeaf:  t.Tail.FirstLeaf,
		Start:      t.Tail.Start,
		Bytes:      t.Position - t.Tail.Start,
		ChainIn:    t.Tail.ChainIn,
		ChainOut:   t.Chain,
	})
	t.Tail = Head{FirstSeq: t.NextSeq, FirstLeaf: t.Tree.Size(), Start: t.Position, ChainIn: t.Chain}
}
