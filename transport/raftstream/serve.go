package raftstream

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"time"
)

// serve answers the requests of one stream, one after the other, until it is
// closed, idle too long, or not understood.
func (p *Peers) serve(s *stream) {
	defer func() { _ = s.Close() }()
	limits := p.kernel.endpoint.options.Limits
	reader := bufio.NewReader(s)
	var request, answer, room []byte
	for {
		_ = s.SetReadDeadline(time.Now().Add(limits.Idle))
		if _, err := reader.Peek(1); err != nil {
			return
		}
		_ = s.SetReadDeadline(time.Now().Add(limits.Handshake))
		length, err := readLength(reader, requestHead, limits.FrameBytes)
		if err != nil {
			p.kernel.endpoint.options.Logger.Warn("peer request not understood", "node", s.node, "error", err)
			return
		}
		if request, err = readFrame(reader, request, length); err != nil {
			return
		}
		if p.kind == StreamHistory && room == nil {
			room = make([]byte, 0, limits.FrameBytes) // not before anybody has asked for anything
		}
		timeout := time.Duration(min(binary.BigEndian.Uint32(request[1:]), maxTimeoutMillis)) * time.Millisecond
		status, body := p.answer(s.node, request[0], timeout, request[requestHead:], room)
		answer = answerHeader(answer[:0], status, body)
		_ = s.SetWriteDeadline(time.Now().Add(p.writeLimit(timeout)))
		if err := s.writeAnswer(&answer, body); err != nil {
			return
		}
	}
}

// smallAnswer is up to which size an answer is written at once with its header,
// in bytes.
const smallAnswer = 64 << 10

// writeAnswer writes a header and its body. A large body is not copied.
func (s *stream) writeAnswer(header *[]byte, body []byte) error {
	if len(body) <= smallAnswer {
		*header = append(*header, body...)
		body = nil
	}
	_, err := s.Write(*header)
	if err == nil && len(body) > 0 {
		_, err = s.Write(body)
	}
	return err
}

// longestWrite bounds how long a caller can keep a stream by not reading.
const longestWrite = time.Minute

// writeLimit is how long an answer may take to be written. A large one may take
// as long as the caller waits for it.
func (p *Peers) writeLimit(timeout time.Duration) time.Duration {
	least := p.kernel.endpoint.options.Limits.Handshake
	if p.kind == StreamHistory {
		return max(least, min(timeout, longestWrite))
	}
	return least
}

// answer runs the handler.
func (p *Peers) answer(from string, kind byte, timeout time.Duration, body, room []byte) (status byte, out []byte) {
	handler := p.handler.Load()
	if handler == nil {
		return statusNoHandler, nil
	}
	ctx, cancel := context.WithTimeout(p.kernel.ctx, timeout)
	defer cancel()
	out, err := (*handler)(ctx, from, kind, body, room)
	if most := p.kernel.endpoint.options.Limits.FrameBytes; err == nil && len(out) > most {
		err = fmt.Errorf("an answer of %d bytes: %w", len(out), ErrFrameTooLarge)
	}
	if err != nil {
		text := err.Error()
		return statusError, []byte(text[:min(len(text), maxErrorText)])
	}
	return statusOK, out
}
