package segment

import (
	"bufio"
	"errors"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Scanner cuts a stream of blocks, back to back, into blocks: an exported log,
// or what follows the header of a segment file. It looks at lengths only; a
// logging.Verifier or Decode judges what it gives.
type Scanner struct {
	from  *bufio.Reader
	raw   []byte
	stubs bool // stubs stand among the blocks
}

// scanBuffer is how much is read at a time, in bytes.
const scanBuffer = 256 << 10

// NewScanner reads from r.
func NewScanner(r io.Reader) *Scanner { return newScanner(r, scanBuffer) }

func newScanner(r io.Reader, buffer int) *Scanner {
	return &Scanner{from: bufio.NewReaderSize(r, buffer)}
}

// Next gives the next block's bytes, valid until the next call. At the end of
// the stream it answers io.EOF; io.ErrUnexpectedEOF when the stream ends inside
// a block; a *logging.DecodeError when a length is impossible; else the stream's
// own error.
func (s *Scanner) Next() ([]byte, error) {
	prefix, err := s.from.Peek(logging.LengthBytes)
	if err != nil {
		if errors.Is(err, io.EOF) && len(prefix) > 0 {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, err
	}
	length, stub, err := logging.ItemLen(prefix)
	if err == nil && stub && !s.stubs {
		length, err = logging.BlockLen(prefix)
	}
	if err != nil {
		return nil, err
	}
	// The buffer grows with what has arrived, not with what a length promises.
	s.raw = s.raw[:0]
	for uint32(len(s.raw)) < length {
		piece := min(int(length)-len(s.raw), scanBuffer)
		at := len(s.raw)
		s.raw = append(s.raw, make([]byte, piece)...)
		if _, err := io.ReadFull(s.from, s.raw[at:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return s.raw, nil
}
