package logexport

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// An export, all integers little endian:
//
//	┌───────────┬────────┬──────────────┬───────────────────┬────────┬──────────────┐
//	│ magic     │ format │ frame:       │ blocks as in the  │ 0      │ frame:       │
//	│ OMNIEXP\n │ 4      │ header, JSON │ log, back to back │ 4      │ trailer,JSON │
//	└───────────┴────────┴──────────────┴───────────────────┴────────┴──────────────┘
//	frame: length of the JSON (4), JSON, CRC32C of the JSON (4)
//
// A block begins with its own length, which is never 0.
const (
	magic    = "OMNIEXP\n"
	format   = 0 // no promise of compatibility before the first release
	maxFrame = 64 << 10
)

// ContentType of an export.
const ContentType = "application/vnd.omnikernel.log"

// castagnoli is never written after it was made.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the place in the log that the first block follows.
type header struct {
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	FromSeq   uint64 `json:"from_bus_seq"` // first record of the first block
	Position  uint64 `json:"position"`
	Chain     string `json:"chain"`
}

// trailer is the place after the last block.
type trailer struct {
	NextSeq uint64 `json:"next_bus_seq"`
	Blocks  uint64 `json:"blocks"`
	Chain   string `json:"chain"`
}

// Broken says that a stream is no complete, unbroken export.
type Broken struct {
	File   string // what it should be
	Offset int64  // bytes into the stream
	What   string
	Err    error // more about it; may be nil
}

// Error implements error.
func (b *Broken) Error() string {
	s := fmt.Sprintf("%s: broken at byte %d: %s", b.File, b.Offset, b.What)
	if b.Err != nil {
		s += ": " + b.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (b *Broken) Unwrap() error { return b.Err }

func appendFrame(dst []byte, content any) ([]byte, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	dst = append(dst, body...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(body, castagnoli)), nil
}

func chainText(chain [logging.HashBytes]byte) string { return hex.EncodeToString(chain[:]) }

func parseChain(s string) (chain [logging.HashBytes]byte, ok bool) {
	n, err := hex.Decode(chain[:], []byte(s))
	return chain, err == nil && n == len(chain) && len(s) == 2*len(chain)
}
