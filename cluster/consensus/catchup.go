package consensus

import "time"

// catchUpPause between attempts while there is no leader yet, or it is not ready.
const catchUpPause = 50 * time.Millisecond

// CaughtUp tells whether this node's state has once, since it started, reached
// what the group had committed. After a restart it stands at its last snapshot
// until a leader tells the commit index: a read that waits for no index must
// not be served before (CL-4).
func (g *Group) CaughtUp() bool { return g.caughtUp.Load() }

func (g *Group) catchUp() {
	for g.ctx.Err() == nil {
		index, err := g.ReadIndex(g.ctx)
		if err == nil && g.WaitApplied(g.ctx, index) == nil {
			g.caughtUp.Store(true)
			return
		}
		pause(g.ctx, catchUpPause)
	}
}
