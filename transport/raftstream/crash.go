package raftstream

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// How often, and after which pause, a connection that broke is tried again
// before the process behind it is given up on. A process that is being killed
// closes its sockets one after the other: for a moment a new connection is
// taken by a listener that is about to go, and then reset.
const (
	crashRetries    = 8
	crashFirstPause = time.Millisecond
)

// AwaitCrash keeps a stream to a node and returns nil once the process there is
// known to be gone while its host lives: the stream broke, and the host refuses
// a new connection. Everything less certain is an error: a node that was never
// reached, a host that does not answer, a handshake that is refused. A slow or
// paused process breaks nothing, so AwaitCrash waits on.
func (k *Kernel) AwaitCrash(ctx context.Context, address string) error {
	conn, node, err := k.dial(ctx, address, StreamPeer)
	if err != nil {
		return err
	}
	for {
		s := k.peers.streams.add(conn, node, nil)
		if s == nil {
			return context.Canceled
		}
		err := s.awaitBreak(ctx)
		_ = s.Close()
		if err != nil {
			return err
		}
		conn, node, err = k.redial(ctx, address)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// awaitBreak returns nil when the other side ended the stream.
func (s *stream) awaitBreak(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	var one [1]byte
	_, err := s.Read(one[:])
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return errMalformed // nothing was asked, so nothing is answered
	}
	if !broken(err) {
		return err
	}
	return nil
}

// broken tells that the other side's operating system ended the stream, as it
// does for a process that ends. A keep-alive that ran out is no such thing.
func broken(err error) bool {
	return hungUp(err) || errors.Is(err, io.ErrUnexpectedEOF)
}

// redial opens the stream anew. ECONNREFUSED is the answer it looks for.
func (k *Kernel) redial(ctx context.Context, address string) (conn net.Conn, node string, err error) {
	pause := crashFirstPause
	for range crashRetries {
		conn, node, err = k.dial(ctx, address, StreamPeer)
		if err == nil || !broken(err) {
			return conn, node, err
		}
		select {
		case <-ctx.Done():
			return nil, "", ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
	return nil, "", err
}
