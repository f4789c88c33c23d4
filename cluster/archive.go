package cluster

import "context"

// archived is told that a LOG_ARCHIVE was applied. It never blocks.
func (n *Node) archived() {
	select {
	case n.toArchive <- struct{}{}:
	default: // one is waiting already
	}
}

// snapshotToArchive takes a snapshot for every LOG_ARCHIVE: files are moved only
// when one stands behind them, and the next one might be far away.
func (n *Node) snapshotToArchive(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.toArchive:
		}
		if err := n.group.Snapshot(ctx); err != nil && ctx.Err() == nil {
			n.logger.Warn("the log is archived with the next snapshot", "error", err)
		}
	}
}
