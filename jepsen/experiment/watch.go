package experiment

import (
	"context"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// How often each node is looked at, and how long it may take to answer.
const (
	lookEvery  = 100 * time.Millisecond
	lookWithin = 500 * time.Millisecond
)

// watch looks at the nodes all the time, each by itself, and records what it sees.
type watch struct {
	record *history.Recorder
	client *client.Client
	nodes  []string
	all    sync.WaitGroup

	mu   sync.Mutex // guards last
	last map[string]history.Sight
}

func startWatch(ctx context.Context, record *history.Recorder, c *client.Client, nodes []string) *watch {
	w := &watch{record: record, client: c, nodes: nodes, last: make(map[string]history.Sight)}
	for _, node := range nodes {
		w.all.Go(func() { w.look(ctx, node) })
	}
	return w
}

func (w *watch) look(ctx context.Context, node string) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s := w.see(ctx, node)
		if ctx.Err() != nil {
			return // it may be silent because we went
		}
		w.mu.Lock()
		before := w.last[node]
		w.last[node] = s
		w.mu.Unlock()
		if before.At = 0; before != s { // the same again says nothing
			w.record.Sight(s)
		}
	}
}

func (w *watch) see(ctx context.Context, node string) history.Sight {
	status, err := w.client.Status(ctx, client.Node(node), client.Alone(), client.Timeout(lookWithin))
	if err != nil || len(status.Nodes) != 1 {
		return history.Sight{Node: node, Silent: true}
	}
	return sightOf(&status.Nodes[0])
}

func sightOf(n *api.NodeStatus) history.Sight {
	return history.Sight{
		Node: n.ID, Role: n.Role, Term: n.Term, Applied: n.AppliedIndex, Commit: n.CommitIndex, BusSeq: n.BusSeq,
		Digest: n.Digest, Healthy: n.Healthy, Reason: n.Reason,
	}
}

// leader is who says that it leads, in the newest term; "" for nobody.
func (w *watch) leader() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	leader, term := "", uint64(0)
	for _, node := range w.nodes {
		if s := w.last[node]; s.Role == "leader" && s.Term > term {
			leader, term = node, s.Term
		}
	}
	return leader
}

func (w *watch) wait() { w.all.Wait() }
