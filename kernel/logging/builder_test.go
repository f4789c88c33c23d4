package logging

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bytes of one block, written out. They are the format: a change here is a
// change of the format (LO-1: the same on every replica, on 32 bits too).
func TestBlockGoldenBytes(t *testing.T) {
	var b Builder
	tables := Genesis("default")
	b.Begin(0x0102030405060708, 3, tables.NextSeq, -2)
	assert.EqualValues(t, 1, b.Open(Header{Kind: 1}))
	b.Buf = append(b.Buf, "ev"...)
	b.Close()
	assert.EqualValues(t, 2, b.Open(Header{Kind: 300, Agent: 5, Tick: 1 << 40, Step: 2}))
	b.Buf = append(b.Buf, "x"...)
	b.Close()
	b.Touch(5, 129, [32]byte{1, 31: 2})
	b.Touch(2, 0, [32]byte{})
	assert.EqualValues(t, 3, b.Open(Header{Kind: 0xffff, Agent: 2, Tick: 1<<64 - 1, Step: 1<<32 - 1, Cause: 1}))
	b.Close()
	block, digest := b.Seal(tables.Chain)

	want := strings.Join([]string{
		"d3000000", "b2bd87b3", "00",
		"0807060504030201", "0300000000000000", "0100000000000000", "03000000", "feffffffffffffff",
		hex.EncodeToString(tables.Chain[:]), "7b000000",
		"01" + "00" + "00" + "00" + "00" + "02" + "6576",
		"ac02" + "05" + "808080808020" + "02" + "00" + "01" + "78",
		"ffff03" + "02" + "ffffffffffffffffff01" + "ffffffff0f" + "01" + "00",
		"02000000" + "0000000000000000" + strings.Repeat("00", 32),
		"05000000" + "8100000000000000" + "01" + strings.Repeat("00", 30) + "02",
	}, "")
	assert.Equal(t, want, hex.EncodeToString(block))
	assert.Equal(t, "6ce6ee0e88f2aaf72a21da41dc3439dabe6aadcb767066e39502a863d88bc5d2", hex.EncodeToString(digest[:]))
}

// A body's length takes one to three bytes, and is written in front of the body
// after the body.
func TestBodyLengths(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 129, 16383, 16384, 16385, 2097151, 2097152} {
		var b Builder
		body := strings.Repeat("ab", n/2+1)[:n]
		b.Begin(1, 1, 1, 0)
		for range 2 {
			b.Open(Header{Kind: 9})
			b.Buf = append(b.Buf, body...)
			b.Close()
		}
		raw, _ := b.Seal([HashBytes]byte{})
		block, err := Decode(raw)
		require.NoError(t, err, "body of %d bytes", n)
		seen := 0
		for records := block.Records(); records.Next(); seen++ {
			require.Equal(t, body, string(records.Record.Body))
		}
		assert.Equal(t, 2, seen)
	}
}

// Only an agent's first Touch in a block counts, in whatever order they come.
func TestTouchKeepsTheFirstPointer(t *testing.T) {
	var b Builder
	b.Begin(1, 1, 1, 0)
	b.Open(Header{Kind: 1})
	b.Close()
	for _, call := range []touch{
		{subject: 9, previous: 90}, {subject: RunSubject(1), previous: 70}, {subject: 3, previous: 30}, {subject: 9, previous: 91}, {subject: 1, previous: 10},
		{subject: 3, previous: 31}, {subject: 3, previous: 32}, {subject: RunSubject(1), previous: 71}, {subject: 9, previous: 92},
	} {
		b.Touch(call.subject, call.previous, [32]byte{byte(call.previous)})
	}
	bound := b.Len()
	raw, _ := b.Seal([HashBytes]byte{})
	assert.LessOrEqual(t, len(raw), bound)
	block, err := Decode(raw)
	require.NoError(t, err)
	require.Equal(t, 4, block.Touched())
	for i, want := range []touch{{subject: 1, previous: 10}, {subject: 3, previous: 30}, {subject: 9, previous: 90}, {subject: 1<<31 + 1, previous: 70}} {
		subject, previous := block.TouchedAt(i)
		assert.Equal(t, want, touch{subject: subject, previous: previous})
		assert.Equal(t, [32]byte{byte(want.previous)}, block.HeadAt(i))
		found, ok := block.Previous(want.subject)
		assert.True(t, ok)
		assert.Equal(t, want.previous, found)
	}
	for _, absent := range []uint32{0, 2, 4, 10, 1 << 31, RunSubject(3)} {
		_, ok := block.Previous(absent)
		assert.False(t, ok, "subject %d", absent)
	}
}

