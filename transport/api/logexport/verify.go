package logexport

import (
	"errors"
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
	reader, err := newReader(r, w)
	for err == nil {
		_, _, err = reader.Next()
	}
	if !errors.Is(err, io.EOF) {
		return Summary{}, err
	}
	return reader.sum, nil
}

// Reader reads one export block by block, and checks what it reads as Verify
// does. What it gives is to be trusted as the export's only when the end was
// reached: Next has answered io.EOF.
type Reader struct {
	in       input
	verifier *logging.Verifier
	from     uint64 // busSeq
	sum      Summary
	ended    error // what every further Next answers
}

// NewReader reads the header. The error is a *Broken, or the reader's own.
func NewReader(from io.Reader) (*Reader, error) { return newReader(from, io.Discard) }

func newReader(from io.Reader, to io.Writer) (*Reader, error) {
	r := &Reader{in: newInput("log export", from, to)}
	point, err := r.header()
	if err != nil {
		return nil, err
	}
	r.verifier, r.from = logging.NewVerifier(point), point.NextSeq
	return r, nil
}

// Summary is what was read so far; the whole of it after io.EOF.
func (r *Reader) Summary() Summary { return r.sum }

// Next gives the next block and its position, until io.EOF. The block is valid
// until the next call.
func (r *Reader) Next() (position uint64, block *logging.Block, err error) {
	if r.ended != nil {
		return 0, nil, r.ended
	}
	position, block, err = r.next()
	r.ended = err
	return position, block, err
}

func (r *Reader) next() (position uint64, block *logging.Block, err error) {
	raw, err := r.in.block()
	switch {
	case err != nil:
		return 0, nil, err
	case raw == nil:
		if err := r.trailer(); err != nil {
			return 0, nil, err
		}
		return 0, nil, io.EOF
	}
	position = r.verifier.Point().Position
	b, _, err := r.verifier.Next(raw)
	if err != nil {
		return 0, nil, r.in.broken("the block does not continue the log", err)
	}
	r.sum.Blocks++
	r.sum.Bytes += uint64(len(raw))
	r.reached(r.verifier.Point())
	return position, &b, nil
}

func (r *Reader) reached(end logging.Point) {
	r.sum.NextSeq, r.sum.LastIndex, r.sum.Chain = end.NextSeq, end.LastIndex, chainText(end.Chain)
	r.sum.Records = end.NextSeq - r.from
}

func (r *Reader) header() (logging.Point, error) {
	if err := r.in.start(magic); err != nil {
		return logging.Point{}, err
	}
	var h header
	if err := r.in.frame(&h); err != nil {
		return logging.Point{}, err
	}
	chain, ok := parseChain(h.Chain)
	if !ok || h.FromSeq == 0 {
		return logging.Point{}, r.in.broken("the header is malformed", nil)
	}
	r.sum.ClusterID, r.sum.KernelID, r.sum.FromSeq = h.ClusterID, h.KernelID, h.FromSeq
	if h.FromSeq == 1 {
		if h.Position != 0 || chain != logging.GenesisChain(h.KernelID) {
			return logging.Point{}, r.in.broken("it claims to begin at the beginning, with another chain value than the kernel's", nil)
		}
		r.sum.Genesis = true
	}
	point := logging.Point{NextSeq: h.FromSeq, Position: h.Position, Chain: chain}
	r.from = h.FromSeq
	r.reached(point)
	return point, nil
}

func (r *Reader) trailer() error {
	var t trailer
	if err := r.in.frame(&t); err != nil {
		return err
	}
	if t.NextSeq != r.sum.NextSeq || t.Blocks != r.sum.Blocks || t.Chain != r.sum.Chain {
		return r.in.broken("the trailer does not belong to the blocks", nil)
	}
	return r.in.end()
}
