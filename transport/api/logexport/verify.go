package logexport

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Summary of a verified export.
type Summary struct {
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	FromSeq   uint64 `json:"from_bus_seq"` // first record
	NextSeq   uint64 `json:"next_bus_seq"` // one above the last record
	Blocks    uint64 `json:"blocks"`
	Records   uint64 `json:"records"`
	Bytes     uint64 `json:"bytes"`      // of the blocks
	LastIndex uint64 `json:"last_index"` // Raft index of the last block; 0 without blocks
	Chain     string `json:"chain"`      // hex, after the last block
	Genesis   bool   `json:"genesis"`    // it begins at the log's beginning, with the kernel's own chain value
}

// Verify reads one export to its end and checks everything that can be checked
// without the cluster. The error is a *Broken, or the reader's own.
func Verify(r io.Reader) (Summary, error) { return Copy(io.Discard, r) }

// Copy does what Verify does, and writes every byte that it has read to w.
func Copy(w io.Writer, r io.Reader) (Summary, error) {
	v := &verification{from: bufio.NewReaderSize(r, 64<<10), to: w}
	if err := v.run(); err != nil {
		return Summary{}, err
	}
	return v.sum, nil
}

type verification struct {
	from *bufio.Reader
	to   io.Writer
	at   int64
	raw  []byte
	sum  Summary
}

func (v *verification) run() error {
	point, err := v.header()
	if err != nil {
		return err
	}
	verifier := logging.NewVerifier(point)
	for {
		raw, err := v.block()
		if err != nil {
			return err
		}
		if raw == nil {
			break
		}
		if err := verifier.Feed(raw); err != nil {
			return v.broken("the block does not continue the log", err)
		}
		v.sum.Blocks++
		v.sum.Bytes += uint64(len(raw))
	}
	end := verifier.Point()
	v.sum.NextSeq, v.sum.LastIndex, v.sum.Chain = end.NextSeq, end.LastIndex, chainText(end.Chain)
	v.sum.Records = end.NextSeq - point.NextSeq
	return v.trailer()
}

func (v *verification) header() (logging.Point, error) {
	start, err := v.take(len(magic) + 4)
	if err != nil {
		return logging.Point{}, err
	}
	if string(start[:len(magic)]) != magic {
		return logging.Point{}, v.broken("this is no log export", nil)
	}
	if n := binary.LittleEndian.Uint32(start[len(magic):]); n != format {
		return logging.Point{}, v.broken("written in a format that this program does not know", nil)
	}
	var h header
	if err := v.frame(&h); err != nil {
		return logging.Point{}, err
	}
	chain, ok := parseChain(h.Chain)
	if !ok || h.FromSeq == 0 {
		return logging.Point{}, v.broken("the header is malformed", nil)
	}
	v.sum.ClusterID, v.sum.KernelID, v.sum.FromSeq = h.ClusterID, h.KernelID, h.FromSeq
	if h.FromSeq == 1 {
		if h.Position != 0 || chain != logging.GenesisChain(h.KernelID) {
			return logging.Point{}, v.broken("it claims to begin at the beginning, with another chain value than the kernel's", nil)
		}
		v.sum.Genesis = true
	}
	return logging.Point{NextSeq: h.FromSeq, Position: h.Position, Chain: chain}, nil
}

// block gives the next block, or nil where the trailer begins.
func (v *verification) block() ([]byte, error) {
	prefix, err := v.from.Peek(logging.LengthBytes)
	if err != nil {
		return nil, v.ended(err)
	}
	if binary.LittleEndian.Uint32(prefix) == 0 {
		_, err := v.take(logging.LengthBytes)
		return nil, err
	}
	length, err := logging.BlockLen(prefix)
	if err != nil {
		return nil, v.broken("the length of a block is impossible", err)
	}
	return v.take(int(length))
}

func (v *verification) trailer() error {
	var t trailer
	if err := v.frame(&t); err != nil {
		return err
	}
	if t.NextSeq != v.sum.NextSeq || t.Blocks != v.sum.Blocks || t.Chain != v.sum.Chain {
		return v.broken("the trailer does not belong to the blocks", nil)
	}
	if _, err := v.from.Peek(1); !errors.Is(err, io.EOF) {
		return v.broken("something follows the trailer", nil)
	}
	return nil
}

func (v *verification) frame(into any) error {
	prefix, err := v.take(4)
	if err != nil {
		return err
	}
	length := binary.LittleEndian.Uint32(prefix)
	if length > maxFrame {
		return v.broken("the length of a frame is impossible", nil)
	}
	framed, err := v.take(int(length) + 4)
	if err != nil {
		return err
	}
	body := framed[:length]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(framed[length:]) {
		return v.broken("the checksum of a frame does not match", nil)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return v.broken("a frame is malformed", err)
	}
	return nil
}

// take reads n bytes, valid until the next call. Memory grows with what has
// arrived, not with what a length promises.
func (v *verification) take(n int) ([]byte, error) {
	const piece = 256 << 10
	v.raw = v.raw[:0]
	for len(v.raw) < n {
		at := len(v.raw)
		v.raw = append(v.raw, make([]byte, min(n-at, piece))...)
		if _, err := io.ReadFull(v.from, v.raw[at:]); err != nil {
			return nil, v.ended(err)
		}
	}
	if _, err := v.to.Write(v.raw); err != nil {
		return nil, err
	}
	v.at += int64(n)
	return v.raw, nil
}

func (v *verification) ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return v.broken("it ends before its trailer", nil)
	}
	return err
}

func (v *verification) broken(what string, err error) error {
	return &Broken{Offset: v.at, What: what, Err: err}
}
