package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"syscall"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// buildIndex reads a sealed segment from the position from on, which for a compacted
// file is its start, and gives the bytes of its sidecar. A damaged one is a
// *CorruptError.
func buildIndex(src *segmentFile, entry *logging.Segment, from uint64) ([]byte, error) {
	if from >= entry.End() {
		return nil, src.corrupt(entry.Start, 0, errNoBlock)
	}
	begin := mark{position: from, offset: src.offset(from)}
	if from == entry.Start {
		begin = src.begin(entry)
	}
	file := itemsIn(src.file, src.size, begin, src.compacted(), scanBuffer)
	var digests []hash
	var touches []uint64 // agent << 32 | offset; offsets fit: MaxSegmentBytes
	var marks []mark
	chain := entry.ChainIn
	for file.position < entry.End() {
		here := file.mark()
		i, err := file.next()
		switch {
		case err != nil && (contentual(err) || errors.Is(err, syscall.EIO)):
			return nil, src.corrupt(here.position, here.offset, err)
		case err != nil:
			return nil, fmt.Errorf("index segment: %w", err)
		}
		here.seq = i.FirstSeq
		marks = noteMark(marks, here)
		if !i.Archived() {
			chain = i.Block.PrevChain
			touches = appendTouches(touches, &i.Block, here.position-entry.Start)
		}
		digest := i.Digest()
		chain = logging.ChainAfter(chain, digest)
		digests = append(digests, digest)
	}
	if file.position != entry.End() || chain != entry.ChainOut {
		return nil, src.corrupt(entry.Start, 0, errOtherChain)
	}
	slices.Sort(touches)
	var nodes []byte
	if from == entry.Start {
		nodes = appendNodes(nil, entry.FirstLeaf, digests)
	}
	return appendIndex(nil, entry, from, src.checksum(), marks, nodes, touches), nil
}

// appendTouches notes the agents that a block at an offset of the segment touches.
func appendTouches(touches []uint64, b *logging.Block, offset uint64) []uint64 {
	for i := range b.Touched() {
		agent, _ := b.TouchedAt(i)
		touches = append(touches, uint64(agent)<<32|offset)
	}
	return touches
}

// errOtherChain: a segment file that is sound, but not the one in the manifest.
var errOtherChain = errors.New("segment does not end in the manifest's chain value")

// appendIndex writes a sidecar. touches are sorted.
func appendIndex(dst []byte, entry *logging.Segment, from uint64, of uint32, marks []mark, nodes []byte, touches []uint64) []byte {
	agents, offsets := postings(touches)
	dst = append(dst, indexMagic...)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, fileVersion)
	dst = binary.LittleEndian.AppendUint64(dst, entry.Start)
	dst = binary.LittleEndian.AppendUint64(dst, from)
	dst = binary.LittleEndian.AppendUint64(dst, entry.Bytes)
	dst = append(dst, entry.ChainOut[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(marks)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(agents)/agentBytes))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(nodes)/logging.HashBytes))
	dst = binary.LittleEndian.AppendUint32(dst, of)
	for _, m := range marks {
		dst = binary.LittleEndian.AppendUint64(dst, m.seq)
		dst = binary.LittleEndian.AppendUint64(dst, m.position)
		dst = binary.LittleEndian.AppendUint64(dst, m.offset)
	}
	dst = append(append(append(dst, nodes...), agents...), offsets...)
	binary.LittleEndian.PutUint32(dst[offsetCRC:], crc32.Checksum(dst[offsetVersion:], castagnoli))
	return dst
}

// postings turns sorted touches into the agent table and the offset list.
func postings(touches []uint64) (agents, offsets []byte) {
	for i := 0; i < len(touches); {
		agent, at, before, count := uint32(touches[i]>>32), len(offsets), uint64(0), uint32(0)
		for ; i < len(touches) && uint32(touches[i]>>32) == agent; i++ {
			offset := touches[i] & 0xffffffff
			offsets = binary.AppendUvarint(offsets, offset-before)
			before = offset
			count++
		}
		agents = binary.LittleEndian.AppendUint32(agents, agent)
		agents = binary.LittleEndian.AppendUint32(agents, count)
		agents = binary.LittleEndian.AppendUint32(agents, uint32(at))
	}
	return agents, offsets
}
