package raftstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

// chunkBytes is how large a chunk becomes before the next one begins; an entry
// that is larger is a chunk of its own. With its frame in the database a chunk
// takes no more than the 8 KiB to which the library's buffer doubles. Twice as
// much costs little less for long batches, and more bytes for short ones: the
// database writes up to three older values again beside new ones.
const chunkBytes = 8<<10 - 128

// A chunk is some entries with consecutive indexes, as they lie in the
// database under the index of the first one:
//
//	checksum uint32   CRC32C of the index and of all that follows
//	count    uint32
//	entries  count times: see entry.go
//
// Fixed-width numbers are little-endian, the index is big-endian. The database
// keeps no checksum of its pages: the chunk has its own.
type chunk struct {
	first, count uint64
	entries      []byte
}

// chunkHead is the length of what stands before the entries.
const chunkHead = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (c *chunk) last() uint64 { return c.first + c.count - 1 }

// appendChunk puts the first of some consecutive entries into a chunk, and
// tells how many.
func appendChunk(b []byte, entries []*raft.Log) (out []byte, n int) {
	start := len(b)
	b = append(b, make([]byte, chunkHead)...)
	for n < len(entries) {
		size := len(entries[n].Data) + len(entries[n].Extensions) + entryHead
		if n > 0 && len(b)-start+size > chunkBytes {
			break
		}
		b = appendEntry(b, entries[n])
		n++
	}
	sealChunk(b[start:], entries[0].Index, uint64(n))
	return b, n
}

// sealChunk fills in the head of a chunk's bytes.
func sealChunk(b []byte, first, count uint64) {
	binary.LittleEndian.PutUint32(b[4:], uint32(count))
	binary.LittleEndian.PutUint32(b, sumOf(first, b))
}

func sumOf(first uint64, b []byte) uint32 {
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], first)
	return crc32.Update(crc32.Checksum(key[:], castagnoli), castagnoli, b[4:])
}

// seal gives a chunk's bytes.
func (c *chunk) seal() []byte {
	b := append(make([]byte, chunkHead, chunkHead+len(c.entries)), c.entries...)
	sealChunk(b, c.first, c.count)
	return b
}

// openChunk checks the bytes of the chunk from an index. It refers to them.
func openChunk(first uint64, b []byte) (chunk, error) {
	if len(b) < chunkHead {
		return chunk{}, fmt.Errorf("a chunk of %d bytes from entry %d: %w", len(b), first, ErrCorrupt)
	}
	c := chunk{first: first, count: uint64(binary.LittleEndian.Uint32(b[4:])), entries: b[chunkHead:]}
	if c.count == 0 || binary.LittleEndian.Uint32(b) != sumOf(first, b) {
		return chunk{}, fmt.Errorf("checksum of the entries from %d: %w", first, ErrCorrupt)
	}
	return c, nil
}

// part gives the chunk's entries before an index, and those from it on. Their
// checksum was right, so what it cannot read was written wrongly.
func (c *chunk) part(at uint64) (before, after chunk, err error) {
	r := entryReader{c.entries}
	var skipped raft.Log
	for range at - c.first {
		if err := r.next(&skipped); err != nil {
			return chunk{}, chunk{}, err
		}
	}
	before = chunk{c.first, at - c.first, c.entries[:len(c.entries)-len(r.rest)]}
	return before, chunk{at, c.count - before.count, r.rest}, nil
}

// read copies one entry.
func (c *chunk) read(index uint64, into *raft.Log) error {
	if index < c.first || index > c.last() {
		return fmt.Errorf("entry %d in the chunk %d to %d: %w", index, c.first, c.last(), ErrCorrupt)
	}
	_, after, err := c.part(index)
	if err != nil {
		return err
	}
	r := entryReader{after.entries}
	if err := r.next(into); err != nil {
		return err
	}
	into.Index = index
	into.Data, into.Extensions = bytes.Clone(into.Data), bytes.Clone(into.Extensions)
	return nil
}
