package nodes

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// network joins nodes by connections in memory. What is sent over a link that is
// cut is lost without a word, in that direction alone; a connection that lost
// something stays silent until the heal resets it, as a real one does until its
// retransmissions give up.
type network struct {
	dice *dice

	mu    sync.Mutex // guards what follows, and every port's conns and peer
	ports map[string]*port
	cuts  map[link]bool
	loss  int           // of a thousand messages
	delay time.Duration // of a message, at most
}

type link struct{ from, to string }

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset")
)

func newNetwork(d *dice) *network {
	return &network{dice: d, ports: make(map[string]*port), cuts: make(map[link]bool), delay: time.Millisecond}
}

// peer is what of a node answers others.
type peer interface {
	HandlePeer(ctx context.Context, from string, kind byte, body []byte) ([]byte, error)
	HandleHistory(ctx context.Context, from string, kind byte, body, room []byte) ([]byte, error)
}

// port is one node's end in one life: a raft.StreamLayer, and what peers are
// asked by. A closed one is a process that ended on a host that lives.
type port struct {
	network  *network
	address  string
	incoming chan net.Conn
	done     chan struct{}
	once     sync.Once
	conns    map[*conn]struct{}
	peer     peer
}

// join makes a node reachable, again if it was before.
func (n *network) join(address string) *port {
	p := &port{network: n, address: address, incoming: make(chan net.Conn), done: make(chan struct{}), conns: make(map[*conn]struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ports[address] = p
	return p
}

func (p *port) serve(answers peer) {
	p.network.mu.Lock()
	defer p.network.mu.Unlock()
	p.peer = answers
}

// cut loses what from sends to to.
func (n *network) cut(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cuts[link{from, to}] = true
}

// worsen makes the network lose so many of a thousand messages, and delay each by
// up to so much.
func (n *network) worsen(loss int, delay time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.loss, n.delay = loss, delay
}

// heal restores every link, and resets the connections that lost something.
func (n *network) heal() {
	n.mu.Lock()
	clear(n.cuts)
	n.loss, n.delay = 0, time.Millisecond
	var silent []*conn
	for _, p := range n.ports {
		for c := range p.conns {
			if c.silent {
				silent = append(silent, c)
			}
		}
	}
	n.mu.Unlock()
	for _, c := range silent {
		_ = c.Close()
	}
}

// travel is a message's way: how long it takes, and whether it arrives.
func (n *network) travel(from, to string) (took time.Duration, arrives bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	took = time.Duration(n.dice.intN(int(n.delay/time.Microsecond)+1)) * time.Microsecond
	return took, !n.cuts[link{from, to}] && n.dice.intN(1000) >= n.loss
}

// send waits until a message has arrived, or for ever.
func (n *network) send(ctx context.Context, from, to string) error {
	took, arrives := n.travel(from, to)
	if !arrives {
		<-ctx.Done()
		return ctx.Err()
	}
	timer := time.NewTimer(took)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *port) isClosed() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (n *network) at(address string) (*port, peer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.ports[address]
	return p, p.peer
}

// ask lets another node answer in place. Question and answer travel each on
// their own: an answer that is lost is of a question that was heard.
func (p *port) ask(ctx context.Context, to string, question func(context.Context, peer) ([]byte, error)) ([]byte, error) {
	if err := p.network.send(ctx, p.address, to); err != nil {
		return nil, err
	}
	remote, answers := p.network.at(to)
	if answers == nil || remote.isClosed() || p.isClosed() {
		return nil, errRefused
	}
	out, err := question(ctx, answers)
	if p.isClosed() || remote.isClosed() {
		return nil, errReset
	}
	if lost := p.network.send(ctx, to, p.address); lost != nil {
		return nil, lost
	}
	return out, err
}

// Call implements consensus.PeerCaller.
func (p *port) Call(ctx context.Context, to string, kind byte, body []byte) ([]byte, error) {
	return p.ask(ctx, to, func(ctx context.Context, other peer) ([]byte, error) {
		return other.HandlePeer(ctx, p.address, kind, body)
	})
}

// CallInto implements cluster.HistoryCaller.
func (p *port) CallInto(ctx context.Context, to string, kind byte, body, room []byte) ([]byte, error) {
	return p.ask(ctx, to, func(ctx context.Context, other peer) ([]byte, error) {
		return other.HandleHistory(ctx, p.address, kind, body, room)
	})
}

// AwaitCrash implements consensus.CrashDetector: a host closes the connections of
// a process that ended. A cut tells nothing.
func (p *port) AwaitCrash(ctx context.Context, to string) error {
	remote, _ := p.network.at(to)
	select {
	case <-remote.done:
		return p.network.send(ctx, to, p.address)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Addr implements net.Listener.
func (p *port) Addr() net.Addr { return address(p.address) }

type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }

// Accept implements net.Listener.
func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener; it is what the end of a process does to its
// connections.
func (p *port) Close() error {
	p.once.Do(func() {
		close(p.done)
		p.network.mu.Lock()
		open := make([]*conn, 0, len(p.conns))
		for c := range p.conns {
			open = append(open, c)
		}
		p.peer = nil
		p.network.mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	})
	return nil
}

// Dial implements raft.StreamLayer.
func (p *port) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := p.network.send(ctx, p.address, string(to)); err != nil {
		return nil, err
	}
	if err := p.network.send(ctx, string(to), p.address); err != nil {
		return nil, err
	}
	remote, _ := p.network.at(string(to))
	if p.isClosed() || remote.isClosed() {
		return nil, errRefused
	}
	here, there := p.network.connect(p, remote)
	select {
	case remote.incoming <- there:
		return here, nil
	case <-remote.done:
	case <-p.done:
	}
	_ = here.Close()
	_ = there.Close()
	return nil, errRefused
}
