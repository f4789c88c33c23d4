package cluster

import (
	"cmp"
	"context"
	"io"

	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Backup writes a backup of a published state, and of the log up to it, as package
// fsm/backup has it. It reads what is there anyway, at the pace at which to takes
// the bytes; Apply never waits for it.
func (n *Node) Backup(ctx context.Context, s *state.State, to io.Writer) (backup.Summary, error) {
	return backup.Write(ctx, to, backup.Source{
		State: s, Log: n.log, Node: n.config.NodeID, Binary: n.config.Version, MadeAt: n.config.Wall(),
	})
}

// Backups tells how backups by the clock stand; nil when there are none.
func (n *Node) Backups() *backups.Status {
	if n.keeper == nil {
		return nil
	}
	status := n.keeper.Status()
	return &status
}

// openKeeper prepares backups by the clock. They are read and written at a pace that
// leaves commands the disks, and nobody waits for them.
func (n *Node) openKeeper(c *BackupConfig) (*backups.Keeper, error) {
	load := loadMeter{look: func() (uint64, uint64, int) {
		s := n.group.Status()
		return s.LastIndex, s.CommitIndex, s.Open
	}}
	limit := pace{beside: cmp.Or(c.Rate, DefaultBackupRate), working: load.working}
	return backups.New(backups.Options{
		Dir: c.Dir, Every: c.Every, Keep: c.Keep, Node: n.config.NodeID,
		State: n.fsm.State, Write: n.Backup, Pace: limit.take, Wall: n.config.Wall, Logger: n.logger.Named("backups"),
	})
}
