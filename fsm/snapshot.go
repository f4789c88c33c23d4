package fsm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/fsm/snapshot"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// ErrForeignSnapshot says that a start met a snapshot that is not its own.
var ErrForeignSnapshot = errors.New("fsm: the snapshot belongs to another cluster or kernel")

// Snapshot implements raft.FSM in constant time: the published state is
// immutable, and persisting it runs beside ApplyBatch.
func (f *FSM) Snapshot() (raft.FSMSnapshot, error) {
	return &captured{f: f, state: f.state.Load()}, nil
}

type captured struct {
	f     *FSM
	state *state.State
}

// Persist implements raft.FSMSnapshot. Before the sink closes the execution
// log is durable up to the captured position (LO-2).
func (c *captured) Persist(sink raft.SnapshotSink) error {
	err := snapshot.Write(sink, c.f.options.ClusterID, c.f.options.KernelID, c.state)
	if err == nil {
		err = c.f.options.Log.Sync(context.Background(), c.state.Log.Position)
	}
	if err != nil {
		_ = sink.Cancel() // the first error is the one to tell
		return fmt.Errorf("fsm: snapshot at index %d: %w", c.state.Index, err)
	}
	if err := sink.Close(); err != nil {
		return err
	}
	c.f.archive(c.state)
	return nil
}

// Release implements raft.FSMSnapshot; the garbage collector does it.
func (c *captured) Release() {}

// Restore implements raft.FSM: a new kernel is built beside the old one and
// swapped in when every byte of the snapshot has been checked.
func (f *FSM) Restore(from io.ReadCloser) error {
	defer from.Close()
	k, err := f.read(bufio.NewReaderSize(from, 1<<20))
	if err != nil {
		return err
	}
	if err := f.prepare(k.Publish().Version()); err != nil {
		return fmt.Errorf("fsm: the snapshot: %w", err)
	}
	if f.resumed { // the leader sent it: the log goes on behind a gap
		if err := f.options.Log.Reset(*k.Log()); err != nil {
			err = fmt.Errorf("fsm: execution log after a snapshot from the leader: %w", err)
			f.fatal(err)
			return err
		}
	}
	f.kernel = k
	if err := f.resume(); err != nil {
		return err
	}
	f.publish()
	f.archive(f.State())
	return nil
}

func (f *FSM) read(from io.Reader) (*kernel.Kernel, error) {
	r, err := snapshot.NewReader(from)
	if err != nil {
		return nil, err
	}
	h := r.Header()
	if h.ClusterID != f.options.ClusterID || h.KernelID != f.options.KernelID {
		return nil, fmt.Errorf("%w: it names cluster %q, kernel %q", ErrForeignSnapshot, h.ClusterID, h.KernelID)
	}
	restorer := kernel.NewRestorer()
	for {
		section, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := restorer.Add(section); err != nil {
			return nil, err
		}
	}
	k, err := restorer.Done(f.options.Evaluators)
	if err == nil && snapshot.HeaderOf(h.ClusterID, h.KernelID, k.Publish()) != h {
		return nil, fmt.Errorf("%w: header and content name different places", snapshot.ErrDamaged)
	}
	return k, err
}
