package nodes

import (
	"net"
	"time"
)

// conn is one end of a connection. What is written goes through a pump, which
// takes the link's time and obeys its cuts, before the other end can read it.
type conn struct {
	net.Conn // this end of a pipe to the pump
	port     *port
	silent   bool // something was lost: nothing arrives any more; guarded by the network's mutex
}

// connect joins two ports by two pipes and two pumps.
func (n *network) connect(a, b *port) (near, far *conn) {
	nearEnd, nearPump := net.Pipe()
	farEnd, farPump := net.Pipe()
	near, far = &conn{Conn: nearEnd, port: a}, &conn{Conn: farEnd, port: b}
	n.mu.Lock()
	a.conns[near], b.conns[far] = struct{}{}, struct{}{}
	n.mu.Unlock()
	go n.pump(near, far, nearPump, farPump)
	go n.pump(far, near, farPump, nearPump)
	return near, far
}

// pump carries what one end writes to the other, until either is closed.
func (n *network) pump(from, to *conn, out, in net.Conn) {
	defer func() { _ = out.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		read, err := out.Read(buffer)
		if err != nil {
			break
		}
		took, arrives := n.travel(from.port.address, to.port.address)
		if !arrives {
			n.silence(from, to)
		}
		if n.isSilent(from) {
			continue // it was sent, and the sender knows no better
		}
		time.Sleep(took)
		if _, err := in.Write(buffer[:read]); err != nil {
			break
		}
	}
	// The end of a connection is a message too.
	if took, arrives := n.travel(from.port.address, to.port.address); arrives && !n.isSilent(from) {
		time.Sleep(took)
		_ = in.Close()
	} else {
		n.silence(from, to)
	}
}

func (n *network) silence(ends ...*conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range ends {
		c.silent = true
	}
}

func (n *network) isSilent(c *conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return c.silent
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.port.network.mu.Lock()
	delete(c.port.conns, c)
	c.port.network.mu.Unlock()
	return c.Conn.Close()
}
