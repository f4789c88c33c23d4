package raftstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Handler answers a peer's request. from is the caller's node id as it gave it
// in the handshake. body is valid until the handler returns. ctx ends when the
// caller stops waiting or the kernel is closed. A handler may be run twice for
// one call, so it must be idempotent.
type Handler func(ctx context.Context, from string, kind byte, body []byte) ([]byte, error)

// Answerer is a Handler that may append its answer to room, which is empty and
// belongs to the stream: large answers need no memory of their own then. On
// streams for history it has room for the largest answer, elsewhere none.
type Answerer func(ctx context.Context, from string, kind byte, body, room []byte) ([]byte, error)

// RemoteError is the answer of a handler that failed, or of a node that has no
// handler (yet).
type RemoteError struct{ Message string }

func (e *RemoteError) Error() string { return "peer answered: " + e.Message }

// Peers asks other nodes and answers them, over streams that are kept for the
// next call.
type Peers struct {
	kernel  *Kernel
	kind    StreamKind
	conns   int       // calls under way to one address
	streams streamSet // both directions
	handler atomic.Pointer[Answerer]

	mu   sync.Mutex // guards idle
	idle map[string]*idlePeer
}

// idlePeer is one address: how many calls it has room for, and the streams
// that wait for the next one.
type idlePeer struct {
	room    chan struct{} // a token per call under way
	users   int           // calls that hold this entry
	streams []*stream
}

func newPeers(k *Kernel, kind StreamKind, conns int) *Peers {
	return &Peers{kernel: k, kind: kind, conns: conns, idle: make(map[string]*idlePeer)}
}

// Handle registers the one handler. Before that, requests are answered with a
// RemoteError.
func (p *Peers) Handle(h Handler) {
	p.Answer(func(ctx context.Context, from string, kind byte, body, _ []byte) ([]byte, error) {
		return h(ctx, from, kind, body)
	})
}

// Answer registers the one handler, in place of Handle.
func (p *Peers) Answer(h Answerer) { p.handler.Store(&h) }

// Call sends a request and waits for its answer, at most until the context
// ends, or Limits.Call when it has no deadline. Errors: the context's, Refused,
// RemoteError, ErrFrameTooLarge, or the network's. A request that met a reused
// stream which the other side had already closed is sent once more.
func (p *Peers) Call(ctx context.Context, address string, kind byte, body []byte) ([]byte, error) {
	return p.CallInto(ctx, address, kind, body, nil)
}

// CallInto is Call whose answer lies in room when it fits there.
func (p *Peers) CallInto(ctx context.Context, address string, kind byte, body, room []byte) ([]byte, error) {
	limits := p.kernel.endpoint.options.Limits
	if len(body) > limits.FrameBytes {
		return nil, fmt.Errorf("request of %d bytes: %w", len(body), ErrFrameTooLarge)
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limits.Call)
		defer cancel()
	}
	peer := p.hold(address)
	defer p.release(address, peer)
	select {
	case peer.room <- struct{}{}:
		defer func() { <-peer.room }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.kernel.ctx.Done():
		return nil, net.ErrClosed
	}
	for {
		s, reused, err := p.stream(ctx, address, peer)
		if err != nil {
			return nil, err
		}
		out, err := p.exchange(ctx, s, kind, body, room)
		var remote *RemoteError
		if err == nil || errors.As(err, &remote) {
			p.keep(peer, s)
			return out, err
		}
		_ = s.Close()
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			return nil, cmp.Or(ctx.Err(), context.DeadlineExceeded)
		}
		if !reused || !hungUp(err) {
			return nil, fmt.Errorf("ask %s: %w", address, err)
		}
	}
}

func (p *Peers) hold(address string) *idlePeer {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.idle[address]
	if peer == nil {
		peer = &idlePeer{room: make(chan struct{}, p.conns)}
		p.idle[address] = peer
	}
	peer.users++
	return peer
}

// release forgets an address that nobody asks and that has no stream left.
func (p *Peers) release(address string, peer *idlePeer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer.users--
	if peer.users == 0 && len(peer.streams) == 0 {
		delete(p.idle, address)
	}
}

func (p *Peers) stream(ctx context.Context, address string, peer *idlePeer) (s *stream, reused bool, err error) {
	p.mu.Lock()
	if n := len(peer.streams); n > 0 {
		s, peer.streams = peer.streams[n-1], peer.streams[:n-1]
	}
	p.mu.Unlock()
	if s != nil {
		return s, true, nil
	}
	conn, node, err := p.kernel.dial(ctx, address, p.kind)
	if err != nil {
		return nil, false, err
	}
	if s = p.streams.add(conn, node, nil); s == nil {
		return nil, false, net.ErrClosed
	}
	return s, false, nil
}

func (p *Peers) keep(peer *idlePeer, s *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer.streams = append(peer.streams, s)
}

// exchange is one request and one answer on a stream of our own.
func (p *Peers) exchange(ctx context.Context, s *stream, kind byte, body, room []byte) ([]byte, error) {
	deadline, _ := ctx.Deadline()
	stop := context.AfterFunc(ctx, func() { _ = s.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	// Rounded up, so that the caller gives up first and the handler after it.
	millis := max(int64((time.Until(deadline)+time.Millisecond-1)/time.Millisecond), 1)
	request := appendRequest(make([]byte, 0, lengthBytes+requestHead+len(body)), kind, uint32(min(millis, maxTimeoutMillis)), body)
	if _, err := s.Write(request); err != nil {
		return nil, err
	}
	status, answer, err := p.receive(s, room)
	if err != nil {
		return nil, err
	}
	if !stop() || !time.Now().Before(deadline) {
		return nil, context.DeadlineExceeded // and the stream cannot be reused
	}
	switch status {
	case statusOK:
		return answer, nil
	case statusError:
		return nil, &RemoteError{Message: string(answer)}
	case statusNoHandler:
		return nil, &RemoteError{Message: "nobody answers peers here"}
	}
	return nil, fmt.Errorf("status %d: %w", status, errMalformed)
}

// receive reads a whole answer, its body into room when it fits there.
func (p *Peers) receive(s *stream, room []byte) (status byte, body []byte, err error) {
	var head [lengthBytes + answerHead]byte
	if _, err := io.ReadFull(s, head[:]); err != nil {
		return 0, nil, err
	}
	length, err := frameLength(head[:], answerHead, p.kernel.endpoint.options.Limits.FrameBytes)
	if err != nil {
		return 0, nil, err
	}
	length -= answerHead
	if cap(room) < length {
		room = make([]byte, length)
	}
	body = room[:length]
	_, err = io.ReadFull(s, body)
	return head[lengthBytes], body, err
}

// hungUp tells that the other side had closed the stream before it answered.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
