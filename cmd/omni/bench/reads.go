package bench

import (
	"context"

	"github.com/google/uuid"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Reads measures reads of one agent, spread over the nodes. Linearizable ones
// cost a quorum round, shared by all that wait for it; stale ones are answered
// from memory.
func Reads(ctx context.Context, o Options) (Report, error) {
	done, err := o.Client.Define(ctx, event.Define{Labels: map[string]string{"omni-bench": uuid.NewString()}})
	if err != nil {
		return Report{}, err
	}
	status, err := o.Client.Status(ctx)
	if err != nil {
		return Report{}, err
	}
	consistency := client.Consistency(o.Consistency)
	for _, node := range status.Nodes {
		// Each node must have the agent, or a stale read would not find it. This
		// is also where a wrong word is refused.
		if _, err := o.Client.Agent(ctx, done.AgentID, consistency, client.Node(node.API), client.MinIndex(done.Index)); err != nil {
			return Report{}, err
		}
	}
	workers := o.measure(ctx, func(ctx context.Context, w *worker, n int) (uint64, error) {
		node := status.Nodes[n%len(status.Nodes)]
		_, err := w.client.Agent(ctx, done.AgentID, consistency, client.Node(node.API))
		return 1, err
	})
	report := o.result("reads", workers)
	report.Consistency = o.Consistency
	return report, ctx.Err()
}
