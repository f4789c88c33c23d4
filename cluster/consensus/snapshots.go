package consensus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// growthPoll is how often the bytes stored since the last snapshot are looked at.
const growthPoll = time.Second

// countGrowth counts, at a start, what the last snapshot does not cover.
func countGrowth(c Config) error {
	snapshots, err := c.Snapshots.List()
	if err != nil {
		return fmt.Errorf("list snapshots: %w", err)
	}
	var covered uint64
	if len(snapshots) > 0 {
		covered = snapshots[0].Index
	}
	if err := c.Growth.CountFrom(covered + 1); err != nil {
		return fmt.Errorf("count log bytes: %w", err)
	}
	return nil
}

// watchGrowth takes a snapshot whenever the log has grown by enough: by
// Limits.SnapshotBytes, or by twice the last snapshot, so that writing
// snapshots costs at most half of what writing the log does. Every node takes
// its own.
func (g *Group) watchGrowth() {
	growth := g.config.Growth
	if growth == nil {
		return
	}
	for pause(g.ctx, growthPoll) {
		if growth.Bytes() <= max(g.config.Limits.SnapshotBytes, 2*g.lastSnapshotSize()) {
			continue
		}
		if err := g.Snapshot(g.ctx); err != nil && g.ctx.Err() == nil {
			g.config.Logger.Error("snapshot failed", "error", err)
			pause(g.ctx, 10*growthPoll)
		}
	}
}

func (g *Group) lastSnapshotSize() uint64 {
	snapshots, err := g.config.Snapshots.List()
	if err != nil || len(snapshots) == 0 {
		return 0
	}
	return uint64(max(snapshots[0].Size, 0))
}

// Snapshot takes one now and drops the entries behind it, but for
// Limits.TrailingLogs. Nothing new since the last one is no error.
func (g *Group) Snapshot(ctx context.Context) error {
	var covered uint64
	if g.config.Growth != nil {
		covered = g.config.Growth.Bytes()
	}
	done := make(chan error, 1)
	if !g.crew.start(func() { done <- g.raft.Snapshot().Error() }) {
		return refusal(Shutdown, "this node is stopping")
	}
	select {
	case err := <-done:
		if errors.Is(err, raft.ErrNothingNewToSnapshot) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		if g.config.Growth != nil {
			g.config.Growth.Forget(covered)
		}
		return nil
	case <-ctx.Done():
		return refusal(Timeout, "writing a snapshot")
	}
}
