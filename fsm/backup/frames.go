package backup

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// frameWriter writes frames and keeps count.
type frameWriter struct {
	to    io.Writer
	sum   hash.Hash
	at    int64
	frame []byte // what is being gathered; room for its head first
	part  Part
}

func newFrameWriter(to io.Writer) (*frameWriter, error) {
	w := &frameWriter{to: to, sum: sha256.New(), frame: make([]byte, headBytes, headBytes+pieceBytes+sumBytes)}
	return w, w.emit(binary.LittleEndian.AppendUint32([]byte(magic), format))
}

func (w *frameWriter) emit(b []byte) error {
	_, _ = w.sum.Write(b) // a hash never fails
	w.at += int64(len(b))
	_, err := w.to.Write(b)
	return err
}

// begin a part; the one before it is ended.
func (w *frameWriter) begin(p Part) error {
	err := w.flush()
	w.part = p
	return err
}

// flush ends the frame that is being gathered.
func (w *frameWriter) flush() error {
	if len(w.frame) == headBytes {
		return nil
	}
	w.frame[0] = byte(w.part)
	binary.LittleEndian.PutUint32(w.frame[1:], uint32(len(w.frame)-headBytes))
	w.frame = binary.LittleEndian.AppendUint32(w.frame, checksum(w.at, w.frame))
	err := w.emit(w.frame)
	w.frame = w.frame[:headBytes]
	return err
}

// Write adds bytes that may be cut anywhere.
func (w *frameWriter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(len(rest), pieceBytes-(len(w.frame)-headBytes))
		w.frame = append(w.frame, rest[:n]...)
		rest = rest[n:]
		if len(w.frame)-headBytes == pieceBytes {
			if err := w.flush(); err != nil {
				return len(b) - len(rest), err
			}
		}
	}
	return len(b), nil
}

// whole adds bytes that stay in one frame.
func (w *frameWriter) whole(b []byte) error {
	w.frame = append(w.frame, b...)
	if len(w.frame)-headBytes < pieceBytes {
		return nil
	}
	return w.flush()
}

// frameReader reads frames one by one and checks each.
type frameReader struct {
	from *bufio.Reader
	tee  io.Writer // is given every frame that was found sound
	sum  hash.Hash // over everything before the trailer
	at   int64     // where the next frame begins
	buf  []byte

	// The present frame.
	part   Part
	body   []byte
	offset int64 // of the frame
	named  Part  // as what an error speaks of it: before its checksum, what it says to be
}

func newFrameReader(from io.Reader, tee io.Writer) *frameReader {
	return &frameReader{from: bufio.NewReaderSize(from, pieceBytes), tee: tee, sum: sha256.New()}
}

func (r *frameReader) broken(what string, err error) error {
	return &Broken{Offset: r.offset, Part: r.named, What: what, Err: err}
}

// start reads magic and format.
func (r *frameReader) start() error {
	// What is too short to be one may still be something else altogether.
	if first, _ := r.from.Peek(len(magic)); !strings.HasPrefix(magic, string(first)) {
		return r.broken("this is no backup of an omni kernel", nil)
	}
	b, err := r.take(nil, startBytes)
	if err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint32(b[len(magic):]); n > format {
		return &NewerError{What: "format", Version: uint64(n), Known: format}
	}
	return r.sound(b)
}

// next reads the next frame, whose body is valid until the call after.
func (r *frameReader) next() error {
	r.offset, r.named = r.at, r.part
	head, err := r.take(r.buf[:0], headBytes)
	if err != nil {
		return err
	}
	part, length := Part(head[0]), int(binary.LittleEndian.Uint32(head[1:]))
	if length > part.longest() || length < 0 {
		return r.broken(fmt.Sprintf("a frame of part %d with %d bytes is impossible", head[0], length), nil)
	}
	if part < r.part || part > r.part+1 && !(r.part == PartState && part == PartTrailer) {
		return r.broken(fmt.Sprintf("the %s does not follow here", part), nil)
	}
	r.named = part
	frame, err := r.take(head, length+sumBytes)
	if err != nil {
		return err
	}
	r.buf = frame
	checked := frame[:headBytes+length]
	if checksum(r.offset, checked) != binary.LittleEndian.Uint32(frame[len(checked):]) {
		return r.broken("the checksum of a frame does not match", nil)
	}
	r.part, r.body = part, checked[headBytes:]
	return r.sound(frame)
}

// sound passes bytes on that were checked.
func (r *frameReader) sound(b []byte) error {
	r.at += int64(len(b))
	if r.part != PartTrailer {
		_, _ = r.sum.Write(b) // a hash never fails
	}
	_, err := r.tee.Write(b)
	return err
}

// take appends n bytes of the stream. Memory grows with what has arrived, not
// with what a length promises.
func (r *frameReader) take(b []byte, n int) ([]byte, error) {
	for n > 0 {
		piece := min(n, pieceBytes)
		at := len(b)
		b = append(b, make([]byte, piece)...)
		if got, err := io.ReadFull(r.from, b[at:]); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, r.broken(fmt.Sprintf("it ends after %d bytes, before its trailer", r.at+int64(at+got)), nil)
			}
			return nil, fmt.Errorf("read backup: %w", err)
		}
		n -= piece
	}
	return b, nil
}

// end checks that nothing follows.
func (r *frameReader) end() error {
	switch _, err := r.from.ReadByte(); {
	case err == nil:
		r.offset = r.at
		return r.broken("something follows the trailer", nil)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read backup: %w", err)
	}
	return nil
}
