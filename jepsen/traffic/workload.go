package traffic

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Workload is one kind of traffic.
type Workload interface {
	// Name is what scenarios call it, and the workload of its operations.
	Name() string
	// Setup makes what the traffic needs. Nothing is wrong with the cluster.
	Setup(ctx context.Context, e *Env) error
	// Work does one operation, or a few that belong together, and settles them.
	// It returns soon after ctx ends. Failures are recorded, not returned.
	Work(ctx context.Context, w *Worker)
	// Finish reads what is there in the end. The cluster is well.
	Finish(ctx context.Context, e *Env) error
}

// Env is what a run gives to its workloads.
type Env struct {
	Record  *history.Recorder
	Client  *client.Client // sees all nodes
	Nodes   []Node
	Seed    uint64
	Service string // base URL of the counting service, as nodes and clients see it

	processes atomic.Int64
}

// Node is where one node's API is.
type Node struct {
	ID  string
	URL string // for clients; a proxy that drops answers may stand before it
}

// Process is a new process number, from 1.
func (e *Env) Process() int { return int(e.processes.Add(1)) }

// Worker does the work of one workload, one thing at a time.
type Worker struct {
	*Env
	Workload string
	Number   int // among the workload's workers, from 0
	Workers  int // how many there are
	Process  int
	Client   *client.Client // with a session of its own
	Dice     *rand.Rand

	calls int // that it has made
}

// Patience is how long a worker waits for one answer. It is longer than an
// election, and short enough that workers do not all hang behind a partition.
const Patience = 2500 * time.Millisecond

// NewClient makes a client of all nodes for a run: an attempt that hangs is given up
// soon enough for another, at another node, within Patience.
func NewClient(nodes []Node) (*client.Client, error) {
	addresses := make([]string, 0, len(nodes))
	for _, n := range nodes {
		addresses = append(addresses, n.URL)
	}
	return client.New(addresses, client.Options{Timeout: 4 * Patience, Attempt: Patience / 3})
}

// Retire gives the worker a new process number, after an unknown outcome.
func (w *Worker) Retire() { w.Process = w.Env.Process() }

// ID draws the id of a new agent: a UUID of version 7, whose time is drawn too.
func (w *Worker) ID() string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], w.Dice.Uint64())
	binary.BigEndian.PutUint64(id[8:], w.Dice.Uint64())
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
