package cluster

import (
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/fsm/segment"
)

// ErrForgotten says that the Raft store lacks what this node had acknowledged: it is
// missing, an older copy, or its end is gone. Its vote may be gone with it. A node
// that went on would count for what it does not have.
var ErrForgotten = errors.New("cluster: the Raft store has lost what this node had acknowledged. While the other voters are up and one of them leads, move the data directory away and start the node with an empty one; otherwise add it under a new id, or restore a backup")

// refuseMissing refuses a directory whose Raft store is not there, and which has a
// past: a store is the first thing that a node makes.
func refuseMissing(dir, kernel string, kind raftstore.Kind) error {
	raftDir := datadir.RaftDir(dir, kernel)
	missing, err := raftstore.Missing(kind, raftDir)
	if err != nil || missing == "" {
		return err
	}
	snapshot, err := consensus.LastSnapshot(raftDir)
	if err != nil {
		return fmt.Errorf("cluster: snapshots: %w", err)
	}
	index, file, err := segment.Reached(datadir.LogDir(dir, kernel))
	switch {
	case err != nil:
		return fmt.Errorf("cluster: execution log: %w", err)
	case index > 0:
		return fmt.Errorf("%w (%s is missing, and %s goes up to index %d)", ErrForgotten, missing, file, index)
	case snapshot > 0:
		return fmt.Errorf("%w (%s is missing, and there is a snapshot of index %d)", ErrForgotten, missing, snapshot)
	}
	return nil
}

// refuseShort refuses a Raft store that ends before the execution log: whatever is in
// that was committed, and in the store before it was. So it does one whose term is below
// what the node has done.
func (n *Node) refuseShort() error {
	c := &n.config
	if c.Disk != nil {
		return nil // a simulation's: it is not beside the log
	}
	last, err := n.store.Logs().LastIndex()
	if err != nil {
		return fmt.Errorf("cluster: raft store: %w", err)
	}
	raftDir := datadir.RaftDir(c.DataDir, c.KernelID)
	snapshot, err := consensus.LastSnapshot(raftDir)
	if err != nil {
		return fmt.Errorf("cluster: snapshots: %w", err)
	}
	term, err := consensus.SnapshotTerm(raftDir)
	if err != nil {
		return fmt.Errorf("cluster: snapshots: %w", err)
	}
	if err := n.store.CheckTerm(term); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	index, file, err := segment.Reached(datadir.LogDir(c.DataDir, c.KernelID))
	if err != nil {
		return fmt.Errorf("cluster: execution log: %w", err)
	}
	if index > max(last, snapshot) {
		return fmt.Errorf("%w (%s ends at index %d, and %s goes up to index %d)", ErrForgotten, n.store.Path(), max(last, snapshot), file, index)
	}
	return nil
}
