package replay

import (
	"bytes"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// story derives a run's own records again, block by block: what the command asked for,
// what the root agent's ticks came to, and where the run is, leave no choice for most of
// them, and little for the others. What is known of the run is folded by the run's own
// appliers.
type story struct {
	run    uint32
	config *config.Config
	find   kernel.FindBody

	id        identity.ID
	evaluator string
	own       uint32 // the root agent's own program
	tables    runs.Tables
	lastTick  uint64
	derived   uint64
	carried   uint32

	// The block in hand.
	position uint64
	b        *logging.Block
	at       bus.At
	event    *event.Event
	gained   []interning.GainedEntry
	proof    proof
	path     []runs.Trigger // edges of a composite that have to follow
	want     *bus.Record    // the instruction that has to follow
	body     []byte
}

// proof is what the block in hand says before the record in hand that a record of the
// run may rest on.
type proof struct {
	planned   bool // RUN_PLANNED
	readied   bool // PLANNED was reached
	tick      uint64
	result    value.Raw // of that tick, which completed
	completed bool
	blocked   failure.Code // a tick failed so
	over      failure.Code // the root agent was ended so, or faulted
	fell      bool         // … whatever the code
	broken    failure.Code // a task failed so
	warned    bool
	exceeded  bool
	tooLarge  bool // the next task's input is
}

// block derives what the block says of the run. row is its root agent's, after the
// block.
func (s *story) block(position uint64, b *logging.Block, id identity.ID, row *state.Row) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: record %d does not fit what came before it", ErrLedger, s.at.Seq)
		}
	}()
	s.id, s.position, s.b = id, position, b
	s.at = bus.At{Index: b.Index, Now: b.ClockMillis}
	s.event, s.gained, s.proof, s.path, s.want = nil, s.gained[:0], proof{}, nil, nil
	for records := b.Records(); records.Next(); {
		r := &records.Record
		if r.Agent != s.run && r.Agent != 0 {
			continue
		}
		s.at.Seq = r.Seq
		kind := bus.Kind(r.Kind)
		body, ok := kernel.DecodeRecordBody(kind, r.Body)
		if !ok {
			return fmt.Errorf("%w: record %d does not decode", ErrLedger, r.Seq)
		}
		if err := s.record(r, kind, body); err != nil {
			return err
		}
	}
	return s.over(row)
}

// record takes one record of the root agent, or of nobody.
func (s *story) record(r *logging.Record, kind bus.Kind, body bus.Body) error {
	switch body := body.(type) {
	case *event.Recorded:
		s.event = body.Event
	case *interning.Gained:
		s.gained = append(s.gained, body.Entries...)
	case *identity.Defined:
		s.evaluator, s.own = body.Evaluator, body.Program
	case *execution.StartedBody:
		s.lastTick = r.Tick
	case *execution.CompletedBody:
		s.proof.tick, s.proof.result, s.proof.completed = r.Tick, bytes.Clone(body.Value), true
	case *execution.FailedBody:
		s.proof.blocked = body.Failure.Code
	case *lifecycle.Event:
		if body.To == lifecycle.Faulted || body.To == lifecycle.Terminated {
			s.proof.over, s.proof.fell = body.Code, true
		}
	case *execution.InstructionBody:
		return s.instructed(r)
	}
	switch kind {
	case bus.BudgetWarning:
		s.proof.warned = true
	case bus.BudgetExceeded:
		s.proof.exceeded = true
	}
	if !ofRun(kind) {
		return nil
	}
	if s.want != nil {
		return s.deviates("the task's instruction did not come", r, s.want)
	}
	s.derived++
	return s.ofTheRun(r, kind, body)
}

func ofRun(kind bus.Kind) bool { return kind >= bus.RunDefined && kind <= bus.RunArchived }

