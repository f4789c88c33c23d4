package backup

import (
	"context"
	"errors"
	"io"

	"github.com/omnikernel/omnikernel/kernel"
)

// Progress is told how far reading a backup has come: of the state in sections,
// whose number is not known before (total 0), of the log in bytes.
type Progress func(part Part, done, total uint64)

// Copy reads one backup to its end, checks everything that can be checked without
// building the state, and writes every byte to w. The error is a *Broken, a
// *NewerError, the stream's, w's, or the context's. progress may be nil.
func Copy(ctx context.Context, w io.Writer, from io.Reader, progress Progress) (Summary, error) {
	r, err := newReader(&interruptible{ctx, from}, w)
	if err != nil {
		return Summary{}, err
	}
	err = walk(r, progress, func(kernel.Section) error { return nil }, func([]byte) error { return nil })
	return r.sum, err
}

// walk reads a backup to its end.
func walk(r *Reader, progress Progress, section func(kernel.Section) error, block func([]byte) error) error {
	if progress == nil {
		progress = func(Part, uint64, uint64) {}
	}
	err := r.State(func(one kernel.Section) error {
		progress(PartState, r.sum.Sections, 0)
		return section(one)
	})
	if err != nil {
		return err
	}
	for {
		raw, err := r.Block()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = block(raw)
		}
		if err != nil {
			return err
		}
		progress(PartLog, r.verifier.Point().Position, r.header.LogBytes)
	}
}

// interruptible is a stream that ends with its context.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (i *interruptible) Read(b []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.from.Read(b)
}
