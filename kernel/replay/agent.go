package replay

import (
	"bytes"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Range says which records are compared, by busSeq, both ends included; 0 leaves
// an end open. What stands before is taken as it is, what stands behind is not
// looked at.
type Range struct{ From, To uint64 }

// Stats counts what was replayed within the range.
type Stats struct {
	Blocks      uint64 // that touch the agent
	Records     uint64 // of the agent
	Ticks       uint64 // begun
	Runs        uint64 // of ticks: one for each, and one for each continuation
	Steps       uint64
	Compared    uint64 // records that were made again
	Transitions uint64 // held against the table
	FirstSeq    uint64 // busSeq of the agent's first record in the range; 0 for none
	LastSeq     uint64
}

// Agent replays the history of one agent.
type Agent struct {
	no    uint32
	slice *kernel.Slice
	of    Range
	stats Stats
	done  bool

	run    bus.Batch  // what evaluating the tick in hand gave
	next   int        // the first of it that was not compared yet
	demand bus.Record // the transition that has to come next; no kind for none
	body   []byte
	room   bus.Batch // for flows.Demanded
}

// NewAgent replays the agent with that number, in a kernel of that
// configuration. find brings bodies from blocks that do not touch the agent.
func NewAgent(no uint32, c *config.Config, lookup flows.Lookup, find kernel.FindBody, of Range) *Agent {
	return &Agent{no: no, slice: kernel.NewSlice(no, c, lookup, find), of: of}
}

// Stats is what was replayed so far.
func (a *Agent) Stats() Stats { return a.stats }

// Slice is the agent as it was folded so far, but for its open calls, for
// reading.
func (a *Agent) Slice() *kernel.Slice { return a.slice }

// Done reports that the range is behind: further blocks need not be fed.
func (a *Agent) Done() bool { return a.done }

// Block replays the next block that touches the agent, which stands at that
// position of the log. The error is a *Deviation; else the history cannot be
// read.
func (a *Agent) Block(position uint64, b *logging.Block) (err error) {
	if a.done {
		return nil
	}
	in := place{Agent: a, position: position, block: b}
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: record %d, at index %d, does not fit what came before it", kernel.ErrSlice, in.seq, b.Index)
		}
	}()
	if err := a.slice.Begin(position, b); err != nil {
		return err
	}
	for records := b.Records(); records.Next(); {
		in.seq = records.Record.Seq
		if a.of.To != 0 && in.seq > a.of.To {
			a.done = true
			return nil
		}
		if err := in.record(&records.Record, records); err != nil {
			return err
		}
	}
	a.stats.Blocks++
	return in.over()
}

// place is the record in hand.
type place struct {
	*Agent
	position uint64
	block    *logging.Block
	seq      uint64
}

// record replays one record; rest are those behind it.
func (in *place) record(r *logging.Record, rest logging.Records) error {
	if r.Seq < in.of.From {
		return in.take(r)
	}
	own := r.Agent == in.no
	if own {
		in.count(r)
	}
	switch kind := bus.Kind(r.Kind); {
	case in.next < in.run.Len():
		return in.compare(r, rest)
	case !own:
	case kind == bus.TickStarted || kind == bus.TickFrozen && leaves(r, rest):
		if in.demand.Kind != 0 {
			return in.deviation("the transition that an exit demands did not come", r, &in.demand)
		}
		if kind == bus.TickStarted && !in.runnable() {
			return in.deviation("a tick begins where there is nothing to run", r, nil)
		}
		in.evaluate(r, rest)
		return in.compare(r, rest)
	case kind == bus.Lifecycle:
		return in.transition(r)
	case kind == bus.Audit: // whatever was decided then was dropped
		in.demand = bus.Record{}
	}
	return in.take(r)
}

// take takes a record in that is not compared. What only the outbox keeps is left
// out: no tick looks at it, and nobody runs what is in it.
func (in *place) take(r *logging.Record) error {
	switch bus.Kind(r.Kind) {
	case bus.CallRequested, bus.CallDispatched, bus.ActionExecuted, bus.ActionFailed:
		return nil
	}
	return in.slice.Take(r)
}

func (in *place) count(r *logging.Record) {
	s := &in.stats
	if s.FirstSeq == 0 {
		s.FirstSeq = r.Seq
	}
	s.LastSeq = r.Seq
	s.Records++
}

// compare holds the next record of a run against the log.
func (in *place) compare(r *logging.Record, rest logging.Records) error {
	made := &in.run.Records()[in.next]
	if breaks(r, rest, made) {
		in.next = in.run.Len()
		return in.slice.Take(r)
	}
	if what := in.difference(r, made); what != "" {
		return in.deviation(what, r, made)
	}
	in.stats.Compared++
	if made.Kind == bus.Step {
		in.stats.Steps++
	}
	if err := in.slice.Apply(r.Seq, *made); err != nil {
		return err
	}
	if in.next++; in.next == in.run.Len() {
		in.demands(exitOf(in.run.Records()), r.Seq)
	}
	return nil
}

// difference names what differs between a record and one that was made.
func (in *place) difference(r *logging.Record, made *bus.Record) string {
	switch {
	case r.Agent != made.Agent || bus.Kind(r.Kind) != made.Kind:
		return "another record"
	case r.Tick != made.Tick:
		return "number of the tick"
	case r.Step != made.Step:
		return "number of the step"
	}
	in.body = made.Body.AppendTo(in.body[:0])
	if !bytes.Equal(in.body, r.Body) {
		return "body of the record"
	}
	return ""
}

// over ends a block: whatever one event began, it ended.
func (in *place) over() error {
	switch {
	case in.next < in.run.Len():
		return in.deviation("the run of the tick is cut short", nil, &in.run.Records()[in.next])
	case in.demand.Kind != 0:
		return in.deviation("the transition that an exit demands did not come", nil, &in.demand)
	}
	return nil
}

func (in *place) deviation(what string, recorded *logging.Record, made *bus.Record) error {
	b := in.block
	d := &Deviation{Position: in.position, Index: b.Index, Term: b.Term, ClockMillis: b.ClockMillis, Seq: in.seq, What: what}
	d.Recorded = kept(recorded)
	if made != nil {
		d.Replayed = recordOf(in.seq, made)
	}
	return d
}
