package consensus

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/raft"
)

// ErrNoSnapshot says that the snapshots which a node needs cannot be used: they are
// missing or damaged, and the log does not reach back to one that is sound.
var ErrNoSnapshot = errors.New("no snapshot can be used that the Raft log goes on from. While the other voters are up and one of them leads, move the data directory away and start the node with an empty one; otherwise restore a backup")

// begin starts the library. It ends the process when the log does not go on where a
// snapshot ends, and does not say which snapshots it could not read.
func (g *Group) begin(conf *raft.Config) (r *raft.Raft, err error) {
	c := &g.config
	where := filepath.Join(c.SnapshotDir, snapshotsDir)
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if missing, ok := cause.(error); !ok || !errors.Is(missing, raft.ErrLogNotFound) {
			panic(cause)
		}
		first, firstErr := c.Log.FirstIndex()
		err = errors.Join(fmt.Errorf("%w (%s; the log begins at index %d)", ErrNoSnapshot, where, first), damageOf(c.Snapshots), firstErr)
	}()
	r, err = raft.NewRaft(conf, g.progress, c.Log, c.Stable, c.Snapshots, g.transport)
	if err == nil {
		return r, nil
	}
	if snapshots, listErr := c.Snapshots.List(); listErr == nil && len(snapshots) > 0 {
		return nil, fmt.Errorf("%w (%s; the newest is %s): %w", ErrNoSnapshot, where, snapshots[0].ID, err)
	}
	return nil, fmt.Errorf("start raft: %w", err)
}
