package logging

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The first chain value is fixed by the kernel's id, and differs between two.
func TestGenesis(t *testing.T) {
	tables := Genesis("default")
	assert.Equal(t, "2c8e7326df03b5a3b6b62920caf46bb7d225cc5eacc80cb3de9ceab4dd9645ad", hex.EncodeToString(tables.Chain[:]))
	assert.EqualValues(t, 1, tables.NextSeq) // EV-3
	assert.Zero(t, tables.Position)
	assert.NotEqual(t, tables.Chain, Genesis("other").Chain)
}

// A segment ends at the first block boundary at or after the given size, and
// the manifest entries and the tail tile the log without gaps.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Uint64Range(1, 3000).Draw(t, "segment")
		blocks, tables := chainOfBlocks(rapid.IntRange(1, 60).Draw(t, "blocks"), size)
		var at Point
		at.NextSeq, at.Chain = 1, GenesisChain("default")
		i := 0
		for _, s := range tables.Sealed {
			require.Equal(t, at.Position, s.Start)
			require.Equal(t, at.NextSeq, s.FirstSeq)
			require.Equal(t, at.Chain, s.ChainIn)
			v := NewVerifier(at)
			for v.Point().Position < s.End() {
				// Before its last block the segment was still below the size.
				require.Less(t, v.Point().Position-s.Start, size)
				require.NoError(t, v.Feed(blocks[i]))
				if v.Point().Position-uint64(len(blocks[i])) == s.Start {
					require.Equal(t, s.FirstIndex, v.Point().LastIndex)
				}
				i++
			}
			at = v.Point()
			require.GreaterOrEqual(t, s.Bytes, size)
			require.Equal(t, s.End(), at.Position)
			require.Equal(t, s.LastSeq+1, at.NextSeq)
			require.Equal(t, s.LastIndex, at.LastIndex)
			require.Equal(t, s.ChainOut, at.Chain)
		}
		require.Equal(t, at.Position, tables.Tail.Start)
		require.Equal(t, at.NextSeq, tables.Tail.FirstSeq)
		require.Equal(t, at.Chain, tables.Tail.ChainIn)
		v := NewVerifier(at)
		for ; i < len(blocks); i++ {
			require.NoError(t, v.Feed(blocks[i]))
		}
		require.Equal(t, v.Point(), tables.Point)
	})
}

// The size itself is enough, one byte less is not.
func TestCutAtExactlyTheSize(t *testing.T) {
	blocks, _ := chainOfBlocks(2, DefaultSegmentBytes)
	both := uint64(len(blocks[0]) + len(blocks[1]))
	for size, sealed := range map[uint64]int{both - 1: 1, both: 1, both + 1: 0} {
		_, tables := chainOfBlocks(2, size)
		assert.Len(t, tables.Sealed, sealed, "size %d", size)
	}
}

// A published copy stays what it was, and two copies that both advance do not
// disturb each other.
func TestTablesAreValues(t *testing.T) {
	var b Builder
	tables := Genesis("default")
	last := map[uint32]link{}
	for i := range uint64(9) {
		write(&b, &tables, i+1, 0, 1, last, entry{Header{Kind: 1}, "x"})
	}
	published := tables
	snapshot := published.AppendSnapshot(nil)
	left, right := tables, tables
	for i := range uint64(5) {
		write(&b, &left, 100+i, 0, 1, last, entry{Header{Kind: 2}, "left"})
		write(&b, &right, 200+i, 0, 1, last, entry{Header{Kind: 3}, "right"})
	}
	assert.Equal(t, snapshot, published.AppendSnapshot(nil))
	assert.EqualValues(t, 104, left.Sealed[13].LastIndex)
	assert.EqualValues(t, 204, right.Sealed[13].LastIndex)
	assert.Equal(t, left.Sealed[8], right.Sealed[8])
}

