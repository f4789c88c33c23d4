package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/lab/netns"
)

// State of a node's process.
type State string

// The states.
const (
	Down   State = "down"
	Up     State = "up"
	Paused State = "paused"
)

// What makes no sense for a node in its state.
var (
	ErrDown   = errors.New("its process does not run")
	ErrUp     = errors.New("its process runs already")
	ErrClosed = errors.New("the lab is closed")
)

// Node is a node of the cluster, whether its process runs or not.
type Node struct {
	lab    *Lab
	id     string
	card   card
	data   string
	output *os.File // its log
	thread *netns.Thread
	sink   *sink                  // of stderr
	behind atomic.Pointer[string] // what Advertise was told

	mu     sync.Mutex // guards what follows, and is held while a process changes
	closed bool
	state  State
	run    *run // the newest, which may have ended; nil before the first
}

func newNode(l *Lab, i int, c card) (*Node, error) {
	n := &Node{lab: l, id: c.id, card: c, data: l.plan.Data[i], state: Down, sink: newSink()}
	var err error
	if n.output, err = os.OpenFile(n.Log(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644); err != nil {
		return nil, err
	}
	if n.thread, err = netns.Enter(l.claim.namespace(n.id)); err != nil {
		return nil, errors.Join(err, n.output.Close())
	}
	return n, nil
}

// ID of the node, which is also its host's on the wire.
func (n *Node) ID() string { return n.id }

// Host is the node's address.
func (n *Node) Host() netip.Addr { return n.card.address }

// API is the base URL of the node's API.
func (n *Node) API() string { return fmt.Sprintf("http://%s:%d", n.card.address, apiPort) }

// Advertise makes all nodes name another address of the node's API to clients,
// such as that of a proxy before it. It is for processes that are started later.
func (n *Node) Advertise(url string) { n.behind.Store(&url) }

func (n *Node) advertised() string {
	if url := n.behind.Load(); url != nil {
		return *url
	}
	return n.API()
}

// Raft is where other nodes find the node.
func (n *Node) Raft() string { return fmt.Sprintf("%s:%d", n.card.address, raftPort) }

// Data is the node's data directory.
func (n *Node) Data() string { return n.data }

// Log is the file with all that the node's processes wrote.
func (n *Node) Log() string { return filepath.Join(n.lab.plan.Dir, n.id+".log") }

// Namespace is the name of the node's network namespace.
func (n *Node) Namespace() string { return n.lab.claim.namespace(n.id) }

// State of the node's process.
func (n *Node) State() State {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state
}

// PID of the node's process; 0 when it does not run.
func (n *Node) PID() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == Down {
		return 0
	}
	return n.run.command.Process.Pid
}

// End is how the node's newest process ended; false when it runs, or there was
// none.
func (n *Node) End() (End, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run == nil || n.state != Down {
		return End{}, false
	}
	return n.run.end, true
}

// probing asks a node whether it is well: each time over a new connection, as a
// supervisor would.
var probing = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// probeEvery is how often Ready asks.
const probeEvery = 20 * time.Millisecond

// Ready waits until the node says that it is healthy, over the wire's client link.
// It gives up when the process ends.
func (n *Node) Ready(ctx context.Context) error {
	n.mu.Lock()
	run, state := n.run, n.state
	n.mu.Unlock()
	if state == Down {
		return fmt.Errorf("%s: %w", n.id, ErrDown)
	}
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		err := n.probe(ctx)
		if err == nil {
			n.tell(history.Life{What: "ready", Wanted: true})
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (%w)", n.id, err, ctx.Err())
		case <-run.ended:
			return fmt.Errorf("%s %s before it was ready: %s", n.id, run.end.How(), run.end.Words())
		case <-tick.C:
		}
	}
}

func (n *Node) probe(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.API()+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := probing.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it says %s", response.Status)
	}
	return nil
}

func (n *Node) tell(l history.Life) {
	l.Node = n.id
	n.lab.plan.Life(l)
}

// close ends the node for ever.
func (n *Node) close() error {
	n.mu.Lock()
	n.closed = true
	run := n.run
	n.mu.Unlock()
	err := n.Kill()
	if errors.Is(err, ErrDown) {
		err = nil
	}
	if run != nil && err == nil {
		err = n.await(run)
	}
	n.thread.Close()
	return errors.Join(err, n.output.Close())
}