func TestMisusePanics(t *testing.T) {
	begun := func() *Builder {
		b := &Builder{}
		b.Begin(1, 1, 1, 0)
		return b
	}
	record := func(b *Builder) *Builder {
		b.Open(Header{Kind: 1})
		b.Close()
		return b
	}
	sealed := func() *Builder {
		b := record(begun())
		b.Seal([HashBytes]byte{})
		return b
	}
	tests := map[string]func(){
		"index zero":          func() { (&Builder{}).Begin(0, 1, 1, 0) },
		"busSeq zero":         func() { (&Builder{}).Begin(1, 1, 0, 0) },
		"open before begin":   func() { (&Builder{}).Open(Header{}) },
		"open in open":        func() { b := begun(); b.Open(Header{}); b.Open(Header{}) },
		"open after seal":     func() { sealed().Open(Header{}) },
		"first has a cause":   func() { begun().Open(Header{Cause: 1}) },
		"cause is itself":     func() { record(begun()).Open(Header{Cause: 1}) },
		"close before open":   func() { begun().Close() },
		"close after cutting": func() { b := begun(); b.Open(Header{}); b.Buf = b.Buf[:10]; b.Close() },
		"touch nobody":        func() { begun().Touch(0, 1, [32]byte{}) },
		"touch before begin":  func() { (&Builder{}).Touch(1, 1, [32]byte{}) },
		"seal nothing":        func() { begun().Seal([HashBytes]byte{}) },
		"seal open record":    func() { b := begun(); b.Open(Header{}); b.Seal([HashBytes]byte{}) },
		"seal twice":          func() { sealed().Seal([HashBytes]byte{}) },
		"seal too much": func() {
			b := begun()
			b.Open(Header{})
			b.Buf = append(b.Buf, make([]byte, MaxBlockBytes)...)
			b.Close()
			b.Seal([HashBytes]byte{})
		},
	}
	for name, misuse := range tests {
		t.Run(name, func(t *testing.T) { assert.Panics(t, misuse) })
	}
}

// fill writes what an ordinary event writes: five records over two agents.
func fill(b *Builder, chain [HashBytes]byte, index uint64) ([]byte, [HashBytes]byte) {
	b.Begin(index, 3, index*5, 1_700_000_000_000)
	for i := range uint32(5) {
		b.Open(Header{Kind: uint16(20 + i), Agent: 100000 + i%2, Tick: 40, Step: i, Cause: max(i, 1) - 1})
		b.Buf = append(b.Buf, "a body of some thirty bytes, ok"...)
		b.Close()
		b.Touch(100000+i%2, 1<<33, [32]byte{})
	}
	return b.Seal(chain)
}

// Sealing a block allocates nothing once the buffers have grown.
func TestSealAllocatesNothing(t *testing.T) {
	var b Builder
	var chain [HashBytes]byte
	index := uint64(0)
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		index++
		_, chain = fill(&b, chain, index)
	}))
}

// Decoding a block and walking it allocates nothing.
func TestDecodeAllocatesNothing(t *testing.T) {
	var b Builder
	raw, _ := fill(&b, [HashBytes]byte{}, 1)
	total := 0
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		block, err := Decode(raw)
		if err != nil {
			panic(err)
		}
		for records := block.Records(); records.Next(); {
			total += len(records.Record.Body)
		}
		if _, ok := block.Previous(100001); !ok {
			panic("agent not touched")
		}
	}))
	assert.Positive(t, total)
}

func BenchmarkSealFiveRecords(b *testing.B) {
	var builder Builder
	var chain [HashBytes]byte
	var raw []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		raw, chain = fill(&builder, chain, uint64(i+1))
	}
	b.ReportMetric(float64(len(raw)), "B/block")
}

func BenchmarkHashOnly(b *testing.B) {
	var builder Builder
	raw, chain := fill(&builder, [HashBytes]byte{}, 1)
	for b.Loop() {
		chain = ChainAfter(chain, Digest(raw))
	}
}

func BenchmarkDecodeFiveRecords(b *testing.B) {
	var builder Builder
	raw, _ := fill(&builder, [HashBytes]byte{}, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}
