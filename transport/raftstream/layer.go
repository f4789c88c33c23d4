package raftstream

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// layer is what the Raft library sees as its listener and dialer.
type layer struct {
	kernel   *Kernel
	streams  streamSet // accepted and dialled: the library closes neither when it stops
	incoming chan net.Conn
	done     chan struct{}
	once     sync.Once
}

var _ raft.StreamLayer = (*layer)(nil)

// Accept answers streams whose handshake is over.
func (l *layer) Accept() (net.Conn, error) {
	select {
	case conn := <-l.incoming:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// offer waits until the library takes the stream.
func (l *layer) offer(s *stream) {
	select {
	case l.incoming <- s:
	case <-l.done:
		_ = s.Close()
	}
}

// Dial opens a stream to a server of the Raft configuration.
func (l *layer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := l.kernel.ctx, context.CancelFunc(func() {})
	if timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	conn, node, err := l.kernel.dial(ctx, string(address), StreamRaft)
	if err != nil {
		return nil, err
	}
	s := l.streams.add(conn, node, nil)
	if s == nil {
		return nil, net.ErrClosed
	}
	return s, nil
}

// Close ends every Raft stream of the kernel, and Accept.
func (l *layer) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.streams.close()
	})
	return nil
}

// Addr is the advertised address: the library compares it with those in the
// configuration.
func (l *layer) Addr() net.Addr { return advertised(l.kernel.endpoint.options.Advertise) }

type advertised string

func (advertised) Network() string  { return "tcp" }
func (a advertised) String() string { return string(a) }
