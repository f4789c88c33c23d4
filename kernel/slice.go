package kernel

import (
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/table"
)

// ErrSlice says that a block does not continue an agent's history, or that one
// of its records cannot be applied.
var ErrSlice = errors.New("kernel: the agent's history cannot be folded")

// FindBody finds the body of that number in the block that the pointer points
// to (EV-16).
type FindBody func(no uint32, block uint64) (body []byte, err error)

// Slice is what the log says of one agent: its row, its entries in the tables,
// and the bodies that it uses, folded from its own records by the appliers
// alone, as Fold does for all. Nothing else is in its state, but the
// configuration: not the agents above and below, whose records are elsewhere.
//
// The caller feeds it the blocks that touch the agent, oldest first: Begin,
// then Take for every record of the block; or Fold, which does both. What it is
// fed may come from anywhere: an error, or a panic of an applier that met
// records which do not fit together, says that the history is damaged, and ends
// the slice.
type Slice struct {
	agent    uint32
	state    *state.State
	compiled *compiled
	find     FindBody
	gained   []interning.GainedEntry // by the records of the block so far
	at       bus.At
	head     [logging.HashBytes]byte // the agent's chain value after the block in hand
}

// NewSlice is the agent before its first record, in a kernel that has the
// configuration.
func NewSlice(agent uint32, c *config.Config, lookup flows.Lookup, find FindBody) *Slice {
	s := state.New(c.KernelID)
	s.Config = c
	s.Agents = table.Beginning[state.Row](agent)
	return &Slice{agent: agent, state: s, compiled: newCompiled(s, lookup), find: find}
}

// State is the slice's state, for reading until the next record.
func (x *Slice) State() *state.State { return x.state }

// Row is the agent's row, for reading until the next record; nil before it is
// defined.
func (x *Slice) Row() *state.Row { return x.state.Agents.Get(x.agent) }

// View is what a flow sees that is about to make the record with that busSeq.
func (x *Slice) View(seq uint64) flows.View {
	return flows.View{State: x.state, Compiled: x.compiled, Seq: seq}
}

// Fold takes a whole block in.
func (x *Slice) Fold(position uint64, b *logging.Block) error {
	if err := x.Begin(position, b); err != nil {
		return err
	}
	for records := b.Records(); records.Next(); {
		if err := x.Take(&records.Record); err != nil {
			return err
		}
	}
	return nil
}

// Begin goes on to the next block of the agent, which stands at that position:
// none may be left out, and none be another than the agent's chain has it.
func (x *Slice) Begin(position uint64, b *logging.Block) error {
	var last uint64
	row := x.Row()
	if row != nil {
		last = row.LastBlock
	}
	previous, touched := b.Previous(x.agent)
	head, _ := b.Head(x.agent)
	if !touched || previous != last || head != x.head || b.Index <= x.state.Index {
		return fmt.Errorf("%w: the block at index %d does not continue it", ErrSlice, b.Index)
	}
	x.state.Index, x.state.Term, x.state.Clock = b.Index, b.Term, b.ClockMillis
	x.state.Log.Position = position
	x.gained = x.gained[:0]
	x.at = bus.At{Index: b.Index, Now: b.ClockMillis}
	x.head = logging.ChainAfter(head, b.Digest())
	if row != nil {
		x.touch(x.edit())
	}
	return nil
}

// Take takes the next record of the block in, whoever it is about.
func (x *Slice) Take(r *logging.Record) error {
	kind := bus.Kind(r.Kind)
	if kind > bus.Last || routes[kind].decode == nil {
		return fmt.Errorf("%w: record %d is of the unknown kind %d", ErrSlice, r.Seq, r.Kind)
	}
	//lint:readonly the table is large, and nothing here writes to it
	route := &routes[kind]
	if route.slice == 0 || route.slice == elsewhere || r.Agent != x.agent && route.slice != everyones {
		return nil
	}
	body, ok := route.decode(r.Body)
	if !ok {
		return fmt.Errorf("%w: record %d of kind %d does not decode", ErrSlice, r.Seq, r.Kind)
	}
	return x.Apply(r.Seq, bus.Record{Kind: kind, Agent: r.Agent, Tick: r.Tick, Step: r.Step, Body: body})
}

// Apply takes in a record that was not read from the block, but would have that
// busSeq in it.
func (x *Slice) Apply(seq uint64, r bus.Record) error {
	//lint:readonly the table is large, and nothing here writes to it
	route := &routes[r.Kind]
	switch known := x.Row() != nil; {
	case known == (r.Kind == bus.AgentDefined) && route.slice != everyones:
		return fmt.Errorf("%w: record %d is about an agent before its definition, or defines it twice", ErrSlice, seq)
	case route.names != nil:
		if err := x.findBodies(seq, route, r.Body); err != nil {
			return err
		}
	}
	if e, ok := r.Body.(*lifecycle.Event); ok && x.Row().Lifecycle.State != e.From { // SM-INV-05
		return fmt.Errorf("%w: the transition of record %d does not start where the agent is", ErrSlice, seq)
	}
	x.at.Seq = seq
	switch route.slice {
	case whole:
		route.apply(x.state, x.at, r)
	case partly, everyones:
		route.part(x, x.at, r)
	}
	return nil
}

// touch notes in the row that the block in hand is the agent's last.
func (x *Slice) touch(row *state.Row) { row.LastBlock, row.Head = x.here(), x.head }

// here is the pointer to the block in hand.
func (x *Slice) here() uint64 { return logging.PointerTo(x.state.Log.Position) }

// findBodies brings in what a record names and the slice does not have.
func (x *Slice) findBodies(seq uint64, of *route, b bus.Body) error {
	var failed error
	of.names(b, func(no uint32) {
		if no == 0 || failed != nil || x.state.Interned.Get(no) != nil {
			return
		}
		if err := x.bring(no); err != nil {
			failed = fmt.Errorf("%w: record %d uses body %d: %w", ErrSlice, seq, no, err)
		}
	})
	return failed
}

var errNoSuchBody = errors.New("no record of its block says what it is")

func (x *Slice) bring(no uint32) error {
	for i := range x.gained {
		e := &x.gained[i]
		if e.No != no {
			continue
		}
		body, block := e.Body, x.here()
		if !e.New {
			var err error
			if body, err = x.find(no, e.Block); err != nil {
				return err
			}
			block = e.Block
		}
		x.state.Interned.ApplyGained(&interning.Gained{Entries: []interning.GainedEntry{
			{No: no, Class: e.Class, New: true, Body: body},
		}}, block)
		return nil
	}
	return errNoSuchBody
}
