package traffic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// probeEvery is how long a node that does not serve is left alone.
const probeEvery = 100 * time.Millisecond

// Probe asks every node, when the faults are over, until each has answered a read by
// itself and a linearizable one, or ctx ends: the error then says which have not. What
// came of it stands in the history, for checkers to say how long it took.
func Probe(ctx context.Context, e *Env) error {
	var (
		all    sync.WaitGroup
		mu     sync.Mutex // guards failed
		failed []error
	)
	for _, node := range e.Nodes {
		for _, kind := range [...][2]string{{model.Serves, api.Stale}, {model.Leads, api.Linearizable}} {
			w := e.named(model.Probe, 1, 0)
			all.Go(func() {
				for !w.probe(ctx, node, kind[0], kind[1]) {
					if !w.Pause(ctx, probeEvery) {
						mu.Lock()
						failed = append(failed, fmt.Errorf("%s answers no %s read", node.ID, kind[1]))
						mu.Unlock()
						return
					}
				}
			})
		}
	}
	all.Wait()
	return errors.Join(failed...)
}

// probe asks once.
func (w *Worker) probe(ctx context.Context, node Node, name, level string) bool {
	ctx, cancel := context.WithTimeout(ctx, oneNode)
	defer cancel()
	call := w.Call(name, node.ID, nil)
	page, err := w.Client.Agents(ctx, api.AgentQuery{Limit: 1}, client.Node(node.URL), client.Consistency(level))
	call.From(page.Node, page.Index, 0)
	return w.SettleRead(call, err, nil) == history.Ok
}
