package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cluster/datadir"
)

// ErrOutlived is what ends a node whose cluster was recovered without it.
var ErrOutlived = datadir.ErrOutlived

// Fresh tells whether the node has nothing yet: no entry but the configuration that it
// was started with, which it has acknowledged to nobody.
func (n *Node) Fresh() bool { return n.group.Roster().UpTo <= 1 }

// Outlived is told, by the streams between nodes, of one that has been through a
// recovery that this node knows nothing of (ME-9). A member that was lost, and has come
// back with what it had, stops for good. One that has long been part of a majority at work
// stays: whether that or the recovery was the mistake is for somebody to judge, who is
// told by both sides' logs, and by this node's health.
func (n *Node) Outlived(peer string) {
	switch {
	case n.Fresh(): // it belongs to whoever takes it in
	case n.group.CaughtUp() && time.Since(n.started) > comingBack:
		n.apart.Store(&peer)
	default:
		n.fatal.Do(func() {
			err := errors.Join(fmt.Errorf("%w (%s told so)", ErrOutlived, peer), datadir.Outlive(n.config.DataDir))
			n.failure.Store(&err)
			n.logger.Error("the cluster was recovered without this node: it stops", "told_by", peer, "error", err)
			n.config.Fatal(err)
		})
	}
}

// comingBack is how long after its start a node has come back: two lost members may have
// elected one of them before either has reached the recovered cluster.
const comingBack = time.Minute

// isApart says that another part of the cluster goes on by itself.
func (n *Node) isApart() error {
	if peer := n.apart.Load(); peer != nil {
		return fmt.Errorf("the cluster was recovered without this node, and goes on without it: %s said so; there are two clusters", *peer)
	}
	return nil
}