// ofTheRun takes a record of the run itself.
func (s *story) ofTheRun(r *logging.Record, kind bus.Kind, body bus.Body) error {
	run := s.tables.Get(s.run)
	if (run == nil) != (kind == bus.RunDefined) {
		return s.deviates("the run is defined first, and once", r, nil)
	}
	switch body := body.(type) {
	case *runs.DefinedBody:
		return s.defined(r, body)
	case *runs.PlannedBody:
		return s.planned(r, run, body)
	case *runs.Event:
		return s.moved(r, run, body)
	case *runs.Rejection:
		if body.From != run.State || !s.asks(body.Trigger) {
			return s.deviates("nobody asked for what is refused, or the run is elsewhere", r, nil)
		}
	case *runs.TaskBody:
		if kind == bus.RunTaskStarted {
			return s.started(r, run, body)
		}
		return s.completed(r, run, body)
	case *runs.TaskFailedBody:
		if run.Running != body.Task+1 {
			return s.deviates("a task fails that is not in progress", r, nil)
		}
		s.proof.broken = body.Code
		s.tables.ApplyTaskFailed(s.run, s.at, body)
	case *runs.PauseBody:
		return s.pausing(r, run, body)
	default: // RUN_ARCHIVED
		if !run.State.Over() {
			return s.deviates("a run is archived that is not over", r, nil)
		}
		s.tables.ApplyArchived(s.run)
	}
	return nil
}

// instructed holds the root agent's next instruction against the one that the run has
// for it: nobody else gives it work.
func (s *story) instructed(r *logging.Record) error {
	want := s.want
	s.want = nil
	if want == nil {
		return s.deviates("the root agent is given work that is not its run's", r, nil)
	}
	return s.same("the instruction is not the task's", r, want)
}

// same compares a record with what it has to be.
func (s *story) same(what string, r *logging.Record, made *bus.Record) error {
	s.body = made.Body.AppendTo(s.body[:0])
	if bus.Kind(r.Kind) != made.Kind || !bytes.Equal(s.body, r.Body) {
		return s.deviates(what, r, made)
	}
	return nil
}

func (s *story) deviates(what string, recorded *logging.Record, made *bus.Record) error {
	b := s.b
	d := &Deviation{Position: s.position, Index: b.Index, Term: b.Term, ClockMillis: b.ClockMillis, Seq: s.at.Seq, What: what}
	d.Recorded = kept(recorded)
	if made != nil {
		d.Replayed = recordOf(s.at.Seq, made)
	}
	return d
}

// over is what must hold between two events: the run does what it has to do within
// the event that makes it.
func (s *story) over(row *state.Row) error {
	run := s.tables.Get(s.run)
	what := ""
	switch agent := row.Lifecycle.State; {
	case s.want != nil:
		return s.deviates("the task's instruction did not come", nil, s.want)
	case len(s.path) > 0:
		return s.deviates("the run stops between two transitions of one request", nil, nil)
	case run == nil:
		what = "the run is not defined"
	case run.State.Over():
		if agent == lifecycle.Active || agent == lifecycle.Waiting || agent == lifecycle.Resumable {
			what = "the run is over, and its root agent goes on"
		}
	case s.proof.broken != "":
		what = "a task failed, and the run goes on"
	case agent == lifecycle.Completing, agent == lifecycle.Terminated, agent == lifecycle.Faulted && row.Lifecycle.Fault == failure.Permanent:
		what = "the root agent is over, and the run goes on"
	case run.State == runs.Planned && run.Pausing != 0:
		what = "the run was to pause as soon as it is PLANNED"
	case run.State == runs.Planned && run.AutoStart && s.proof.readied:
		what = "the run was to start as soon as it is PLANNED"
	case run.State == runs.Applying && run.Running == 0:
		return s.deviates("the run is APPLYING, and neither begins its next task nor ends", nil, s.next(run))
	case (run.Running != 0 || run.State == runs.Planning) == row.Execution.Idle():
		what = "the root agent does nothing while a task is in progress, or something while none is"
	}
	if what != "" {
		return s.deviates(what, nil, nil)
	}
	return nil
}

// next is the record that a run has to go on with.
func (s *story) next(run *runs.Run) *bus.Record {
	if at, left := run.Next(); left {
		return &bus.Record{Kind: bus.RunTaskStarted, Agent: s.run, Body: &runs.TaskBody{Task: uint32(at)}}
	}
	return &bus.Record{Kind: bus.RunTransition, Agent: s.run, Body: &runs.Event{
		From: runs.Applying, To: runs.Completed, Trigger: runs.Complete, Cause: runs.Kernel,
	}}
}
