package cluster_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// pipes joins nodes by pipes in memory, so that several nodes run in virtual
// time.
type pipes struct {
	mu    sync.Mutex // guards ports and every port's conns and answer
	ports map[string]*port
}

// port is one node's end: what Raft streams and peer requests go through. A
// closed one is a process that ended on a host that lives: whoever talks to it
// finds its connection closed, and a new one refused.
type port struct {
	pipes    *pipes
	id       string
	address  string
	incoming chan net.Conn
	done     chan struct{}
	once     sync.Once
	conns    map[*pipe]struct{}
	answer   handler
}

type handler func(ctx context.Context, from string, kind byte, body []byte) ([]byte, error)

var errRefused = errors.New("connection refused")

// join makes a node reachable, again if it was before.
func (n *pipes) join(id, address string) *port {
	p := &port{
		pipes: n, id: id, address: address, incoming: make(chan net.Conn), done: make(chan struct{}), conns: make(map[*pipe]struct{}),
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ports[address] = p
	return p
}

func (n *pipes) at(address string) *port {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ports[address]
}

// serve answers peers from now on.
func (p *port) serve(answer handler) {
	p.pipes.mu.Lock()
	defer p.pipes.mu.Unlock()
	p.answer = answer
}

func (p *port) isClosed() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *port) Close() error {
	p.once.Do(func() {
		close(p.done)
		p.pipes.mu.Lock()
		open := make([]*pipe, 0, len(p.conns))
		for c := range p.conns {
			open = append(open, c)
		}
		p.answer = nil
		p.pipes.mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	})
	return nil
}

func (p *port) Addr() net.Addr { return pipeAddress(p.address) }

type pipeAddress string

func (pipeAddress) Network() string  { return "pipe" }
func (a pipeAddress) String() string { return string(a) }

func (p *port) Dial(to raft.ServerAddress, _ time.Duration) (net.Conn, error) {
	remote := p.pipes.at(string(to))
	near, far := net.Pipe()
	here, there := &pipe{Conn: near, port: p}, &pipe{Conn: far, port: remote}
	if p.isClosed() || !here.open() || !there.open() {
		_, _ = here.Close(), there.Close()
		return nil, errRefused
	}
	select {
	case remote.incoming <- there:
		return here, nil
	case <-remote.done:
	case <-p.done:
	}
	_, _ = here.Close(), there.Close()
	return nil, errRefused
}

// pipe is one end of a connection.
type pipe struct {
	net.Conn
	port *port
}

// open makes the end one that its port's Close closes; false when the port is
// closed already.
func (c *pipe) open() bool {
	c.port.pipes.mu.Lock()
	defer c.port.pipes.mu.Unlock()
	if c.port.isClosed() {
		return false
	}
	c.port.conns[c] = struct{}{}
	return true
}

func (c *pipe) Close() error {
	c.port.pipes.mu.Lock()
	delete(c.port.conns, c)
	c.port.pipes.mu.Unlock()
	return c.Conn.Close()
}

// Call asks another node in place. Neither a process that has ended nor its
// asker hears of an answer.
func (p *port) Call(ctx context.Context, to string, kind byte, body []byte) ([]byte, error) {
	remote := p.pipes.at(to)
	p.pipes.mu.Lock()
	answer := remote.answer
	p.pipes.mu.Unlock()
	if answer == nil || p.isClosed() {
		return nil, errRefused
	}
	out, err := answer(ctx, p.id, kind, body)
	if p.isClosed() || remote.isClosed() {
		return nil, errRefused
	}
	return out, err
}

// AwaitCrash returns when the other process has ended.
func (p *port) AwaitCrash(ctx context.Context, to string) error {
	select {
	case <-p.pipes.at(to).done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
