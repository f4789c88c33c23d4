package raftstream

import (
	"context"
	"net"
	"sync"

	"github.com/hashicorp/raft"
)

// Kernel is one kernel's share of an endpoint.
type Kernel struct {
	endpoint *Endpoint
	id       string
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	layer    *layer
	peers    *Peers
	history  *Peers
	work     sync.WaitGroup

	mu     sync.Mutex // guards closed, and work against starting while it is waited for
	closed bool
}

func newKernel(e *Endpoint, id string) *Kernel {
	k := &Kernel{endpoint: e, id: id}
	k.ctx, k.cancel = context.WithCancel(e.ctx)
	k.layer = &layer{kernel: k, incoming: make(chan net.Conn), done: make(chan struct{})}
	limits := e.options.Limits
	k.peers = newPeers(k, StreamPeer, limits.ConnsPerPeer)
	k.history = newPeers(k, StreamHistory, limits.HistoryConns)
	return k
}

// Layer carries the Raft library's streams. Closing it closes those streams
// only.
func (k *Kernel) Layer() raft.StreamLayer { return k.layer }

// Peers asks other nodes and answers them.
func (k *Kernel) Peers() *Peers { return k.peers }

// History asks other nodes for history and gives it to them, over streams of
// their own: a small question, or a heartbeat, never waits behind a large answer.
func (k *Kernel) History() *Peers { return k.history }

// Close ends every stream of this kernel and frees its id on the endpoint.
func (k *Kernel) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.cancel()
	_ = k.layer.Close()
	k.peers.streams.close()
	k.history.streams.close()
	k.work.Wait()
	k.endpoint.mu.Lock()
	defer k.endpoint.mu.Unlock()
	if k.endpoint.kernels[k.id] == k {
		delete(k.endpoint.kernels, k.id)
	}
	return nil
}

// begin counts a goroutine that Close has to wait for; false once closed.
func (k *Kernel) begin() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.work.Add(1)
	}
	return !k.closed
}

// take receives an accepted stream. It returns when the stream has an owner.
func (k *Kernel) take(conn net.Conn, h hello) {
	free := func() { k.endpoint.streams.Add(-1) }
	if !k.begin() {
		free()
		_ = conn.Close()
		return
	}
	defer k.work.Done()
	peers := k.peers
	switch h.kind {
	case StreamRaft:
		if s := k.keep(&k.layer.streams, conn, h, free); s != nil {
			k.layer.offer(s)
		}
		return
	case StreamHistory:
		peers = k.history
	}
	if s := k.keep(&peers.streams, conn, h, free); s != nil {
		peers.serve(s)
	}
}

// keep adds a stream to its set, unless this node's lineage has changed since the caller
// was judged.
func (k *Kernel) keep(set *streamSet, conn net.Conn, h hello, free func()) *stream {
	s := set.add(conn, h.node, free)
	if s != nil && h.lineage != k.endpoint.options.Lineage.Own() {
		_ = s.Close()
		return nil
	}
	return s
}
