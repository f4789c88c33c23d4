package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds one line of a stream: a record holds one event's body at most.
const maxLine = 4 << 20

// frame is one event of a stream of Server-Sent Events. data is valid until the
// next one is read.
type frame struct {
	name string
	data []byte
	id   string // the last id so far
}

// frames reads a stream. Frames without data are read over, but their id
// counts, as the standard has it.
type frames struct {
	from *bufio.Reader
	line []byte
	f    frame
}

func newFrames(r io.Reader) *frames { return &frames{from: bufio.NewReaderSize(r, 64<<10)} }

var errLongLine = errors.New("a line of the stream is longer than a line may be")

// next gives the next frame, with data or without: ok tells.
func (r *frames) next() (f frame, ok bool, err error) {
	r.f.name, r.f.data = "", r.f.data[:0]
	for {
		line, err := r.readLine()
		if err != nil {
			return frame{}, false, err
		}
		if len(line) == 0 {
			return r.f, len(r.f.data) > 0, nil
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "event":
			r.f.name = string(value)
		case "data":
			if len(r.f.data) > 0 {
				r.f.data = append(r.f.data, '\n')
			}
			if r.f.data = append(r.f.data, value...); len(r.f.data) > maxLine {
				return frame{}, false, errLongLine
			}
		case "id":
			r.f.id = string(value)
		}
	}
}

func (r *frames) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		part, err := r.from.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(r.line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(r.line) > maxLine:
			return nil, errLongLine
		}
	}
}
