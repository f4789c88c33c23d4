package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// buildIndex reads a sealed segment from the position from on and gives the
// bytes of its sidecar. A damaged segment is a *CorruptError.
func buildIndex(d directory, entry *logging.Segment, from uint64) ([]byte, error) {
	if from >= entry.End() {
		return nil, d.corrupt(entry.Start, entry.Start, errNoBlock)
	}
	f, err := os.Open(d.path(entry.Start, segmentSuffix))
	if notExist(err) {
		return nil, d.corrupt(entry.Start, from, errNoFile)
	}
	if err != nil {
		return nil, fmt.Errorf("index segment: %w", err)
	}
	defer f.Close()
	section := io.NewSectionReader(f, offsetIn(entry.Start, from), int64(entry.End()-from))
	scanner := NewScanner(section)
	var marks []mark
	var nodes []byte
	var digests []hash
	var touches []uint64 // agent << 32 | offset; offsets fit: MaxSegmentBytes
	position, chain := from, [logging.HashBytes]byte{}
	for position < entry.End() {
		raw, err := scanner.Next()
		var block logging.Block
		if err == nil {
			block, err = logging.Decode(raw)
		}
		var malformed *logging.DecodeError
		if err != nil && (isEnd(err) || errors.As(err, &malformed)) {
			return nil, d.corrupt(entry.Start, position, err)
		}
		if err != nil {
			return nil, fmt.Errorf("index segment: %w", err)
		}
		marks = noteMark(marks, position, block.FirstSeq)
		for i := range block.Touched() {
			agent, _ := block.TouchedAt(i)
			touches = append(touches, uint64(agent)<<32|(position-entry.Start))
		}
		digests = append(digests, block.Digest())
		position += uint64(len(raw))
		if position == entry.End() {
			chain = block.Chain()
		}
	}
	if chain != entry.ChainOut {
		return nil, d.corrupt(entry.Start, entry.Start, errOtherChain)
	}
	slices.Sort(touches)
	if from == entry.Start {
		nodes = appendNodes(nil, entry.FirstLeaf, digests)
	}
	return appendIndex(nil, entry, from, marks, nodes, touches), nil
}

// errOtherChain: a segment file that is sound, but not the one in the manifest.
var errOtherChain = errors.New("segment does not end in the manifest's chain value")

// appendIndex writes a sidecar. touches are sorted.
func appendIndex(dst []byte, entry *logging.Segment, from uint64, marks []mark, nodes []byte, touches []uint64) []byte {
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
	for _, m := range marks {
		dst = binary.LittleEndian.AppendUint64(dst, m.seq)
		dst = binary.LittleEndian.AppendUint64(dst, m.position)
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
