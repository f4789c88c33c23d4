package logging

import (
	"encoding/binary"
	"hash/crc32"
)

// entry is a record as a test writes it down.
type entry struct {
	Header
	body string
}

// link is where an agent's blocks end: its newest one, and its own chain value.
type link struct {
	pointer uint64
	head    [HashBytes]byte
}

// write seals one block that continues t, touching every agent named, and
// advances t. last holds what the kernel's rows would.
func write(b *Builder, t *Tables, index uint64, clock int64, segment uint64, last map[uint32]link, entries ...entry) []byte {
	b.Begin(index, 1+index/100, t.NextSeq, clock)
	for _, e := range entries {
		b.Open(e.Header)
		b.Buf = append(b.Buf, e.body...)
		b.Close()
		if e.Agent != 0 {
			b.Touch(e.Agent, last[e.Agent].pointer, last[e.Agent].head)
		}
	}
	block, digest := b.Seal(t.Chain)
	for i := range b.Touched() {
		agent, head := b.TouchedAt(i)
		last[agent] = link{PointerTo(t.Position), ChainAfter(head, digest)}
	}
	t.Advance(block, digest, segment)
	return append([]byte(nil), block...)
}

// resealed repairs length and checksum, so that a test reaches what lies
// behind them.
func resealed(raw []byte) []byte {
	out := append([]byte(nil), raw...)
	if len(out) >= offsetFormat {
		binary.LittleEndian.PutUint32(out[offsetLength:], uint32(len(out)))
		binary.LittleEndian.PutUint32(out[offsetChecksum:], crc32.Checksum(out[offsetFormat:], castagnoli))
	}
	return out
}

// chainOfBlocks writes n blocks of varying shape over a few agents.
func chainOfBlocks(n int, segment uint64) (blocks [][]byte, tables Tables) {
	var b Builder
	tables = Genesis("default")
	last := map[uint32]link{}
	for i := range n {
		agent := uint32(i%5 + 1)
		entries := []entry{
			{Header{Kind: 1}, "event"},
			{Header{Kind: 40, Agent: agent, Tick: uint64(i), Step: 1}, "step"},
			{Header{Kind: 300, Agent: 7, Tick: uint64(i), Cause: 1}, string(make([]byte, i*17%400))},
		}
		blocks = append(blocks, write(&b, &tables, uint64(10+i*2), int64(1000+i/3), segment, last, entries[:1+i%3]...))
	}
	return blocks, tables
}
