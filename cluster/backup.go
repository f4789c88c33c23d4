package cluster

import (
	"context"
	"io"

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
