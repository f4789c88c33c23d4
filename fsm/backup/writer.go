package backup

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/fsm/snapshot"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Source is what a backup is made of.
type Source struct {
	State *state.State // as published: it does not change any more
	Log   Log          // holds at least every record before the state's end of the log
	Node  string       // who makes the backup
	// Binary is the version of the program.
	Binary string
	MadeAt time.Time
}

// Log gives an execution log; *segment.Store is one.
type Log interface {
	// Whole is *segment.CompactedError where blocks from seq on were archived and are
	// not here, with the busSeq from which on everything is.
	Whole(seq uint64) error
	Walk(seq uint64, visit func(*segment.Item) (more bool)) (next uint64, err error)
}

// Write writes a backup. It reads the log while it writes, at the pace at which to
// takes the bytes, and holds nothing up. Where blocks were archived, and their archive
// is not here, it writes their stubs, and says up to where. The error is ErrNotBooted, the log's
// (*segment.HistoryBehindError: this node does not hold the log from its
// beginning), to's, or the context's; what was written by then is no backup.
func Write(ctx context.Context, to io.Writer, s Source) (Summary, error) {
	if s.State.Config == nil {
		return Summary{}, ErrNotBooted
	}
	frames, err := newFrameWriter(to)
	if err != nil {
		return Summary{}, err
	}
	w := writing{ctx: ctx, source: s, frames: frames}
	w.sum.Header = headerOf(s.State)
	w.sum.Node, w.sum.Binary, w.sum.MadeAt = s.Node, s.Binary, s.MadeAt.UTC().Truncate(time.Second)
	var archived *segment.CompactedError
	if err := s.Log.Whole(1); errors.As(err, &archived) {
		w.sum.FullFrom = archived.FirstSeq
	} else if err != nil {
		return Summary{}, err
	}
	for _, part := range []func() error{w.header, w.state, w.log, w.trailer} {
		if err := part(); err != nil {
			return Summary{}, err
		}
	}
	return w.sum, nil
}

type writing struct {
	ctx    context.Context
	source Source
	frames *frameWriter
	sum    Summary
}

func (w *writing) header() error {
	body, err := json.Marshal(w.sum.Header)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := w.frames.begin(PartHeader); err != nil {
		return err
	}
	return w.frames.whole(body)
}

func (w *writing) state() error {
	if err := w.frames.begin(PartState); err != nil {
		return err
	}
	s := w.source.State
	counted := &counting{to: w.frames}
	out, err := snapshot.NewWriter(counted, snapshot.HeaderOf(s.Config.ClusterID, s.Config.KernelID, s))
	if err != nil {
		return err
	}
	digest := kernel.NewDigester()
	kernel.Sections(s, func(one kernel.Section) bool {
		w.sum.Sections++
		digest.Add(one)
		if err = out.Section(one); err == nil {
			err = w.ctx.Err()
		}
		return err == nil
	})
	if err == nil {
		err = out.Finish()
	}
	sum := digest.Sum()
	w.sum.StateBytes, w.sum.StateDigest = counted.n, hex.EncodeToString(sum[:])
	return err
}

func (w *writing) log() error {
	if err := w.frames.begin(PartLog); err != nil {
		return err
	}
	end := w.source.State.Log.Point
	verifier := logging.NewVerifier(logging.Genesis(w.sum.KernelID).Point)
	var failed error
	_, err := w.source.Log.Walk(1, func(i *segment.Item) bool {
		if i.FirstSeq >= end.NextSeq {
			return false
		}
		if failed = w.item(verifier, i); failed == nil {
			failed = w.ctx.Err()
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	w.sum.Records = end.NextSeq - 1
	if !reaches(verifier.Point(), end) {
		return fmt.Errorf("backup: the log ends at busSeq %d and not where the state does, at %d", verifier.Point().NextSeq-1, end.NextSeq-1)
	}
	return nil
}

// item writes a block, or its stub.
func (w *writing) item(verifier *logging.Verifier, i *segment.Item) error {
	w.sum.Blocks++
	if !i.Archived() {
		if err := verifier.Feed(i.Block.Raw); err != nil {
			return err
		}
		return w.frames.whole(i.Block.Raw)
	}
	if i.FirstSeq >= w.sum.FullFrom { // it was said to be here, and was taken away
		return &segment.CompactedError{FirstSeq: i.LastSeq() + 1}
	}
	w.sum.Stubs++
	if err := verifier.FeedStub(&i.Stub); err != nil {
		return err
	}
	return w.frames.whole(i.Stub.AppendTo(nil))
}

// reaches tells whether a log that was verified ends where a state says.
func reaches(at, end logging.Point) bool {
	return at.NextSeq == end.NextSeq && at.Position == end.Position && at.Chain == end.Chain && at.LastIndex == end.LastIndex
}

func (w *writing) trailer() error {
	if err := w.frames.begin(PartTrailer); err != nil {
		return err
	}
	t := trailer{
		stateBytes: w.sum.StateBytes, sections: w.sum.Sections,
		blocks: w.sum.Blocks, logBytes: w.sum.LogBytes, records: w.sum.Records, stubs: w.sum.Stubs,
		sum: [32]byte(w.frames.sum.Sum(nil)),
	}
	if err := w.frames.whole(t.append(nil)); err != nil {
		return err
	}
	err := w.frames.flush()
	w.sum.SHA256, w.sum.Bytes = hex.EncodeToString(t.sum[:]), w.frames.at
	return err
}

// counting counts what passes.
type counting struct {
	to io.Writer
	n  uint64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += uint64(n)
	return n, err
}
