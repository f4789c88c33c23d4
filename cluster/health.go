package cluster

import (
	"errors"
	"time"
)

// Errors of Healthy.
var (
	errNotCaughtUp = errors.New("the node has not caught up since it started")
	errNoLeader    = errors.New("the node knows no leader")
	errStuck       = errors.New("entries are committed, but the node does not apply them")
)

// stuckAfter is how long Apply may stand still while commits go on.
const stuckAfter = 5 * time.Second

// Healthy says why this node should not be asked; nil when it may.
func (n *Node) Healthy() error {
	if failed := n.failure.Load(); failed != nil {
		return *failed
	}
	if err := n.log.Err(); err != nil {
		return err
	}
	raft := n.group.Status()
	switch {
	case raft.Leader.ID == "":
		return errNoLeader
	case !raft.CaughtUp:
		return errNotCaughtUp
	case raft.Applied < raft.CommitIndex && n.currentLag() > stuckAfter:
		return errStuck
	}
	return nil
}
