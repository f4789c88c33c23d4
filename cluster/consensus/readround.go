//go:build !planted_staleread

package consensus

import "context"

// readRound is the recipe: on the leader a quorum round, elsewhere a question
// to the leader.
func (g *Group) readRound() (uint64, *Refusal) {
	if g.tenure.Load() != nil {
		ctx, cancel := context.WithTimeout(g.ctx, 2*g.config.Timing.Heartbeat)
		defer cancel()
		return g.quorumRead(ctx)
	}
	ctx, cancel := context.WithTimeout(g.ctx, 3*g.config.Timing.Heartbeat)
	defer cancel()
	return g.askLeader(ctx)
}
