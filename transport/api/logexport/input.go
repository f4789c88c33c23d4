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

// input reads the pieces that exports are made of, copies what it has read, and
// knows how far it is.
type input struct {
	name string // of the kind of file, for errors
	from *bufio.Reader
	to   io.Writer
	at   int64
	raw  []byte
}

func newInput(name string, from io.Reader, to io.Writer) input {
	return input{name: name, from: bufio.NewReaderSize(from, 64<<10), to: to}
}

// start reads the magic and the format.
func (in *input) start(magic string) error {
	start, err := in.take(len(magic) + 4)
	switch {
	case err != nil:
		return err
	case string(start[:len(magic)]) != magic:
		return in.broken("this is no "+in.name, nil)
	case binary.LittleEndian.Uint32(start[len(magic):]) != format:
		return in.broken("written in a format that this program does not know", nil)
	}
	return nil
}

// block gives the next block, or nil where a zero stands for its length.
func (in *input) block() ([]byte, error) {
	prefix, err := in.from.Peek(logging.LengthBytes)
	if err != nil {
		return nil, in.ended(err)
	}
	if binary.LittleEndian.Uint32(prefix) == 0 {
		_, err := in.take(logging.LengthBytes)
		return nil, err
	}
	length, err := logging.BlockLen(prefix)
	if err != nil {
		return nil, in.broken("the length of a block is impossible", err)
	}
	return in.take(int(length))
}

func (in *input) frame(into any) error {
	prefix, err := in.take(4)
	if err != nil {
		return err
	}
	length := binary.LittleEndian.Uint32(prefix)
	if length > maxFrame {
		return in.broken("the length of a frame is impossible", nil)
	}
	framed, err := in.take(int(length) + 4)
	if err != nil {
		return err
	}
	body := framed[:length]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(framed[length:]) {
		return in.broken("the checksum of a frame does not match", nil)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return in.broken("a frame is malformed", err)
	}
	return nil
}

// end answers for what follows the trailer: nothing may.
func (in *input) end() error {
	if _, err := in.from.Peek(1); !errors.Is(err, io.EOF) {
		return in.broken("something follows the trailer", nil)
	}
	return nil
}

// take reads n bytes, valid until the next call. Memory grows with what has
// arrived, not with what a length promises.
func (in *input) take(n int) ([]byte, error) {
	const piece = 256 << 10
	in.raw = in.raw[:0]
	for len(in.raw) < n {
		at := len(in.raw)
		in.raw = append(in.raw, make([]byte, min(n-at, piece))...)
		if _, err := io.ReadFull(in.from, in.raw[at:]); err != nil {
			return nil, in.ended(err)
		}
	}
	if _, err := in.to.Write(in.raw); err != nil {
		return nil, err
	}
	in.at += int64(n)
	return in.raw, nil
}

func (in *input) ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return in.broken("it ends before its trailer", nil)
	}
	return err
}

func (in *input) broken(what string, err error) error {
	return &Broken{File: in.name, Offset: in.at, What: what, Err: err}
}
