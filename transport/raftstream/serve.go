package raftstream

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// serve answers the requests of one stream, one after the other, until it is
// closed, idle too long, or not understood.
func (p *Peers) serve(s *stream) {
	defer func() { _ = s.Close() }()
	limits := p.kernel.endpoint.options.Limits
	reader := bufio.NewReader(s)
	var request, answer []byte
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
		if cap(request) < length {
			request = make([]byte, length)
		}
		request = request[:length]
		if _, err := io.ReadFull(reader, request); err != nil {
			return
		}
		timeout := time.Duration(min(binary.BigEndian.Uint32(request[1:]), maxTimeoutMillis)) * time.Millisecond
		status, body := p.answer(s.node, request[0], timeout, request[requestHead:])
		answer = appendAnswer(answer[:0], status, body)
		_ = s.SetWriteDeadline(time.Now().Add(limits.Handshake))
		if _, err := s.Write(answer); err != nil {
			return
		}
	}
}

// answer runs the handler.
func (p *Peers) answer(from string, kind byte, timeout time.Duration, body []byte) (status byte, out []byte) {
	handler := p.handler.Load()
	if handler == nil {
		return statusNoHandler, nil
	}
	ctx, cancel := context.WithTimeout(p.kernel.ctx, timeout)
	defer cancel()
	out, err := (*handler)(ctx, from, kind, body)
	if most := p.kernel.endpoint.options.Limits.FrameBytes; err == nil && len(out) > most {
		err = fmt.Errorf("an answer of %d bytes: %w", len(out), ErrFrameTooLarge)
	}
	if err != nil {
		text := err.Error()
		return statusError, []byte(text[:min(len(text), maxErrorText)])
	}
	return statusOK, out
}
