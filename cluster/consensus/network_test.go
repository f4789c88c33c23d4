package consensus

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// network joins nodes by pipes, so that everything runs in virtual time. Links
// can be cut in one direction: what is sent there is lost without a word, as on
// a real network; connections that lost something are reset by the heal.
type network struct {
	mu     sync.Mutex // guards all
	nodes  map[string]*port
	cuts   map[[2]string]bool
	delay  time.Duration // of every peer request and answer
	delays map[[2]string]time.Duration
}

func newNetwork() *network {
	return &network{nodes: make(map[string]*port), cuts: make(map[[2]string]bool), delays: make(map[[2]string]time.Duration)}
}

// port is one node's end: a raft.StreamLayer and a PeerCaller.
type port struct {
	network  *network
	address  string
	incoming chan net.Conn
	done     chan struct{}
	once     sync.Once
	conns    map[*pipeEnd]struct{}
	group    *Group // answers peers; nil while it is down
}

var errDown = errors.New("connection refused")

// join makes a node reachable, or reachable again after leave.
func (n *network) join(address string) *port {
	p := &port{network: n, address: address, incoming: make(chan net.Conn), done: make(chan struct{}), conns: make(map[*pipeEnd]struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.nodes[address] = p
	return p
}

func (p *port) serve(g *Group) {
	p.network.mu.Lock()
	defer p.network.mu.Unlock()
	p.group = g
}

// cut loses what from sends to to.
func (n *network) cut(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cuts[[2]string{from, to}] = true
}

// slowAll delays every peer request and every answer.
func (n *network) slowAll(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = d
}

// slow delays what from sends to to, on top.
func (n *network) slow(from, to string, d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delays[[2]string{from, to}] = d
}

// isolate cuts a node off in both directions.
func (n *network) isolate(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for other := range n.nodes {
		if other != address {
			n.cuts[[2]string{address, other}] = true
			n.cuts[[2]string{other, address}] = true
		}
	}
}

// heal restores every link.
func (n *network) heal() {
	n.mu.Lock()
	clear(n.cuts)
	var lossy []*pipeEnd
	for _, p := range n.nodes {
		for c := range p.conns {
			if c.lost {
				lossy = append(lossy, c)
			}
		}
	}
	n.mu.Unlock()
	for _, c := range lossy {
		_ = c.Close()
	}
}

func (p *port) Addr() net.Addr { return address(p.address) }

type address string

func (address) Network() string  { return "pipe" }
func (a address) String() string { return string(a) }

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
		p.network.mu.Lock()
		var open []*pipeEnd
		for c := range p.conns {
			open = append(open, c)
		}
		p.group = nil
		p.network.mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	})
	return nil
}

func (p *port) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	n := p.network
	n.mu.Lock()
	remote := n.nodes[string(to)]
	lost := n.cuts[[2]string{p.address, string(to)}] || n.cuts[[2]string{string(to), p.address}]
	n.mu.Unlock()
	if remote == nil {
		return nil, errDown
	}
	select {
	case <-p.done:
		return nil, net.ErrClosed
	case <-remote.done:
		return nil, errDown
	default:
	}
	if lost {
		select {
		case <-time.After(timeout):
			return nil, context.DeadlineExceeded
		case <-p.done:
			return nil, net.ErrClosed
		}
	}
	near, far := net.Pipe()
	here := &pipeEnd{Conn: near, from: p, to: string(to)}
	there := &pipeEnd{Conn: far, from: remote, to: p.address}
	n.mu.Lock()
	p.conns[here], remote.conns[there] = struct{}{}, struct{}{}
	n.mu.Unlock()
	select {
	case remote.incoming <- there:
		return here, nil
	case <-remote.done:
	case <-p.done:
	}
	_, _ = here.Close(), there.Close()
	return nil, errDown
}

// pipeEnd is one end of a connection.
type pipeEnd struct {
	net.Conn
	from *port
	to   string
	lost bool // guarded by the network's mutex
}

func (c *pipeEnd) Write(b []byte) (int, error) {
	n := c.from.network
	n.mu.Lock()
	cut := n.cuts[[2]string{c.from.address, c.to}]
	if cut {
		c.lost = true
	}
	lost := c.lost
	n.mu.Unlock()
	if lost {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c *pipeEnd) Close() error {
	c.from.network.mu.Lock()
	delete(c.from.conns, c)
	c.from.network.mu.Unlock()
	return c.Conn.Close()
}

// Call asks another node's group in place. Request and answer meet the cuts
// each when they travel.
func (p *port) Call(ctx context.Context, to string, kind byte, body []byte) ([]byte, error) {
	if err := p.network.travel(ctx, p.address, to); err != nil {
		return nil, err
	}
	p.network.mu.Lock()
	remote := p.network.nodes[to]
	var g *Group
	if remote != nil {
		g = remote.group
	}
	p.network.mu.Unlock()
	if g == nil {
		return nil, errDown
	}
	out, err := g.HandlePeer(ctx, p.address, kind, body)
	if err != nil {
		return nil, err
	}
	return out, p.network.travel(ctx, to, p.address)
}

// travel takes the link's time, or for ever when the link is cut.
func (n *network) travel(ctx context.Context, from, to string) error {
	n.mu.Lock()
	delay := n.delay + n.delays[[2]string{from, to}]
	n.mu.Unlock()
	if delay > 0 && !pause(ctx, delay) {
		return ctx.Err()
	}
	n.mu.Lock()
	cut := n.cuts[[2]string{from, to}]
	n.mu.Unlock()
	if cut {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

var _ io.Closer = (*port)(nil)

// AwaitCrash returns when the other node's port has closed, as an operating
// system closes the sockets of a process that ended. A cut tells nothing.
func (p *port) AwaitCrash(ctx context.Context, to string) error {
	p.network.mu.Lock()
	remote := p.network.nodes[to]
	p.network.mu.Unlock()
	select {
	case <-remote.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
