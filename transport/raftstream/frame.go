package raftstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Frames on streams of kind StreamPeer and StreamHistory, numbers big-endian:
//
//	request: length[4] kind[1] timeoutMillis[4] body
//	answer:  length[4] status[1] body
//
// length counts what follows it. One request is under way on a stream at a
// time. The timeout is what the caller still has to wait; clocks are not
// compared.
const (
	lengthBytes = 4
	requestHead = 5
	answerHead  = 1
)

// Answers' statuses. Append only.
const (
	statusOK        byte = 0
	statusError     byte = 1 // body: the handler's error
	statusNoHandler byte = 2
)

// ErrFrameTooLarge: a request or an answer exceeds Limits.FrameBytes.
var ErrFrameTooLarge = errors.New("peer frame is too large")

// maxTimeoutMillis bounds how long a handler is told to work: an hour.
const maxTimeoutMillis = 3_600_000

// maxErrorText bounds an error's text on the wire, in bytes.
const maxErrorText = 512

// appendRequest builds a whole request in one buffer, for one write.
func appendRequest(out []byte, kind byte, timeoutMillis uint32, body []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(requestHead+len(body)))
	out = append(out, kind)
	out = binary.BigEndian.AppendUint32(out, timeoutMillis)
	return append(out, body...)
}

// answerHeader is what stands before an answer's body.
func answerHeader(out []byte, status byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(out, uint32(answerHead+len(body))), status)
}

// readLength reads a frame's length and checks its bounds before a byte of
// room is made for it.
func readLength(r io.Reader, smallest, largest int) (int, error) {
	var head [lengthBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	return frameLength(head[:], smallest, largest)
}

// frameLength checks the length that a frame begins with.
func frameLength(head []byte, smallest, largest int) (int, error) {
	length := binary.BigEndian.Uint32(head)
	if uint64(length) > uint64(smallest+largest) {
		return 0, fmt.Errorf("%d bytes: %w", length, ErrFrameTooLarge)
	}
	if int(length) < smallest {
		return 0, fmt.Errorf("peer frame of %d bytes: %w", length, errMalformed)
	}
	return int(length), nil
}

// firstPiece is how much room is made for a frame before any of it has come.
const firstPiece = 16 << 10

// readFrame reads length bytes, into room as far as it goes. More room is made
// as they come: what a length promises costs nothing.
func readFrame(r io.Reader, room []byte, length int) ([]byte, error) {
	frame := room[:min(length, cap(room))]
	for read := 0; ; {
		n, err := io.ReadFull(r, frame[read:])
		if read += n; err != nil || read == length {
			return frame, err
		}
		frame = append(make([]byte, 0, min(length, max(2*read, firstPiece))), frame...)
		frame = frame[:cap(frame)]
	}
}
