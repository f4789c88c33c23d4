package cluster

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// Errors of Healthy.
var (
	errNotCaughtUp = errors.New("the node has not caught up since it started")
	errNoLeader    = errors.New("the node knows no leader")
	errStuck       = errors.New("entries are committed, but the node does not apply them")
	errLogBlocked  = errors.New("nobody reads the node's log output: lines wait, and more would be dropped")
	errNotLooked   = errors.New("the node has not looked at its disk for a while: that hangs, or keeps failing")
)

// stuckAfter is how long Apply may stand still while commits go on.
const stuckAfter = 5 * time.Second

// Bounds on what a node puts up with of the machine.
const (
	blockedAfter   = 5 * time.Second  // a write of its log output
	notLookedAfter = 15 * time.Second // at its disk
)

// look is what the node saw when it looked at its disk.
type look struct {
	at          time.Time
	err         error  // what is wrong
	free, total uint64 // bytes
}

// lookAtDisk sees how much room is left where the node keeps everything. A small
// disk is nearly full when a tenth of it is left.
func (n *Node) lookAtDisk() {
	if n.config.MinFree == 0 {
		return
	}
	free, total, err := n.config.Room(n.config.DataDir)
	if err != nil {
		err = fmt.Errorf("the node's disk cannot be looked at: %w", err)
	} else if least := min(n.config.MinFree, total/10); free < least {
		err = fmt.Errorf("the node's disk is nearly full: %d MiB are left, and less than %d is too little", free>>20, least>>20)
	}
	n.disk.Store(&look{time.Now(), err, free, total})
}

// room is what the file system says of a directory, in bytes.
func room(dir string) (free, total uint64, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", dir, err)
	}
	return fs.Bavail * uint64(fs.Bsize), fs.Blocks * uint64(fs.Bsize), nil
}

// machine says what is wrong with what the node runs on.
func (n *Node) machine() error {
	if blocked := n.config.LogBlocked; blocked != nil && blocked() > blockedAfter {
		return errLogBlocked
	}
	seen := n.disk.Load()
	switch {
	case seen == nil:
		return nil
	case seen.err != nil:
		return seen.err
	case time.Since(seen.at) > notLookedAfter:
		return errNotLooked
	}
	return nil
}

// Healthy says why this node should not be asked; nil when it may.
func (n *Node) Healthy() error {
	if failed := n.failure.Load(); failed != nil {
		return *failed
	}
	if err := n.log.Err(); err != nil {
		return err
	}
	if err := n.machine(); err != nil {
		return err
	}
	if err := n.isApart(); err != nil {
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
