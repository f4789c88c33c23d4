package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// A gap marker says that its segment file holds blocks only from a position on.
// All integers are little endian.
//
//	offset  bytes  field
//	     0      8  magic "OMNIGAP\n"
//	     8      4  CRC32C of bytes 12 to the end
//	    12      4  file version, 0
//	    16     32  owner
//	    48      8  start of the segment
//	    56      8  position from which on blocks are here
//	    64      8  busSeq of the first record there
//	    72     32  chain value before it
const (
	gapMagic = "OMNIGAP\n"
	gapBytes = 104
)

// gap is a decoded marker.
type gap struct {
	owner    [32]byte
	start    uint64
	from     uint64
	firstSeq uint64
	chain    [logging.HashBytes]byte
}

func (g *gap) append(dst []byte) []byte {
	base := len(dst)
	dst = append(dst, gapMagic...)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, fileVersion)
	dst = append(dst, g.owner[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, g.start)
	dst = binary.LittleEndian.AppendUint64(dst, g.from)
	dst = binary.LittleEndian.AppendUint64(dst, g.firstSeq)
	dst = append(dst, g.chain[:]...)
	binary.LittleEndian.PutUint32(dst[base+offsetCRC:], crc32.Checksum(dst[base+offsetVersion:], castagnoli))
	return dst
}

// parseGap reads a marker. It answers errTorn for what is none, and a
// *VersionError for one of another version.
func parseGap(b []byte) (gap, error) {
	if len(b) < offsetOwner || !bytes.HasPrefix(b, []byte(gapMagic)) ||
		crc32.Checksum(b[offsetVersion:], castagnoli) != binary.LittleEndian.Uint32(b[offsetCRC:]) {
		return gap{}, errTorn
	}
	if v := binary.LittleEndian.Uint32(b[offsetVersion:]); v != fileVersion {
		return gap{}, &VersionError{Version: v}
	}
	if len(b) != gapBytes {
		return gap{}, errTorn
	}
	return gap{
		owner:    [32]byte(b[offsetOwner:]),
		start:    binary.LittleEndian.Uint64(b[48:]),
		from:     binary.LittleEndian.Uint64(b[56:]),
		firstSeq: binary.LittleEndian.Uint64(b[64:]),
		chain:    [logging.HashBytes]byte(b[72:]),
	}, nil
}

// readGap reads the marker of the segment that begins at start, naming the file in
// the error of another version.
func (d directory) readGap(start uint64) (gap, error) {
	path := d.path(start, gapSuffix)
	b, err := os.ReadFile(path)
	if err != nil {
		return gap{}, err
	}
	g, err := parseGap(b)
	return g, named(err, path)
}

// beginningOf is the point at which a segment begins.
func beginningOf(h logging.Head) logging.Point {
	return logging.Point{NextSeq: h.FirstSeq, Position: h.Start, Chain: h.ChainIn}
}

// begin is the point from which on a segment's blocks are here: its start, or
// what its gap marker says. The marker's damage is a *CorruptError.
func (d directory) begin(owner [32]byte, h logging.Head) (logging.Point, error) {
	whole := beginningOf(h)
	g, err := d.readGap(h.Start)
	switch {
	case notExist(err):
		return whole, nil
	case errors.Is(err, errTorn) || (err == nil && (g.owner != owner || g.start != h.Start || g.from < h.Start)):
		return whole, d.corruptFile(h.Start, gapSuffix, errTorn)
	case err != nil:
		return whole, err
	}
	return logging.Point{NextSeq: g.firstSeq, Position: g.from, Chain: g.chain}, nil
}