func TestAdvanceRefusesWhatDoesNotContinue(t *testing.T) {
	blocks, tables := chainOfBlocks(4, DefaultSegmentBytes)
	for name, misuse := range map[string]func(*Tables){
		"the same block again": func(x *Tables) { x.Advance(blocks[3], x.Chain, 1) },
		"segment size 0":       func(x *Tables) { x.Advance(blocks[3], x.Chain, 0) },
		"segment size too big": func(x *Tables) { x.Advance(blocks[3], x.Chain, MaxSegmentBytes+1) },
		"index not above": func(x *Tables) {
			var b Builder
			b.Begin(x.LastIndex, 1, x.NextSeq, 0)
			b.Open(Header{})
			b.Close()
			block, digest := b.Seal(x.Chain)
			x.Advance(block, digest, 100)
		},
	} {
		t.Run(name, func(t *testing.T) {
			changed := tables
			assert.Panics(t, func() { misuse(&changed) })
			assert.Equal(t, tables, changed)
		})
	}
}

// Tables survive a snapshot, in one form.
func TestTablesSnapshotRoundTrip(t *testing.T) {
	for _, size := range []uint64{1, 300, 1000, DefaultSegmentBytes} {
		for n := range 12 {
			_, tables := chainOfBlocks(n, size)
			if n == 0 {
				tables = Genesis("default")
			}
			snapshot := tables.AppendSnapshot([]byte("front"))
			assert.Equal(t, "front", string(snapshot[:5]))
			read, err := DecodeSnapshot(snapshot[5:])
			require.NoError(t, err)
			assert.Equal(t, tables, read)
		}
	}
}

// The bytes of a snapshot are a format: their digest is pinned, and the fields
// lie where the layout says.
func TestTablesSnapshotGolden(t *testing.T) {
	_, tables := chainOfBlocks(10, 300)
	snapshot := tables.AppendSnapshot(nil)
	require.Len(t, snapshot, tablesFixedBytes+2*HashBytes+len(tables.Sealed)*entryBytes)
	sum := sha256.Sum256(snapshot)
	assert.Equal(t, "f1d5cb8415059e89d8eced5106c2a9f88036fe22191dbacf3323e3734d8dd482", hex.EncodeToString(sum[:]))
	field := func(at int) uint64 { return binary.LittleEndian.Uint64(snapshot[at:]) }
	assert.Equal(t, []uint64{tables.NextSeq, tables.Position, tables.LastIndex, tables.LastTerm, uint64(tables.LastClockMillis)},
		[]uint64{field(1), field(9), field(49), field(57), field(65)})
	assert.Equal(t, []uint64{10, tables.Signed, tables.Tail.FirstIndex, tables.Tail.FirstSeq, tables.Tail.FirstLeaf, tables.Tail.Start},
		[]uint64{field(73), field(145), field(153), field(161), field(169), field(177)})
	assert.Equal(t, tables.Sealed[0].Bytes, field(221+48))
}

