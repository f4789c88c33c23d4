package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// ErrNoMoment says that nothing can start from the point that was folded.
var ErrNoMoment = errors.New("kernel: no agent can start from there")

// Moment is a point of one agent's history that another agent can start from
// (LO-13). The caller feeds it the blocks that touch the agent, oldest first, up
// to the one that the point is in, and asks for its Fork: between two events
// nothing is half done.
type Moment struct {
	*Slice
	lastSeq  uint64
	first    uint32              // callIndex of the first of …
	requests []execution.Request // the last exit's: state keeps their tools alone
}

// NewMoment is the agent before its first record, in a kernel that has the
// configuration.
func NewMoment(agent uint32, c *config.Config, lookup flows.Lookup, find FindBody) *Moment {
	return &Moment{Slice: NewSlice(agent, c, lookup, find)}
}

// Fold takes the agent's next block in. The error is ErrSlice: what is read does
// not fit together.
func (m *Moment) Fold(position uint64, b *logging.Block) (err error) {
	var seq uint64
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: record %d does not fit what came before it", ErrSlice, seq)
		}
	}()
	if err := m.Begin(position, b); err != nil {
		return err
	}
	for records := b.Records(); records.Next(); {
		r := &records.Record
		seq = r.Seq
		if err := m.Take(r); err != nil {
			return err
		}
		if r.Agent == m.agent {
			m.note(r)
		}
	}
	m.lastSeq = b.LastSeq()
	return nil
}

// note keeps what the tick asked for with its last exit.
func (m *Moment) note(r *logging.Record) {
	switch bus.Kind(r.Kind) {
	case bus.TickPendingTool, bus.TickPendingDelegation:
		if body, ok := execution.DecodePending(bytes.Clone(r.Body)); ok && len(body.Requests) > 0 {
			m.first, m.requests = body.First, body.Requests
		}
	case bus.TickForked:
		if body, ok := execution.DecodeForked(bytes.Clone(r.Body)); ok && body.Tick != nil {
			m.first, m.requests = body.Tick.First, body.Tick.Requests
		}
	}
}

// Fork is the event that makes an agent of the moment, of that id and name, or
// empty. The caller may change its grants, add what memory is to be set to, and
// an instruction. The error is ErrNoMoment.
func (m *Moment) Fork() (*event.Fork, error) {
	row := m.Row()
	switch {
	case row == nil:
		return nil, fmt.Errorf("%w: the agent was not defined yet", ErrNoMoment)
	case row.Identity.Archived:
		return nil, fmt.Errorf("%w: the agent was over for so long that its programs and its memory were gone", ErrNoMoment)
	}
	f := &event.Fork{
		Define: m.definition(row), Source: flows.FormatID(row.Identity.ID), At: m.lastSeq, Head: row.Head,
		LastTick: row.Execution.LastTick, Emitted: row.Execution.Emitted,
		Messages: slices.Clone(row.Mailbox.Messages),
	}
	for i := range row.Execution.Queue {
		q := &row.Execution.Queue[i]
		f.Queue = append(f.Queue, event.ForkInstruction{Program: m.program(q.Program), Input: q.Input})
	}
	m.state.Memory.All(func(e *memory.Entry) bool {
		f.Memory = append(f.Memory, event.ForkEntry{Key: e.Key, Value: e.Value, Version: e.Version, Writer: e.Writer, At: e.At})
		return true
	})
	if tick := row.Execution.Current; tick != nil && !tick.Teardown {
		f.Tick = m.tick(tick)
		m.undo(f, row, tick)
	}
	return f, nil
}

func (m *Moment) definition(row *state.Row) event.Define {
	id := &row.Identity
	d := event.Define{
		Name: id.Name, Evaluator: id.Evaluator, Mode: id.Mode.String(), MaxDepth: id.MaxDepth, TTLMillis: id.TTLMillis,
		Labels: pairsIn(m.state.Interned.Body(id.Labels)), Env: pairsIn(m.state.Interned.Body(id.Env)),
		Program: m.source(id.Program), Teardown: m.source(id.Teardown), Input: m.state.Interned.Body(id.Input),
	}
	grants := id.Grants
	if row.Permissions.Grants != 0 { // what is left of them
		grants = row.Permissions.Grants
	}
	if list, ok := event.DecodeBody[[]permissions.Grant](m.state.Interned.Body(grants)); ok {
		d.Grants = *list
	}
	return d
}

func pairsIn(body []byte) map[string]string {
	pairs, ok := event.DecodeBody[map[string]string](body)
	if !ok {
		return nil
	}
	return *pairs
}

// source is an interned program as it was given.
func (m *Moment) source(no uint32) value.Raw {
	if no == 0 {
		return nil
	}
	_, program := flows.ParseProgramBody(m.state.Interned.Body(no))
	return program
}

// program of an instruction; empty for the agent's own.
func (m *Moment) program(no uint32) value.Raw {
	if no == m.Row().Identity.Program {
		return nil
	}
	return m.source(no)
}

// tick is the tick in progress, as it goes on. One that failed is put back to its
// recovery checkpoint (FA-1). One that waits for children, or was asked to decide
// about what one of them wants, waits for nobody.
func (m *Moment) tick(t *execution.Tick) *event.ForkTick {
	image := &event.ForkTick{
		Phase: uint8(t.Phase), Program: m.program(t.Program), Input: t.Input,
		Runs: t.Runs, Steps: t.Steps, Calls: t.Calls, Exit: t.Exit, First: t.First, Checkpoint: t.Checkpoint,
	}
	if t.Phase == execution.Failed || t.Phase == execution.Restored {
		image.Phase, image.Checkpoint = uint8(execution.Restored), t.Recovery
		return image
	}
	_, children := m.state.Delegation.Get(m.agent, t.Seq, t.First)
	if len(t.Event) > 0 {
		image.Phase = uint8(execution.Pending)
	}
	image.Requests = make([]event.ForkRequest, len(t.Waits))
	for i := range t.Waits {
		w, r := &t.Waits[i], &image.Requests[i]
		r.Tool = w.Tool
		switch {
		case w.Answer != nil:
			r.Answer = &event.ForkAnswer{OK: w.Answer.OK, Value: w.Answer.Value, Code: string(w.Answer.Code), Message: w.Answer.Message}
		case children:
			image.Orphan, r.Args = true, value.Null
		case m.first == t.First && i < len(m.requests):
			r.Args, r.Millis = m.requests[i].Args, m.requests[i].Timeout
		}
	}
	return image
}

// undo brings what recovery would put back under the tick's last run; of a tick
// that is put back, it is put back now.
func (m *Moment) undo(f *event.Fork, row *state.Row, t *execution.Tick) {
	before := row.Memory.PutBack(t.Seq, t.Exit)
	if t.Phase != execution.Failed {
		for _, b := range before {
			f.Undo = append(f.Undo, event.ForkEntry{
				Key: b.Key, Missing: !b.Existed, Value: b.Value, Version: b.Version, Writer: b.Writer, At: b.At,
			})
		}
		return
	}
	for _, b := range before {
		f.Memory = slices.DeleteFunc(f.Memory, func(e event.ForkEntry) bool { return e.Key == b.Key })
		if b.Existed {
			f.Memory = append(f.Memory, event.ForkEntry{Key: b.Key, Value: b.Value, Version: b.Version, Writer: b.Writer, At: b.At})
		}
	}
	slices.SortFunc(f.Memory, func(a, b event.ForkEntry) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
}
