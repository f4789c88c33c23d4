package replay

import (
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Change is what a what-if takes to be other than the log says: either answers,
// or limits.
type Change struct {
	// Answers are to calls of the tick; their Call says which.
	Tick    uint64
	Answers []execution.Answer
	// Limits is the log's configuration with other budgets for a tick; nil leaves
	// them.
	Limits *config.Config
}

// ErrNoCall says that a history has nothing that a change could change.
var ErrNoCall = errors.New("the history has no answer to this call")

// WhatIf follows one agent's history up to the first thing that a change makes
// different, and from there on the tick that it is in, off the record: what the
// tick does then is what its program does, and a call that it makes as it did gets
// the answer that it got. It ends with the tick, or at the first call that was
// never made: nobody knows what that would have come to. Nothing is run but the
// program.
//
// It is fed like an Agent, and asked for its Report.
type WhatIf struct {
	no     uint32
	slice  *kernel.Slice // as recorded
	of     Range
	change Change
	off    *offRecord // nil: everything is as recorded
	run    bus.Batch
	runs   uint64 // looked at
	seq    uint64 // busSeq of the last record
	done   bool
}

// NewWhatIf follows the agent with that number, in a kernel of that
// configuration. The range bounds where limits are looked at.
func NewWhatIf(no uint32, c *config.Config, lookup flows.Lookup, find kernel.FindBody, of Range, change Change) *WhatIf {
	return &WhatIf{no: no, slice: kernel.NewSlice(no, c, lookup, find), of: of, change: change}
}

// Done reports that there is nothing more to find out.
func (w *WhatIf) Done() bool { return w.done }

// Block takes the next block that touches the agent. The error says that the
// history cannot be read.
func (w *WhatIf) Block(position uint64, b *logging.Block) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: record %d, at index %d, does not fit what came before it", kernel.ErrSlice, w.seq, b.Index)
		}
	}()
	if err := w.slice.Begin(position, b); err != nil {
		return err
	}
	for records := b.Records(); records.Next() && !w.done; {
		r := &records.Record
		w.seq = r.Seq
		if r.Agent == w.no {
			w.own(r, records)
		}
		if err := w.slice.Take(r); err != nil {
			return err
		}
	}
	return nil
}

// own looks at a record of the agent before it is taken in.
func (w *WhatIf) own(r *logging.Record, rest logging.Records) {
	if w.of.To != 0 && r.Seq > w.of.To {
		w.finish(r.Seq)
		return
	}
	if w.off == nil {
		switch kind := bus.Kind(r.Kind); {
		case kind == bus.ResultDelivered && r.Tick == w.change.Tick:
			w.answered(r)
		case kind == bus.TickStarted && w.change.Limits != nil && r.Seq >= w.of.From:
			w.limited(r, rest)
		}
		if w.off == nil {
			return
		}
	}
	w.off.recorded(r, rest, w.slice)
	w.done = w.off.over()
}

// answered leaves the record where a call is answered that the change answers
// otherwise.
func (w *WhatIf) answered(r *logging.Record) {
	body, ok := execution.DecodeDelivered(r.Body)
	if !ok {
		return
	}
	for i := range w.change.Answers {
		if w.change.Answers[i].Call == body.Answer.Call {
			w.off = w.leave(r, w.change.Tick)
			w.off.changed = w.change.Answers
			return
		}
	}
}

// limited evaluates a run under other limits, and leaves the record where it
// differs.
func (w *WhatIf) limited(r *logging.Record, rest logging.Records) {
	row := w.slice.Row()
	if row == nil || !row.Execution.Runnable() && row.Identity.Teardown == 0 {
		return
	}
	recorded := w.slice.State().Config
	w.slice.Limit(w.change.Limits)
	view := w.slice.View(r.Seq)
	if row.Delegation.Parent != 0 {
		view.Above = voided(rest)
	}
	w.run.Reset()
	flows.Tick(view, w.no, &w.run)
	w.slice.Limit(recorded)
	w.runs++
	if sameRun(w.run.Records(), r, rest) {
		return
	}
	w.off = w.leave(r, r.Tick)
	w.off.slice.Limit(w.change.Limits)
	w.off.run(r.Seq)
}

// sameRun compares a run with the records from r on.
func sameRun(run []bus.Record, r *logging.Record, rest logging.Records) bool {
	var room []byte
	for i := range run {
		if i > 0 {
			if !rest.Next() {
				return false
			}
			r = &rest.Record
		}
		room = run[i].Body.AppendTo(room[:0])
		if r.Agent != run[i].Agent || bus.Kind(r.Kind) != run[i].Kind || r.Tick != run[i].Tick || r.Step != run[i].Step || string(r.Body) != string(room) {
			return false
		}
	}
	return true
}

// leave begins a history of its own, of one tick, before the record.
func (w *WhatIf) leave(r *logging.Record, tick uint64) *offRecord {
	off := &offRecord{
		no: w.no, slice: w.slice.Copy(), tick: tick, began: r.Seq, clock: w.slice.State().Clock,
		asked: make(map[uint32]execution.Request), made: make(map[uint32]execution.Request), answers: make(map[uint32]execution.Answer),
	}
	if current := w.slice.Row().Execution.Current; current != nil {
		for i := range current.Waits { // asked for on the record
			if a := current.Waits[i].Answer; a != nil {
				off.answers[a.Call] = *a
			}
		}
	}
	return off
}

// finish ends what is still going on where the history ends.
func (w *WhatIf) finish(seq uint64) {
	if w.off != nil {
		w.off.end(seq)
	}
	w.done = true
}

// Report says what the change makes different. It ends the what-if.
func (w *WhatIf) Report() (*WhatIfReport, error) {
	if !w.done {
		w.finish(w.seq)
	}
	if w.off == nil && w.change.Limits == nil {
		return nil, fmt.Errorf("%w: tick %d", ErrNoCall, w.change.Tick)
	}
	if w.off == nil {
		return &WhatIfReport{Looked: w.runs, End: "nothing differs"}, nil
	}
	report := w.off.report()
	report.Looked = w.runs
	return report, nil
}
