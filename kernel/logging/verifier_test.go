package logging

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// LO-1: one unbroken chain, from the beginning and from any point in between.
func TestVerifierAcceptsTheLog(t *testing.T) {
	blocks, tables := chainOfBlocks(40, 700)
	from := Genesis("default").Point
	for start := range blocks {
		v := NewVerifier(from)
		for _, raw := range blocks[start:] {
			require.NoError(t, v.Feed(raw))
		}
		require.Equal(t, tables.Point, v.Point())
		one := NewVerifier(from)
		require.NoError(t, one.Feed(blocks[start]))
		from = one.Point()
	}
}

// The first thing that differs is named, with position and index.
func TestVerifierNamesWhatDiffers(t *testing.T) {
	blocks, _ := chainOfBlocks(6, DefaultSegmentBytes)
	const victim = 3
	index := uint64(10 + victim*2)
	change := func(at int, x uint64) func([]byte) []byte {
		return func(raw []byte) []byte {
			binary.LittleEndian.PutUint64(raw[at:], x)
			return resealed(raw)
		}
	}
	tests := map[string]struct {
		change func(raw []byte) []byte
		aspect Aspect
		index  uint64
		want   string
		got    string
	}{
		"flipped bit": {func(raw []byte) []byte { raw[90] ^= 4; return raw }, AspectBlock, index - 2, "", ""},
		"cut":         {func(raw []byte) []byte { return raw[:len(raw)-1] }, AspectBlock, index - 2, "", ""},
		"repeated":    {func([]byte) []byte { return blocks[victim-1] }, AspectSeq, index - 2, "7", "4"},
		"left out":    {func([]byte) []byte { return blocks[victim+1] }, AspectSeq, index + 2, "7", "8"},
		"busSeq":      {change(offsetFirstSeq, 9), AspectSeq, index, "7", "9"},
		"same index":  {change(offsetIndex, index-2), AspectIndex, index - 2, "15", "14"},
		"term back":   {change(offsetTerm, 0), AspectTerm, index, "1", "0"},
		"clock back":  {change(offsetClock, 999), AspectClock, index, "1000", "999"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := NewVerifier(Genesis("default").Point)
			for _, raw := range blocks[:victim] {
				require.NoError(t, v.Feed(raw))
			}
			before := v.Point()
			err := v.Feed(test.change(append([]byte(nil), blocks[victim]...)))
			var m *Mismatch
			require.ErrorAs(t, err, &m)
			assert.Equal(t, test.aspect, m.Aspect, "%v", err)
			assert.Equal(t, before.Position, m.Position)
			assert.Equal(t, test.index, m.Index)
			assert.Equal(t, test.want, m.Want)
			assert.Equal(t, test.got, m.Got)
			assert.Equal(t, test.aspect == AspectBlock, m.Err != nil)
			assert.Equal(t, before, v.Point())
			// Final: even the right block does not go on after it.
			assert.Equal(t, err, v.Feed(blocks[victim]))
		})
	}
}

// A block whose content was changed and resealed is named by the block after
// it, whose chain value no longer fits.
func TestVerifierFindsAChangedRecord(t *testing.T) {
	blocks, _ := chainOfBlocks(6, DefaultSegmentBytes)
	at := HeaderBytes + minRecordBytes // the first byte of the body "event"
	require.Equal(t, byte('e'), blocks[3][at])
	blocks[3][at] = 'E'
	blocks[3] = resealed(blocks[3])
	v := NewVerifier(Genesis("default").Point)
	for _, raw := range blocks[:4] {
		require.NoError(t, v.Feed(raw))
	}
	var m *Mismatch
	require.ErrorAs(t, v.Feed(blocks[4]), &m)
	assert.Equal(t, AspectChain, m.Aspect)
	assert.EqualValues(t, 18, m.Index)
	assert.Len(t, m.Got, 2*HashBytes)
	assert.NotEqual(t, m.Want, m.Got)
}

// Another kernel's log fails at its first block.
func TestVerifierOfAnotherKernel(t *testing.T) {
	blocks, _ := chainOfBlocks(1, DefaultSegmentBytes)
	var m *Mismatch
	require.ErrorAs(t, NewVerifier(Genesis("other").Point).Feed(blocks[0]), &m)
	assert.Equal(t, AspectChain, m.Aspect)
}

// Pointers lead backwards, to where a block can be.
func TestVerifierChecksPointers(t *testing.T) {
	for name, test := range map[string]struct {
		pointer func(here uint64) uint64
		ok      bool
	}{
		"none":           {func(uint64) uint64 { return 0 }, true},
		"the first":      {func(uint64) uint64 { return 1 }, true},
		"itself":         {func(here uint64) uint64 { return PointerTo(here) }, false},
		"ahead":          {func(here uint64) uint64 { return PointerTo(here + 500) }, false},
		"inside another": {func(here uint64) uint64 { return PointerTo(here - 1) }, false},
		"overflowing":    {func(uint64) uint64 { return 1<<64 - 1 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var b Builder
			tables := Genesis("default")
			v := NewVerifier(tables.Point)
			last := map[uint32]link{}
			require.NoError(t, v.Feed(write(&b, &tables, 1, 0, 1000, last, entry{Header{Agent: 4}, "x"})))
			last[4] = link{pointer: test.pointer(tables.Position)}
			err := v.Feed(write(&b, &tables, 2, 0, 1000, last, entry{Header{Agent: 4}, "y"}))
			if test.ok {
				require.NoError(t, err)
				return
			}
			var m *Mismatch
			require.ErrorAs(t, err, &m)
			assert.Equal(t, AspectPointer, m.Aspect)
		})
	}
}
