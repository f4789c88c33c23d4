package backup

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Options of Verify.
type Options struct {
	// Deep folds the whole log, too, and compares the state that it gives.
	Deep       bool
	Evaluators flows.Lookup // as a node of the cluster knows them
	Progress   Progress     // may be nil
}

// Checked says how much of a backup was looked at.
type Checked string

// From less to more.
const (
	CheckedState Checked = "state" // header, state and trailer: Inspect
	CheckedAll   Checked = "all"   // and the log
	CheckedDeep  Checked = "deep"  // and what the log leads to
)

// Report of a backup that was looked into.
type Report struct {
	Summary
	Content Content `json:"content"`
	Checked Checked `json:"checked"`
}

// Verify reads one backup to its end and checks everything: each frame, the chain
// of the log from its genesis to where the state stands, the state's digest, and
// that this program reads that state, to the same digest. With Deep the log folded
// by itself must give that state, too; of one with stubs that is a *PartialError. It
// builds the state in memory, or two.
func Verify(ctx context.Context, from io.Reader, o Options) (Report, error) {
	r, err := NewReader(&interruptible{ctx, from})
	if err != nil {
		return Report{}, err
	}
	if o.Deep && r.header.FullFrom > 0 {
		return Report{}, &PartialError{FullFrom: r.header.FullFrom}
	}
	b, fold := builder{restorer: kernel.NewRestorer()}, func([]byte) error { return nil }
	var folded *state.State
	if o.Deep {
		folded = state.New(r.header.KernelID)
		fold = func(raw []byte) error { return r.Fold(folded, raw) }
	}
	if err := walk(r, o.Progress, b.add, fold); err != nil {
		return Report{}, r.broken(err)
	}
	report := Report{Summary: r.sum, Checked: CheckedAll}
	if report.Content, err = b.content(o.Evaluators, r.sum.StateDigest); err != nil {
		return Report{}, r.broken(err)
	}
	if o.Deep {
		if err := r.Leads(folded); err != nil {
			return Report{}, err
		}
		report.Checked = CheckedDeep
	}
	return report, nil
}

// Fold takes the block that Block has just given into a state, which must be the one
// that the blocks before it led to (kernel.Fold).
func (r *Reader) Fold(s *state.State, raw []byte) error {
	err := sound(func() error { return kernel.Fold(s, raw) })
	if err == nil {
		return nil
	}
	inside := len(r.frames.body) - len(r.rest) - len(raw)
	return &Broken{Offset: r.frames.offset + headBytes + int64(inside), Part: PartLog, What: "the block cannot be folded", Err: err}
}

// Leads checks, after the last block, that the state which they led to is the one in
// the backup.
func (r *Reader) Leads(folded *state.State) error {
	if err := sound(func() error { return same(folded, r.sum.StateDigest) }); err != nil {
		return &Broken{Offset: r.sum.Bytes, Part: PartLog, What: "the log does not lead to the state", Err: err}
	}
	return nil
}

// broken places an error of the state's content.
func (r *Reader) broken(err error) error {
	var content *contentError
	if errors.As(err, &content) {
		return &Broken{Offset: r.frames.offset, Part: PartState, What: "the state cannot be built", Err: content.err}
	}
	return err
}

// contentError is a state that is whole and that this program cannot read.
type contentError struct{ err error }

func (e *contentError) Error() string { return e.err.Error() }

// builder builds the state from its sections.
type builder struct{ restorer *kernel.Restorer }

func (b *builder) add(one kernel.Section) error {
	err := sound(func() error { return b.restorer.Add(one) })
	if errors.Is(err, kernel.ErrSnapshotVersion) {
		return fmt.Errorf("backup: %w", err)
	}
	if err != nil {
		return &contentError{err}
	}
	return nil
}

// content ends the state, compares its digest, and counts what is in it.
func (b *builder) content(lookup flows.Lookup, digest string) (c Content, err error) {
	err = sound(func() error {
		k, err := b.restorer.Done(lookup)
		if err != nil {
			return err
		}
		s := k.Publish()
		c = ContentOf(s)
		return same(s, digest)
	})
	if err != nil {
		return c, &contentError{err}
	}
	return c, nil
}

var errOtherDigest = errors.New("it has another digest")

func same(s *state.State, digest string) error {
	if found := kernel.Digest(s); hex.EncodeToString(found[:]) != digest {
		return errOtherDigest
	}
	return nil
}

// sound runs what may meet a content that no kernel wrote: whatever that breaks is
// the backup's fault, and no reason to end the program.
func sound(step func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("no kernel wrote this: %v", cause)
		}
	}()
	return step()
}