// Damage of the shape of a snapshot is refused; so is content that contradicts
// itself.
func TestTablesSnapshotMalformed(t *testing.T) {
	_, tables := chainOfBlocks(10, 300)
	require.Greater(t, len(tables.Sealed), 1)
	require.NotZero(t, tables.Tail.FirstIndex)
	good := tables.AppendSnapshot(nil)
	for n := range len(good) {
		_, err := DecodeSnapshot(good[:n])
		require.Error(t, err, "%d bytes", n)
	}
	_, err := DecodeSnapshot(append(good[:len(good):len(good)], 0))
	require.Error(t, err)
	future := append([]byte(nil), good...)
	future[0] = 1
	_, err = DecodeSnapshot(future)
	require.Equal(t, &SnapshotError{Rule: "unknown format"}, err)

	for name, change := range map[string]func(*Tables){
		"start moved":       func(x *Tables) { x.Sealed[1].Start++ },
		"busSeq gap":        func(x *Tables) { x.Sealed[1].FirstSeq++ },
		"busSeq backwards":  func(x *Tables) { x.Sealed[1].LastSeq = x.Sealed[1].FirstSeq - 1 },
		"chain broken":      func(x *Tables) { x.Sealed[0].ChainOut[3] ^= 1 },
		"index backwards":   func(x *Tables) { x.Sealed[1].FirstIndex = x.Sealed[0].LastIndex },
		"index range empty": func(x *Tables) { x.Sealed[1].LastIndex = x.Sealed[1].FirstIndex - 1 },
		"no bytes":          func(x *Tables) { x.Sealed[0].Bytes = 0 },
		"bytes overflow":    func(x *Tables) { x.Sealed[0].Bytes = 1<<64 - 1 },
		"too few bytes": func(x *Tables) { // all else agrees
			x.Sealed = x.Sealed[:1]
			x.Sealed[0].Bytes = MinBlockBytes - 1
			x.Tail.Start, x.Tail.FirstSeq, x.Tail.ChainIn = x.Sealed[0].End(), x.Sealed[0].LastSeq+1, x.Sealed[0].ChainOut
		},
		"bytes wrap around": func(x *Tables) { // all else agrees
			x.Sealed = x.Sealed[:2]
			x.Sealed[1].Bytes = 10 - x.Sealed[1].Start
			x.Tail.Start, x.Tail.FirstSeq, x.Tail.ChainIn = 10, x.Sealed[1].LastSeq+1, x.Sealed[1].ChainOut
		},
		"tail start":           func(x *Tables) { x.Tail.Start-- },
		"tail busSeq":          func(x *Tables) { x.Tail.FirstSeq++ },
		"tail chain":           func(x *Tables) { x.Tail.ChainIn[0] ^= 1 },
		"tail index":           func(x *Tables) { x.Tail.FirstIndex = 1 },
		"last index":           func(x *Tables) { x.LastIndex = x.Tail.FirstIndex - 1 },
		"position before tail": func(x *Tables) { x.Position = x.Tail.Start },
		"busSeq before tail":   func(x *Tables) { x.NextSeq = x.Tail.FirstSeq },
		"first block's number": func(x *Tables) { x.Sealed[0].FirstLeaf = 1 },
		"block's number":       func(x *Tables) { x.Sealed[1].FirstLeaf = x.Sealed[0].FirstLeaf },
		"tail block's number":  func(x *Tables) { x.Tail.FirstLeaf = x.Sealed[len(x.Sealed)-1].FirstLeaf },
		"blocks missing":       func(x *Tables) { x.Tail.FirstLeaf = x.Tree.Size() + 1 },
		"tree head ahead":      func(x *Tables) { x.Signed = x.Position + 1 },
		"archived too early":   func(x *Tables) { x.Sealed[0].ArchivedAt = x.Sealed[0].LastIndex },
		"archived tomorrow":    func(x *Tables) { x.Sealed[0].ArchivedAt = x.LastIndex + 1 },
		"archived out of turn": func(x *Tables) { x.Sealed[1].ArchivedAt = x.LastIndex },
		"empty tail moved":     func(x *Tables) { x.Tail.FirstIndex = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			changed := tables
			changed.Sealed = append([]Segment(nil), tables.Sealed...)
			change(&changed)
			_, err := DecodeSnapshot(changed.AppendSnapshot(nil))
			var problem *SnapshotError
			require.ErrorAs(t, err, &problem)
		})
	}
}

// FuzzDecodeTables: whatever is accepted has one form only.
func FuzzDecodeTables(f *testing.F) {
	for _, n := range []int{1, 9, 30} {
		_, tables := chainOfBlocks(n, 300)
		f.Add(tables.AppendSnapshot(nil))
	}
	genesis := Genesis("default")
	f.Add(genesis.AppendSnapshot(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		tables, err := DecodeSnapshot(b)
		if err != nil {
			var problem *SnapshotError
			require.ErrorAs(t, err, &problem)
			return
		}
		require.Equal(t, b, tables.AppendSnapshot(nil))
	})
}
