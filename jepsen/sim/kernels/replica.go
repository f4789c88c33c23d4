package kernels

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/fsm/snapshot"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/stretchr/testify/require"
)

// replica is one kernel, and what of it survives a crash: its last snapshot.
type replica struct {
	kernel   *kernel.Kernel // nil while it is down
	applied  int            // entries of the log
	state    *state.State   // published last; nil while it is down
	snapshot []byte         // as it lies on a disk; nil before the first
	covers   int            // entries that the snapshot stands for
}

func (r *replica) up() bool { return r.kernel != nil }

func (r *replica) crash() { r.kernel, r.state, r.applied = nil, nil, 0 }

// restart is what a process does that begins.
func (w *world) restart(r *replica) {
	if r.up() {
		return
	}
	r.kernel = kernel.New("default", kerneltest.Lookup)
	if r.snapshot != nil {
		r.kernel = w.read(r.snapshot)
	}
	r.applied = r.covers
	w.publish(r)
}

// apply takes entries in, as many as there are up to count, and compares every
// block with the log's (LO-1).
func (w *world) apply(r *replica, count int) {
	for range count {
		if r.applied >= len(w.sim.Blocks) || r.applied < w.first {
			return
		}
		entry := &w.sim.Log[r.applied]
		sent, err := event.Decode(entry.Event.Append(nil))
		require.NoError(w.t, err)
		index := uint64(r.applied) + 1
		applied := entry.Apply(r.kernel, index, entry.Term, &sent)
		if !bytes.Equal(w.sim.Blocks[r.applied], applied.Block) {
			require.FailNow(w.t, fmt.Sprintf("the block at index %d is not the log's", index))
		}
		r.kernel.Requested()
		r.applied++
	}
}

// publish lets the batch be seen, and compares the state with what others had
// at this index (LO-3).
func (w *world) publish(r *replica) {
	r.state = r.kernel.Publish()
	require.EqualValues(w.t, r.applied, r.state.Index)
	w.agree(r.state)
}

func (w *world) agree(s *state.State) {
	digest := kernel.Digest(s)
	first, known := w.digests[s.Index]
	if !known {
		w.digests[s.Index] = digest
		return
	}
	require.Equal(w.t, first, digest, "two states at index %d", s.Index)
}

// shoot takes a snapshot of what is published.
func (w *world) shoot(r *replica) {
	var to bytes.Buffer
	require.NoError(w.t, snapshot.Write(&to, "test", "default", r.state))
	r.snapshot, r.covers = to.Bytes(), r.applied
}

// halfShot crashes in the middle of one: what is there of it is not mistaken for
// a snapshot, and the one before still counts.
func (w *world) halfShot(r *replica, share int) {
	var to bytes.Buffer
	require.NoError(w.t, snapshot.Write(&to, "test", "default", r.state))
	_, err := sections(to.Bytes()[:to.Len()*share/1024])
	require.Error(w.t, err, "a part of a snapshot was taken for one")
	r.crash()
}

// sections reads a snapshot to its end.
func sections(raw []byte) (*kernel.Restorer, error) {
	reader, err := snapshot.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	restorer := kernel.NewRestorer()
	for {
		section, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return restorer, nil
		}
		if err != nil {
			return nil, err
		}
		if err := restorer.Add(section); err != nil {
			return nil, err
		}
	}
}

func (w *world) read(raw []byte) *kernel.Kernel {
	restorer, err := sections(raw)
	require.NoError(w.t, err)
	k, err := restorer.Done(kerneltest.Lookup)
	require.NoError(w.t, err)
	return k
}
