package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/kernel"
)

// Reader reads one snapshot that ends where its stream ends.
type Reader struct {
	from   io.Reader
	header Header
	digest *kernel.Digester
	sum    [32]byte
	over   bool
}

// NewReader reads the header. from should be buffered.
func NewReader(from io.Reader) (*Reader, error) {
	h, err := readHeader(from)
	return &Reader{from: from, header: h, digest: kernel.NewDigester()}, err
}

// Header is what the snapshot says about itself.
func (r *Reader) Header() Header { return r.header }

// Digest is the state's digest, once Next has answered io.EOF.
func (r *Reader) Digest() [32]byte { return r.sum }

// Next gives the next section, which the caller may keep. It answers io.EOF
// after the last one, when the trailer agrees with all that came before and
// nothing follows it.
func (r *Reader) Next() (kernel.Section, error) {
	if r.over {
		return kernel.Section{}, io.EOF
	}
	section, err := r.read()
	if err != nil {
		return kernel.Section{}, err
	}
	if section.Kind != sectionTrailer {
		r.digest.Add(section)
		return section, nil
	}
	if r.sum = r.digest.Sum(); !bytes.Equal(section.Body, r.sum[:]) {
		return kernel.Section{}, fmt.Errorf("%w: its digest does not match", ErrDamaged)
	}
	var more [1]byte
	switch _, err := io.ReadFull(r.from, more[:]); {
	case err == nil:
		return kernel.Section{}, fmt.Errorf("%w: bytes after its trailer", ErrDamaged)
	case !errors.Is(err, io.EOF):
		return kernel.Section{}, err
	}
	r.over = true
	return kernel.Section{}, io.EOF
}

func (r *Reader) read() (kernel.Section, error) {
	var head [5]byte
	if _, err := io.ReadFull(r.from, head[:]); err != nil {
		return kernel.Section{}, ended(err, ErrDamaged)
	}
	size := binary.LittleEndian.Uint32(head[1:])
	if size > maxSection {
		return kernel.Section{}, fmt.Errorf("%w: a section of %d bytes", ErrDamaged, size)
	}
	body, err := readBody(r.from, int(size))
	return kernel.Section{Kind: head[0], Body: body}, err
}

// readBody takes memory as bytes arrive, not as a length promises: most sections
// are one small row.
func readBody(from io.Reader, size int) ([]byte, error) {
	const piece = 64 << 10
	body := make([]byte, min(size, piece))
	for read := 0; ; {
		n, err := io.ReadFull(from, body[read:])
		if err != nil {
			return nil, ended(err, ErrDamaged)
		}
		if read += n; read == size {
			return body, nil
		}
		body = append(body, make([]byte, min(size-read, read))...)
	}
}
