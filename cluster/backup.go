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
// the bytes, and beside commands no faster than BackupRate; Apply never waits for it.
func (n *Node) Backup(ctx context.Context, s *state.State, to io.Writer) (backup.Summary, error) {
	return n.writeBackup(ctx, s, &pacedWriter{ctx: ctx, to: to, pace: n.backupPace})
}

func (n *Node) writeBackup(ctx context.Context, s *state.State, to io.Writer) (backup.Summary, error) {
	return backup.Write(ctx, to, backup.Source{
		State: s, Log: n.log, Node: n.config.NodeID, Binary: n.config.Version, MadeAt: n.config.Wall(),
	})
}

// pacedWriter lets bytes through at the pace that leaves commands their share.
type pacedWriter struct {
	ctx  context.Context
	to   io.Writer
	pace *sharedPace
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	if !p.pace.take(p.ctx, len(b)) {
		return 0, p.ctx.Err()
	}
	return p.to.Write(b)
}

// Backups tells how backups by the clock stand; nil when there are none.
func (n *Node) Backups() *backups.Status {
	if n.keeper == nil {
		return nil
	}
	status := n.keeper.Status()
	return &status
}

// paceBackups says how fast backups are read, all of them together.
func (n *Node) paceBackups() {
	load := loadMeter{look: func() (uint64, uint64, int) {
		s := n.group.Status()
		return s.LastIndex, s.CommitIndex, s.Open
	}}
	n.backupPace = newSharedPace(pace{beside: cmp.Or(n.config.BackupRate, DefaultBackupRate), working: load.working})
}

// openKeeper prepares backups by the clock. They are read and written at a pace that
// leaves commands the disks, and nobody waits for them.
func (n *Node) openKeeper(c *BackupConfig) (*backups.Keeper, error) {
	return backups.New(backups.Options{
		Dir: c.Dir, Every: c.Every, Keep: c.Keep, Node: n.config.NodeID,
		State: n.fsm.State, Write: n.writeBackup, Pace: n.backupPace.take, Wall: n.config.Wall, Logger: n.logger.Named("backups"),
	})
}
