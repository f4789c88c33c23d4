package cluster

import "context"

// Snapshot takes one now, as the node does when its log has grown by enough.
func (n *Node) Snapshot(ctx context.Context) error { return n.group.Snapshot(ctx) }
