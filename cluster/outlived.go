package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
)

// ErrOutlived is what ends a node whose cluster was recovered without it.
var ErrOutlived = datadir.ErrOutlived

// parting is what a node was told of a recovery that it knows nothing of.
type parting struct {
	peer        string // address of the member that said so
	since, last time.Time
}

const (
	// partingGrace is how long a node that was told waits to hear from a leader of its own.
	partingGrace = 3 * time.Second
	// comingBack is how long after its start a node has come back: two lost members may
	// have elected one of them before either has reached the recovered cluster.
	comingBack = time.Minute
	// partingHolds is for how long it is believed what is not said again: members are
	// asked more often than that.
	partingHolds = 3 * memberAgain
)

// Fresh tells whether the node has nothing yet: no entry but the configuration that it
// was started with, which it has acknowledged to nobody.
func (n *Node) Fresh() bool {
	applied, _ := n.group.Applied()
	return n.group.Roster().UpTo <= 1 && applied <= 1
}

// Outlived is told, by the streams between nodes, of a member that answered that it has
// been through a recovery which this node knows nothing of (ME-9). What callers say of
// themselves is not passed on, and nobody but a member is believed.
func (n *Node) Outlived(address string) {
	at := func(m consensus.Member) bool { return m.Address == address }
	if n.Fresh() || !slices.ContainsFunc(n.group.Members(), at) {
		return // it belongs to whoever takes it in
	}
	told := parting{peer: address, since: time.Now()}
	if before := n.parted(); before != nil {
		told.since = before.since
	}
	told.last = time.Now()
	n.apart.Store(&told)
}

// parted is what the node was told, as long as it holds.
func (n *Node) parted() *parting {
	if p := n.apart.Load(); p != nil && time.Since(p.last) < partingHolds {
		return p
	}
	return nil
}

// isApart says that another part of the cluster goes on by itself.
func (n *Node) isApart() error {
	if p := n.parted(); p != nil {
		return fmt.Errorf("the cluster was recovered without this node, and goes on without it: the member at %s said so; there are two clusters", p.peer)
	}
	return nil
}

// endIfOutlived ends a node that was told. A member that was lost, and has come back with
// what it had, stops for good. One that is part of a majority at work stays: whether that
// or the recovery was the mistake is for somebody to judge, who is told by both sides'
// logs, and by this node's health.
func (n *Node) endIfOutlived(ctx context.Context) bool {
	p := n.parted()
	if p == nil || time.Since(p.since) < partingGrace || n.isAtWork(ctx) {
		return false
	}
	n.fatal.Do(func() {
		err := errors.Join(fmt.Errorf("%w (the member at %s told so)", ErrOutlived, p.peer), datadir.Outlive(n.config.DataDir))
		n.failure.Store(&err)
		n.logger.Error("the cluster was recovered without this node: it stops", "told_by", p.peer, "error", err)
		n.config.Fatal(err)
	})
	return true
}

// isAtWork tells whether the node leads, or has a leader, that has been there for long.
// One that cannot be asked in time is asked again.
func (n *Node) isAtWork(ctx context.Context) bool {
	leader, known := n.Leader()
	switch {
	case !known:
		return false
	case leader.ID == n.config.NodeID:
		return time.Since(n.started) > comingBack
	}
	ctx, cancel := context.WithTimeout(ctx, memberWait)
	defer cancel()
	status := statusOf(ctx, n.config.Calls, leader)
	return status.Role == RoleDown || time.Duration(status.UptimeMillis)*time.Millisecond > comingBack
}
