package cluster

import (
	"context"
	"sync"
	"time"
)

// refreshEvery is how often a node finds out by itself how old its state may be,
// beside what reads find out.
const refreshEvery = 250 * time.Millisecond

// lagMeter remembers up to which moment this node is known to have everything
// that was acknowledged (CL-4).
type lagMeter struct {
	mu    sync.Mutex // guards since
	since time.Time
}

// mark says that everything acknowledged before the moment is in the state.
func (l *lagMeter) mark(moment time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if moment.After(l.since) {
		l.since = moment
	}
}

func (l *lagMeter) age() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Since(l.since))
}

// refresh asks for the index of a read round and waits until it is applied. The
// round began after the call did, so the state then has everything that was
// acknowledged before.
//
// Nothing that a follower hears without asking says as much. A heartbeat does not
// carry the commit index; what does was sent at a time that only the sender's
// clock knows. And a leader that slept may believe that it still leads.
func (n *Node) refresh(ctx context.Context) error {
	began := time.Now()
	index, err := n.group.ReadIndex(ctx)
	if err != nil {
		return err
	}
	if err := n.group.WaitApplied(ctx, index); err != nil {
		return err
	}
	n.lag.mark(began)
	return nil
}

// keepFresh refreshes all the time.
func (n *Node) keepFresh(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		if n.group.CaughtUp() {
			_ = n.refresh(ctx) // a round that fails leaves the lag to grow, which says it
		}
		pause(ctx, refreshEvery-time.Since(began))
	}
}
