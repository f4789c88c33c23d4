package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Report of a restore.
type Report struct {
	ClusterID string         `json:"cluster_id"`      // of the new cluster
	From      string         `json:"from_cluster_id"` // of the one that was backed up
	KernelID  string         `json:"kernel_id"`
	Index     uint64         `json:"index"` // Raft index of the last event that was restored
	Chain     string         `json:"chain"` // hex, after it
	Nodes     []Target       `json:"nodes"` // the directories that were made
	Backup    backup.Summary `json:"-"`
}

// Run reads a backup once and writes the plan's directories. The error is a
// *PlanError, datadir.ErrNotEmpty, what reading the backup found (*backup.Broken,
// *backup.NewerError), the disk's, or the context's; whatever it is, nothing is left
// in which a node starts.
func Run(ctx context.Context, from io.Reader, p Plan) (Report, error) {
	if err := p.Check(); err != nil {
		return Report{}, err
	}
	if p.Logger == nil {
		p.Logger = hclog.NewNullLogger()
	}
	r, err := backup.NewReader(interruptible{ctx, from})
	if err != nil {
		return Report{}, err
	}
	if r.Header().ClusterID == p.ClusterID {
		// Two clusters of one id would take each other's nodes for their own.
		return Report{}, &PlanError{"cluster id", fmt.Sprintf("the backup is of the cluster %s: the new one must have another id", p.ClusterID)}
	}
	w := &restoring{ctx: ctx, plan: &p, from: r, header: r.Header(), folded: state.New(r.Header().KernelID)}
	if _, err := os.Lstat(p.Dir); errors.Is(err, os.ErrNotExist) {
		w.made = true
	}
	if err := w.run(); err != nil {
		return Report{}, errors.Join(err, w.undo())
	}
	sum := r.Summary()
	return Report{
		ClusterID: p.ClusterID, From: sum.ClusterID, KernelID: sum.KernelID, Index: sum.Index, Chain: sum.Chain,
		Nodes: p.Targets(), Backup: sum,
	}, nil
}

type restoring struct {
	ctx    context.Context
	plan   *Plan
	from   *backup.Reader
	header backup.Header
	nodes  []*node
	made   bool         // the plan's directory was not there
	folded *state.State // what the log leads to
	end    *logging.Tables
}

func (w *restoring) run() error {
	for _, target := range w.plan.Targets() {
		n, err := begin(target)
		if err != nil {
			return err
		}
		w.nodes = append(w.nodes, n)
	}
	for _, n := range w.nodes {
		if err := n.open(w.plan, &w.header); err != nil {
			return err
		}
	}
	log := w.log
	if w.header.FullFrom > 0 {
		log = w.partialLog
	}
	for _, step := range []func() error{w.state, log, w.finish} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *restoring) undo() error {
	var errs []error
	for _, n := range w.nodes {
		errs = append(errs, n.undo())
	}
	if w.made && w.plan.Node == "" {
		_ = os.Remove(w.plan.Dir) // unless something is in it: then it is worth a look
	}
	return errors.Join(errs...)
}

// state writes the sections under the new cluster's header. What is in them is not
// looked at: the log will say what it must be. Where it cannot, since blocks are
// missing in it, each section must be one at least.
func (w *restoring) state() error {
	sections, restorer := uint64(0), kernel.NewRestorer()
	return w.from.State(func(one kernel.Section) error {
		sections++
		w.progress(backup.PartState, sections, 0)
		if w.header.FullFrom > 0 {
			if err := restorer.Add(one); err != nil {
				return fmt.Errorf("restore: the state: %w", err)
			}
		}
		h := w.from.Snapshot()
		h.ClusterID = w.plan.ClusterID
		for _, n := range w.nodes {
			if err := n.section(h, one); err != nil {
				return err
			}
		}
		return nil
	})
}

// log writes the blocks, and folds them: the tables after each say how the log is cut
// into segments, and the state at the end is compared with the one in the backup.
func (w *restoring) log() error {
	for {
		raw, err := w.from.Block()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := w.from.Fold(w.folded, raw); err != nil {
			return err
		}
		for _, n := range w.nodes {
			if err := n.log.Append(raw, &w.folded.Log); err != nil {
				return fmt.Errorf("restore: execution log: %w", err)
			}
		}
		w.progress(backup.PartLog, w.folded.Log.Position, w.header.LogBytes)
	}
	w.end = &w.folded.Log
	return w.from.Leads(w.folded)
}

// partialLog writes blocks, and stubs where they are only in an archive. The state's
// manifest says how they are cut, and the chain over all of them must be its own: the
// log is the one that the state stands on, but cannot be folded to see that it leads
// there.
func (w *restoring) partialLog() error {
	tables := w.from.Tables()
	w.end = &tables
	for _, n := range w.nodes {
		if err := n.importLog(w.plan, &w.header, &tables); err != nil {
			return err
		}
	}
	for {
		raw, err := w.from.Block()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		at := w.from.Point()
		for _, n := range w.nodes {
			if err := n.imported.Add(raw, at); err != nil {
				return fmt.Errorf("restore: %w", err)
			}
		}
		w.progress(backup.PartLog, at.Position, w.header.LogBytes)
	}
}

func (w *restoring) finish() error {
	for _, n := range w.nodes {
		if err := n.finish(w.ctx, w.plan, w.end); err != nil {
			return err
		}
	}
	if w.plan.Finish != nil {
		if err := w.plan.Finish(w.header); err != nil {
			return err
		}
	}
	// From here on nodes start, one after the other: all of them are complete.
	for _, n := range w.nodes {
		if err := datadir.End(n.target.Dir); err != nil {
			return err
		}
	}
	return nil
}

func (w *restoring) progress(part backup.Part, done, total uint64) {
	if w.plan.Progress != nil {
		w.plan.Progress(part, done, total)
	}
}

// interruptible is a stream that ends with its context.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (i interruptible) Read(b []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.from.Read(b)
}
