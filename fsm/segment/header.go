package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// A segment file is a header and then blocks, back to back. All integers are
// little endian.
//
//	offset  bytes  field
//	     0      8  magic "OMNISEG\n"
//	     8      4  CRC32C of bytes 12 to 95
//	    12      4  file version, 0
//	    16     32  owner: digest of cluster id and kernel id
//	    48      8  start: position of the first block
//	    56      8  busSeq of the first record
//	    64     32  chain value before the first block
//	    96      …  blocks
//
// Later versions keep the first 96 bytes under this checksum, so that an older
// program can tell a newer file from a damaged one.
const (
	headerBytes  = 96
	segmentMagic = "OMNISEG\n"
	fileVersion  = 0

	offsetCRC     = 8
	offsetVersion = 12
	offsetOwner   = 16
	offsetStart   = 48
	offsetSeq     = 56
	offsetChain   = 64
)

// castagnoli is never written after it was made.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errTorn says that a file's header is incomplete or damaged.
var errTorn = errors.New("header is incomplete or damaged")

// Owner is what a segment file carries to tell whose it is.
func Owner(clusterID, kernelID string) [32]byte {
	// The length keeps ("ab", "c") apart from ("a", "bc").
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(clusterID)))
	return sha256.Sum256(append(append(b, clusterID...), kernelID...))
}

// head is what a header says about its segment.
type head struct {
	owner    [32]byte
	start    uint64
	firstSeq uint64
	chainIn  [logging.HashBytes]byte
}

// headerOf is the header of the segment with this beginning.
func headerOf(owner [32]byte, at logging.Head) head {
	return head{owner: owner, start: at.Start, firstSeq: at.FirstSeq, chainIn: at.ChainIn}
}

// begins tells whether the header is that of the segment with this beginning.
func (h *head) begins(owner [32]byte, at logging.Head) bool {
	return h.owner == owner && h.start == at.Start && h.firstSeq == at.FirstSeq && h.chainIn == at.ChainIn
}

// append writes the header's bytes.
func (h *head) append(dst []byte) []byte {
	base := len(dst)
	dst = append(dst, segmentMagic...)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, fileVersion)
	dst = h.appendFields(dst)
	binary.LittleEndian.PutUint32(dst[base+offsetCRC:], crc32.Checksum(dst[base+offsetVersion:], castagnoli))
	return dst
}

// appendFields writes what says whose a file is and where it begins.
func (h *head) appendFields(dst []byte) []byte {
	dst = append(dst, h.owner[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, h.start)
	dst = binary.LittleEndian.AppendUint64(dst, h.firstSeq)
	return append(dst, h.chainIn[:]...)
}

// headFields reads what appendFields wrote, in a checked header.
func headFields(b []byte) head {
	return head{
		owner:    [32]byte(b[offsetOwner:]),
		start:    binary.LittleEndian.Uint64(b[offsetStart:]),
		firstSeq: binary.LittleEndian.Uint64(b[offsetSeq:]),
		chainIn:  [logging.HashBytes]byte(b[offsetChain:]),
	}
}

// parseHead reads a header. It answers errTorn for what is no header, and a
// *VersionError for one of another version.
func parseHead(b []byte) (head, error) {
	if len(b) < headerBytes || !bytes.HasPrefix(b, []byte(segmentMagic)) {
		return head{}, errTorn
	}
	b = b[:headerBytes]
	if crc32.Checksum(b[offsetVersion:], castagnoli) != binary.LittleEndian.Uint32(b[offsetCRC:]) {
		return head{}, errTorn
	}
	if v := binary.LittleEndian.Uint32(b[offsetVersion:]); v != fileVersion {
		return head{}, &VersionError{Version: v}
	}
	return headFields(b), nil
}

// readHead reads the header of an open segment file, naming the file in the
// error of another version.
func readHead(f io.ReaderAt, path string) (head, error) {
	var b [headerBytes]byte
	if err := readStart(f, b[:]); err != nil {
		return head{}, err
	}
	h, err := parseHead(b[:])
	return h, named(err, path)
}

// readStart reads a file's first bytes; errTorn when there are not so many.
func readStart(f io.ReaderAt, b []byte) error {
	n, err := f.ReadAt(b, 0)
	switch {
	case n == len(b):
		return nil
	case err != nil && !isEnd(err):
		return err
	}
	return errTorn
}

// named puts the file's name into the error of another version.
func named(err error, path string) error {
	var version *VersionError
	if errors.As(err, &version) {
		version.Path = path
	}
	return err
}
