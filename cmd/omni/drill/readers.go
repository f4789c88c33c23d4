package drill

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// readers ask every node for what was acknowledged last. A linearizable answer
// that does not have it is stale: the command took effect before the read began.
type readers struct {
	answers atomic.Int64
	stale   atomic.Int64
}

// readInterval is how often each node is asked.
const readInterval = 10 * time.Millisecond

// readTimeout bounds one read: an old leader that wakes up must be asked again
// soon, not once a round.
const readTimeout = time.Second

// run asks until ctx ends. Several reads of one node are under way at once, so
// that some begin, some wait and some end while it is paused.
func (r *readers) run(ctx context.Context, d *drill) {
	const perNode = 4
	var group sync.WaitGroup
	for _, node := range d.Nodes.File().Nodes {
		group.Go(func() {
			load.Open(ctx, readInterval, perNode, func(int, time.Time) { r.read(ctx, d, node.API) })
		})
	}
	group.Wait()
}

func (r *readers) read(ctx context.Context, d *drill, node string) {
	want, ok := d.ledger.LastAck()
	if !ok {
		return
	}
	agent, err := d.client.Agent(ctx, want.AgentID,
		client.Node(node), client.Consistency(api.Linearizable), client.Timeout(readTimeout))
	var said *api.Error
	switch {
	case err == nil:
		r.answers.Add(1)
		if agent.Index < want.Index {
			r.stale.Add(1)
		}
	case errors.As(err, &said) && said.Code == api.CodeNotFound:
		r.answers.Add(1)
		r.stale.Add(1)
	}
	// Everything else is no answer: the node was paused, or had no leader.
}
