package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/fsm/snapshot"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// node is one data directory while it is written.
type node struct {
	target   Target
	made     bool // the directory was not there
	sink     raft.SnapshotSink
	snapshot *snapshot.Writer
	log      *segment.Store
	imported *segment.Import // in its place, where the log has stubs
	needs    uint32          // kernel version of what is restored (EV-9)
}

// begin claims the directory for the restore.
func begin(t Target) (*node, error) {
	made, err := datadir.Begin(t.Dir)
	if err != nil {
		return nil, err
	}
	return &node{target: t, made: made}, nil
}

// open makes the files.
func (n *node) open(p *Plan, h *backup.Header) (err error) {
	n.needs = h.KernelVersion
	raftDir := datadir.RaftDir(n.target.Dir, h.KernelID)
	if err := n.seedTerm(p, raftDir, h.Term); err != nil {
		return err
	}
	if n.sink, err = consensus.SeedSnapshot(raftDir, h.Index, h.Term, p.members()); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if h.FullFrom > 0 {
		return nil // its files are made when the state has told where they end
	}
	n.log, err = segment.Open(datadir.LogDir(n.target.Dir, h.KernelID), segment.Options{
		Owner: segment.Owner(p.ClusterID, h.KernelID), Logger: p.Logger,
	})
	if err == nil {
		err = n.log.Resume(logging.Genesis(h.KernelID))
	}
	if err != nil {
		return fmt.Errorf("restore: execution log: %w", err)
	}
	return nil
}

// seedTerm makes the Raft store.
func (n *node) seedTerm(p *Plan, dir string, term uint64) error {
	var failed error
	store, err := raftstore.Open(raftstore.Options{Kind: p.Store, Dir: dir, Fatal: func(err error) { failed = err }, Logger: p.Logger})
	if err != nil {
		return fmt.Errorf("restore: raft store: %w", err)
	}
	if err := errors.Join(consensus.SeedTerm(store.Stable(), term), store.Close(), failed); err != nil {
		return fmt.Errorf("restore: raft store: %w", err)
	}
	return nil
}

// section takes the next piece of the state. The header is written before the first.
func (n *node) section(h snapshot.Header, one kernel.Section) (err error) {
	if n.snapshot == nil {
		if n.snapshot, err = snapshot.NewWriter(n.sink, h); err != nil {
			return fmt.Errorf("restore: snapshot: %w", err)
		}
	}
	if err := n.snapshot.Section(one); err != nil {
		return fmt.Errorf("restore: snapshot: %w", err)
	}
	return nil
}

// importLog begins a log that has stubs in it.
func (n *node) importLog(p *Plan, h *backup.Header, t *logging.Tables) (err error) {
	n.imported, err = segment.NewImport(datadir.LogDir(n.target.Dir, h.KernelID), segment.Owner(p.ClusterID, h.KernelID), t)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// endLog makes the log durable.
func (n *node) endLog(ctx context.Context, end *logging.Tables) error {
	if n.imported != nil {
		return n.imported.Finish()
	}
	if err := n.log.Sync(ctx, end.Position); err != nil {
		return err
	}
	log := n.log
	n.log = nil
	return log.Close()
}

// finish makes everything durable; the directory belongs to its node then.
func (n *node) finish(ctx context.Context, p *Plan, end *logging.Tables) error {
	if err := n.endLog(ctx, end); err != nil {
		return fmt.Errorf("restore: execution log: %w", err)
	}
	if err := n.snapshot.Finish(); err != nil {
		return fmt.Errorf("restore: snapshot: %w", err)
	}
	sink := n.sink
	n.sink = nil
	if err := sink.Close(); err != nil {
		return fmt.Errorf("restore: snapshot: %w", err)
	}
	if err := datadir.Assign(n.target.Dir, p.ClusterID, n.target.Node); err != nil {
		return err
	}
	return datadir.Need(n.target.Dir, n.needs)
}

// undo removes all of it. The first failure is the one to tell, so what fails here
// only leaves a directory behind that starts nowhere.
func (n *node) undo() error {
	var errs []error
	if n.sink != nil {
		errs = append(errs, n.sink.Cancel())
	}
	if n.log != nil {
		errs = append(errs, n.log.Close())
	}
	if n.imported != nil {
		errs = append(errs, n.imported.Abort())
	}
	return errors.Join(append(errs, datadir.Undo(n.target.Dir, n.made))...)
}
