package cluster

import (
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

// Lifecycle tells where the node stands (NO-1).
func (n *Node) Lifecycle() nodestate.Snapshot { return n.state.Snapshot() }

// Journal gives what is on record of the node's lifecycle after a seq, the newest
// entries when there are more than limit.
func (n *Node) Journal(after uint64, limit int) (nodejournal.Found, error) {
	return n.config.tail(after, limit)
}

// Lifecycle of a node in safe mode is Crashed until it is told to stop.
func (h *Held) Lifecycle() nodestate.Snapshot { return h.config.State.Snapshot() }

// Journal gives what is on record of the node's lifecycle.
func (h *Held) Journal(after uint64, limit int) (nodejournal.Found, error) {
	return h.config.tail(after, limit)
}

func (c *Config) tail(after uint64, limit int) (nodejournal.Found, error) {
	if c.Journal == nil {
		return nodejournal.Found{}, nil
	}
	return c.Journal.Tail(after, limit)
}
