package raftstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Endpoint is a node's one port for peers.
type Endpoint struct {
	options  Options
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	pending  streamSet    // handshakes under way
	shaking  atomic.Int64 // how many
	streams  atomic.Int64 // accepted and open
	refusals refusalLog
	work     sync.WaitGroup

	mu      sync.Mutex // guards kernels and closed
	kernels map[string]*Kernel
	closed  bool
}

// Listen binds the port and begins to answer handshakes. Until a kernel is
// opened every stream is refused with WrongKernel.
func Listen(o Options) (*Endpoint, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Endpoint{options: o, ctx: ctx, cancel: cancel, kernels: make(map[string]*Kernel)}
	e.work.Go(e.accept)
	return e, nil
}

// Address is the advertised one.
func (e *Endpoint) Address() string { return e.options.Advertise }

// Kernel opens streams for one kernel. There is one Kernel per id at a time.
func (e *Endpoint) Kernel(id string) (*Kernel, error) {
	if err := checkID("kernel id", id); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, net.ErrClosed
	}
	if e.kernels[id] != nil {
		return nil, fmt.Errorf("kernel %s is already open on this endpoint", id)
	}
	k := newKernel(e, id)
	e.kernels[id] = k
	return k, nil
}

// Close ends the listener, every stream and every goroutine.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	kernels := make([]*Kernel, 0, len(e.kernels))
	for _, k := range e.kernels {
		kernels = append(kernels, k)
	}
	e.mu.Unlock()

	e.cancel()
	err := e.options.Listener.Close()
	e.pending.close()
	for _, k := range kernels {
		err = errors.Join(err, k.Close())
	}
	e.work.Wait()
	return err
}

// accept hands every connection to a goroutine of its own, so that one that
// says nothing delays nobody.
func (e *Endpoint) accept() {
	const shortest, longest = 5 * time.Millisecond, time.Second
	delay := shortest
	for {
		conn, err := e.options.Listener.Accept()
		if err != nil {
			if e.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			e.options.Logger.Error("cannot accept peer connections", "error", err, "retry_in", delay)
			select {
			case <-e.ctx.Done():
				return
			case <-time.After(delay):
			}
			delay = min(2*delay, longest)
			continue
		}
		delay = shortest
		if e.shaking.Add(1) > int64(e.options.Limits.Pending) {
			e.shaking.Add(-1)
			_ = conn.Close()
			continue
		}
		e.work.Go(func() { e.greet(conn) })
	}
}

// greet runs one handshake within the limit of time, then hands the stream to
// its kernel.
func (e *Endpoint) greet(raw net.Conn) {
	shaken := sync.OnceFunc(func() { e.shaking.Add(-1) })
	defer shaken()
	pending := e.pending.add(raw, "", nil)
	if pending == nil {
		return
	}
	deadline := time.Now().Add(e.options.Limits.Handshake)
	ctx, cancel := context.WithDeadline(e.ctx, deadline)
	defer cancel()
	_ = raw.SetDeadline(deadline)
	conn, err := e.secureServer(ctx, raw)
	if err != nil {
		e.logFailure(raw.RemoteAddr(), err)
		linger(raw)
		_ = pending.Close()
		return
	}
	h, kernel, code := e.judge(conn)
	if code == Accepted {
		if err := e.proves(conn, h); err != nil {
			code = codeOf(err)
			e.logFailure(raw.RemoteAddr(), fmt.Errorf("it says that it is node %s: %w", h.node, err))
		}
	}
	if code == Accepted {
		if code = kernel.relate(h); code != Accepted {
			e.turnAway(h, raw.RemoteAddr(), code)
		}
	}
	if code == noAnswer {
		_ = pending.Close()
		return
	}
	if code == Accepted && e.streams.Add(1) > int64(e.options.Limits.Streams) {
		e.streams.Add(-1)
		code = Busy
	}
	reply := answer{version: Version, code: code}
	if code == Accepted {
		reply.node = e.options.NodeID
	}
	_, err = conn.Write(reply.encode())
	if code != Accepted {
		e.options.Logger.Debug("refused a stream", "remote", raw.RemoteAddr().String(), "node", h.node, "reason", code.String())
		// Closing with bytes unread would reset the connection and take the
		// answer away from the caller. It closes when it has read it.
		_, _ = io.CopyN(io.Discard, conn, maxDrain)
		_ = pending.Close()
		return
	}
	e.pending.remove(pending)
	if err != nil {
		e.streams.Add(-1)
		_ = conn.Close()
		return
	}
	_ = raw.SetDeadline(time.Time{})
	shaken()
	kernel.take(conn, h)
}

// logFailure tells why a caller is turned away, once a minute per host and reason. Who
// falls silent in the middle is nobody to speak of.
func (e *Endpoint) logFailure(remote net.Addr, err error) {
	host, _, split := net.SplitHostPort(remote.String())
	if split != nil {
		host = remote.String()
	}
	_ = e.distrust("from "+host, remote.String(), err) // told there
}

// maxDrain bounds what is read and thrown away after a refusal, in bytes.
const maxDrain = 64 << 10

// noAnswer is for a caller that fell silent or went away: there is nobody to
// tell.
const noAnswer RefusalCode = 255

// judge reads the hello and decides.
func (e *Endpoint) judge(conn net.Conn) (hello, *Kernel, RefusalCode) {
	h, err := readHello(conn)
	var version unknownVersion
	switch {
	case errors.As(err, &version):
		return h, nil, UnknownVersion
	case errors.Is(err, errMalformed):
		return h, nil, Malformed
	case err != nil:
		return h, nil, noAnswer
	case h.cluster != e.options.ClusterID:
		return h, nil, WrongCluster
	case h.kind < StreamRaft || h.kind > StreamHistory:
		return h, nil, UnknownKind
	}
	e.mu.Lock()
	kernel := e.kernels[h.kernel]
	e.mu.Unlock()
	if kernel == nil {
		return h, nil, WrongKernel
	}
	return h, kernel, Accepted
}
