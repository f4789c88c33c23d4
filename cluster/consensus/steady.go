package consensus

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// steadyTransport is the library's network transport without its fast path for
// heartbeats, and with a way to put a request of our own in front of the group.
//
// The network transport would answer heartbeats on its I/O goroutine, beside
// the main loop. A heartbeat of a newer term then raises the current term while
// the old leader's loop still sits in its select, and the next proposal it
// takes is stored under a term that this node never led. Two different entries
// with the same index and term can follow, and the replicas diverge. Without
// the handler, heartbeats take the main loop like everything else.
//
// The price: a follower answers a heartbeat only when its disk has finished
// what it is writing. Hence the long lease (Timing.Lease). A snapshot would take
// longer than any lease: see install.go.
type steadyTransport struct {
	*raft.NetworkTransport // pre-vote and Close come with it
	requests               chan raft.RPC
	speaker                atomic.Pointer[speaker]
	done                   chan struct{}
	once                   sync.Once
	work                   sync.WaitGroup
}

var (
	_ raft.Transport   = (*steadyTransport)(nil)
	_ raft.WithPreVote = (*steadyTransport)(nil)
	_ raft.WithClose   = (*steadyTransport)(nil)
)

func newSteadyTransport(inner *raft.NetworkTransport) *steadyTransport {
	t := &steadyTransport{NetworkTransport: inner, requests: make(chan raft.RPC), done: make(chan struct{})}
	t.work.Go(t.forward)
	return t
}

// SetHeartbeatHandler does nothing, on purpose.
func (t *steadyTransport) SetHeartbeatHandler(func(raft.RPC)) {}

// Consumer is where the library takes its requests from.
func (t *steadyTransport) Consumer() <-chan raft.RPC { return t.requests }

// request is one that waits for the library, with what is to be known about it
// when it installs a snapshot.
type request struct {
	raft.RPC
	install *install
}

// forward hands requests to the library, in the order in which they came. One
// waits for each stream at most.
func (t *steadyTransport) forward() {
	var waiting []request
	var current *install // what the library has taken, until it has answered
	for {
		if current.isOver() {
			current = nil
		}
		var next chan<- raft.RPC
		var first request
		var again <-chan time.Time
		if current != nil {
			waiting = t.answerBeats(waiting, current)
		}
		if len(waiting) > 0 {
			next, first = t.requests, waiting[0]
			if current != nil {
				again = time.After(beatAgain)
			}
		}
		select {
		case rpc := <-t.NetworkTransport.Consumer():
			waiting = append(waiting, t.watchInstall(rpc))
		case next <- first.RPC:
			waiting = slices.Delete(waiting, 0, 1)
			if first.install != nil {
				current = first.install
			}
		case <-again:
		case <-t.done:
			return
		}
	}
}

// put waits until the library takes the request; false when the transport was
// closed.
func (t *steadyTransport) put(rpc raft.RPC) bool {
	select {
	case t.requests <- rpc:
		return true
	case <-t.done:
		return false
	}
}

// timeoutNow makes this node stand for election, as a leader that hands over
// would. The other voters answer although they have heard from a leader lately.
func (t *steadyTransport) timeoutNow(header raft.RPCHeader) {
	answer := make(chan raft.RPCResponse, 1)
	t.put(raft.RPC{Command: &raft.TimeoutNowRequest{RPCHeader: header}, RespChan: answer})
}

// Close ends the streams and the goroutines.
func (t *steadyTransport) Close() error {
	t.once.Do(func() { close(t.done) })
	err := t.NetworkTransport.Close()
	t.NetworkTransport.CloseStreams()
	t.work.Wait()
	return err
}
