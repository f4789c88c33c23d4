package segment

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// A compacted segment holds what is kept of an archived one: blocks as they are,
// and stubs of those that were dropped, back to back in the log's order. All
// integers are little endian.
//
//	offset  bytes  field
//	     0      8  magic "OMNICMP\n"
//	     8      4  CRC32C of bytes 12 to 167
//	    12      4  file version, 0
//	    16     32  owner: digest of cluster id and kernel id
//	    48      8  start: position of the first block
//	    56      8  busSeq of the first record
//	    64     32  chain value before the first block
//	    96     32  chain value after the last block
//	   128      8  archived at: the Raft index as of which blocks were dropped; 0
//	               when the file came from a peer and who dropped what is not known
//	   136      8  bytes of the blocks that the segment stands for
//	   144      8  bytes of what follows the header
//	   152      8  number of blocks kept
//	   160      8  number of stubs
//	   168      …  blocks and stubs
//
// It is a function of the segment and of the blocks that are dropped as of that
// index, and therefore the same on every replica.
const (
	compactedMagic = "OMNICMP\n"
	compactedBytes = 168
)

// compactedHead is a decoded header.
type compactedHead struct {
	head
	chainOut   [logging.HashBytes]byte
	archivedAt uint64
	bytes      uint64
	size       uint64
	kept       uint64
	dropped    uint64
	checksum   uint32
}

// append writes the header's bytes.
func (c *compactedHead) append(dst []byte) []byte {
	base := len(dst)
	dst = append(dst, compactedMagic...)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, fileVersion)
	dst = c.head.appendFields(dst)
	dst = append(dst, c.chainOut[:]...)
	for _, n := range []uint64{c.archivedAt, c.bytes, c.size, c.kept, c.dropped} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	binary.LittleEndian.PutUint32(dst[base+offsetCRC:], crc32.Checksum(dst[base+offsetVersion:], castagnoli))
	return dst
}

// parseCompacted reads a header. It answers errTorn for what is none, and a
// *VersionError for one of another version.
func parseCompacted(b []byte) (compactedHead, error) {
	if len(b) < compactedBytes || !bytes.HasPrefix(b, []byte(compactedMagic)) {
		return compactedHead{}, errTorn
	}
	b = b[:compactedBytes]
	checksum := binary.LittleEndian.Uint32(b[offsetCRC:])
	if crc32.Checksum(b[offsetVersion:], castagnoli) != checksum {
		return compactedHead{}, errTorn
	}
	if v := binary.LittleEndian.Uint32(b[offsetVersion:]); v != fileVersion {
		return compactedHead{}, &VersionError{Version: v}
	}
	return compactedHead{
		head:       headFields(b),
		chainOut:   [logging.HashBytes]byte(b[96:]),
		archivedAt: binary.LittleEndian.Uint64(b[128:]),
		bytes:      binary.LittleEndian.Uint64(b[136:]),
		size:       binary.LittleEndian.Uint64(b[144:]),
		kept:       binary.LittleEndian.Uint64(b[152:]),
		dropped:    binary.LittleEndian.Uint64(b[160:]),
		checksum:   checksum,
	}, nil
}

// readCompacted reads the header of an open compacted segment.
func readCompacted(f io.ReaderAt, path string) (compactedHead, error) {
	var b [compactedBytes]byte
	if err := readStart(f, b[:]); err != nil {
		return compactedHead{}, err
	}
	c, err := parseCompacted(b[:])
	return c, named(err, path)
}

// belongs tells whether the file is that of the segment.
func (c *compactedHead) belongs(owner [32]byte, entry *logging.Segment) bool {
	return c.begins(owner, headOfSegment(entry)) && c.bytes == entry.Bytes && c.chainOut == entry.ChainOut
}
