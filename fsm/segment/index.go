package segment

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"sort"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// The sidecar index of a sealed segment. All integers are little endian.
//
//	offset  bytes  field
//	     0      8  magic "OMNIIDX\n"
//	     8      4  CRC32C of bytes 12 to the end of the file
//	    12      4  file version, 0
//	    16      8  start of the segment
//	    24      8  position from which on blocks are here
//	    32      8  bytes of the segment's blocks
//	    40     32  chain value after the segment
//	    72      4  number of marks
//	    76      4  number of agents
//	    80      4  number of nodes
//	    84      4  checksum in the header of the compacted segment that the
//	               index is of; 0 for a full one
//	    88   24 *  marks, ascending: busSeq, position, offset in the file; every
//	               64 KiB of the file or so
//	     …   32 *  nodes of the tree over the log's blocks: the largest perfect
//	               trees of at most 1,024 leaves that lie within the segment, in
//	               order; none when the segment is not whole
//	     …   12 *  agents, ascending: number, count of its blocks here, where in the
//	               offset list its part begins (bytes from the list's start)
//	     …      …  offset list: for each agent the offsets of its blocks from the
//	               segment's start, ascending, as uvarint differences
const (
	indexMagic      = "OMNIIDX\n"
	indexFixedBytes = 88
	markBytes       = 24
	agentBytes      = 12
)

// index is a checked sidecar, as its bytes.
type index struct {
	start, from, size uint64
	chainOut          [logging.HashBytes]byte
	of                uint32 // the compacted file's checksum
	marks             []byte
	nodes             []byte
	agents            []byte
	offsets           []byte
}

// parseIndex checks a sidecar's bytes; false for anything that is not one.
func parseIndex(b []byte) (*index, bool) {
	if len(b) < indexFixedBytes || !bytes.HasPrefix(b, []byte(indexMagic)) ||
		crc32.Checksum(b[offsetVersion:], castagnoli) != binary.LittleEndian.Uint32(b[offsetCRC:]) ||
		binary.LittleEndian.Uint32(b[offsetVersion:]) != fileVersion {
		return nil, false
	}
	x := &index{
		start:    binary.LittleEndian.Uint64(b[16:]),
		from:     binary.LittleEndian.Uint64(b[24:]),
		size:     binary.LittleEndian.Uint64(b[32:]),
		chainOut: [logging.HashBytes]byte(b[40:]),
		of:       binary.LittleEndian.Uint32(b[84:]),
	}
	marks := uint64(binary.LittleEndian.Uint32(b[72:])) * markBytes
	agents := uint64(binary.LittleEndian.Uint32(b[76:])) * agentBytes
	nodes := uint64(binary.LittleEndian.Uint32(b[80:])) * logging.HashBytes
	rest := b[indexFixedBytes:]
	if marks == 0 || marks+nodes+agents > uint64(len(rest)) {
		return nil, false
	}
	x.marks, rest = rest[:marks], rest[marks:]
	x.nodes, rest = rest[:nodes], rest[nodes:]
	x.agents, x.offsets = rest[:agents], rest[agents:]
	return x, true
}

// belongs tells whether the index is that of the segment, whole or from a
// position on, in the compacted file of that checksum (0: in the full one).
func (x *index) belongs(entry *logging.Segment, from uint64, of uint32) bool {
	return x.start == entry.Start && x.size == entry.Bytes && x.chainOut == entry.ChainOut && x.from == from && x.of == of
}

// seek gives the position of the last marked block that begins at or before
// seq; the first block when there is none.
func (x *index) seek(seq uint64) uint64 { return x.markBefore(0, seq).position }

// markAt gives the last mark at or before a position; the first when there is none.
func (x *index) markAt(position uint64) mark { return x.markBefore(8, position) }

// markBefore gives the last mark whose field at that offset is not above n.
func (x *index) markBefore(field int, n uint64) mark {
	count := len(x.marks) / markBytes
	i := sort.Search(count, func(i int) bool { return binary.LittleEndian.Uint64(x.marks[i*markBytes+field:]) > n })
	b := x.marks[max(i-1, 0)*markBytes:]
	return mark{
		seq:      binary.LittleEndian.Uint64(b),
		position: binary.LittleEndian.Uint64(b[8:]),
		offset:   binary.LittleEndian.Uint64(b[16:]),
	}
}

// positions of the blocks that touch an agent, ascending.
func (x *index) positions(agent uint32) []uint64 {
	n := len(x.agents) / agentBytes
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(x.agents[i*agentBytes:]) >= agent })
	if i == n || binary.LittleEndian.Uint32(x.agents[i*agentBytes:]) != agent {
		return nil
	}
	count := binary.LittleEndian.Uint32(x.agents[i*agentBytes+4:])
	at := binary.LittleEndian.Uint32(x.agents[i*agentBytes+8:])
	if uint64(at)+uint64(count) > uint64(len(x.offsets)) {
		return nil // no list of this checksum was written so
	}
	positions := make([]uint64, 0, count)
	list, position := x.offsets[at:], x.start
	for range count {
		step, size := binary.Uvarint(list)
		if size <= 0 {
			return nil
		}
		position += step
		positions = append(positions, position)
		list = list[size:]
	}
	return positions
}
