package recordjson

import (
	"encoding/json"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Renderer renders blocks. It is safe for concurrent use.
type Renderer struct {
	history History
	known   known
}

// New returns a renderer that looks bodies up for notes in history; without one
// there are no notes.
func New(history History) *Renderer { return &Renderer{history: history} }

// Select says which records of a block are wanted. Its zero value wants all.
type Select struct {
	From  uint64             // lowest busSeq
	Agent uint32             // only this agent's; 0 for all
	Run   uint32             // only this run's: its agents', and their blocks' events; 0 for all
	Kinds [bus.Last + 1]bool // only these; none set for all
	Some  bool               // whether any of Kinds is set
	Runs  bool               // beside Kinds, all records of agents that work for a run
	Notes bool               // what is found out about numbers stands beside the record
}

func (s *Select) wants(st *state.State, r *logging.Record) bool {
	switch {
	case r.Seq < s.From, s.Agent != 0 && r.Agent != s.Agent, s.Run != 0 && !s.ofRun(st, r):
		return false
	case s.Some:
		return r.Kind <= bus.Last && s.Kinds[r.Kind] || s.Runs && worksForRun(st, r.Agent)
	}
	return true
}

func worksForRun(st *state.State, agent uint32) bool {
	row := st.Agents.Get(agent)
	return row != nil && row.Run != 0
}

// ofRun reports whether a record of one of the run's blocks is the run's.
func (s *Select) ofRun(st *state.State, r *logging.Record) bool {
	if r.Agent == 0 {
		return bus.Kind(r.Kind) == bus.Event
	}
	row := st.Agents.Get(r.Agent)
	return row != nil && row.Run == s.Run
}

// Block hands the wanted records of a block to take, in order, until it answers
// false. The error says that the block holds what this program cannot read.
func (r *Renderer) Block(s *state.State, b *logging.Block, want *Select, take func(*api.Record) bool) error {
	v := view{renderer: r, state: s, block: b, annotated: want.Notes && r.history != nil}
	for records := b.Records(); records.Next(); {
		record := &records.Record
		v.follow(record)
		if !want.wants(s, record) {
			continue
		}
		out, err := v.record(record)
		if err != nil {
			return err
		}
		if !take(out) {
			return nil
		}
	}
	return nil
}

// One renders a record that stands alone, as one of the block would be: the block
// is asked for its place only.
func (r *Renderer) One(s *state.State, at *logging.Block, record *logging.Record) (*api.Record, error) {
	v := view{renderer: r, state: s, block: at}
	return v.record(record)
}

// view is the rendering of one block.
type view struct {
	renderer  *Renderer
	state     *state.State
	block     *logging.Block
	in        running
	ended     bool
	annotated bool
}

// follow keeps track of the run that records are in, and for notes of bodies that
// are introduced.
func (v *view) follow(r *logging.Record) {
	if v.ended {
		v.in, v.ended = running{}, false
	}
	switch kind := bus.Kind(r.Kind); {
	case kind == bus.TickStarted:
		if started, ok := execution.DecodeStarted(r.Body); ok {
			v.in = running{r.Agent, r.Tick, started.Run, started.Program}
		}
	case kind == bus.Interned && v.annotated:
		if gained, ok := interning.DecodeGained(r.Body); ok {
			v.renderer.known.take(gained)
		}
	case endsRun(kind) && r.Agent == v.in.agent && r.Tick == v.in.tick:
		v.ended = true // with this record
	}
}

func (v *view) record(r *logging.Record) (*api.Record, error) {
	kind := bus.Kind(r.Kind)
	body, ok := kernel.DecodeRecordBody(kind, r.Body)
	if !ok {
		return nil, fmt.Errorf("record %d of kind %d cannot be read by this version", r.Seq, r.Kind)
	}
	rendered, err := json.Marshal(v.body(r, body))
	if err != nil {
		return nil, fmt.Errorf("render record %d: %w", r.Seq, err)
	}
	out := &api.Record{
		BusSeq: r.Seq, Index: v.block.Index, Term: v.block.Term, AtMillis: v.block.ClockMillis,
		Kind: kernel.KindName(kind), Tick: r.Tick, Step: r.Step, Body: rendered,
	}
	if r.Seq > v.block.FirstSeq {
		out.Cause = v.block.FirstSeq + uint64(r.Cause)
	}
	if id, known := v.id(r.Agent); known {
		out.AgentID = flows.FormatID(id)
		if run := v.state.Agents.Get(r.Agent).Run; run != 0 {
			out.RunID = v.agentID(run)
		}
		v.spans(out, r, id)
	}
	if v.annotated {
		out.Notes = v.notes(r, body)
	}
	return out, nil
}

// spans places a record of a tick: in a run of the tick, or in the tick.
func (v *view) spans(out *api.Record, r *logging.Record, id identity.ID) {
	switch {
	case r.Tick == 0:
	case r.Agent == v.in.agent && r.Tick == v.in.tick:
		out.SpanID, out.ParentSpan = span(id, r.Tick, v.in.run), span(id, r.Tick, 0)
	default:
		out.SpanID, out.ParentSpan = span(id, r.Tick, 0), span(id, 0, 0)
	}
}

// id is the UUID of an agent that was defined in this block or before. Rows stay
// for ever, and who an agent is and where it was defined stay with them (LC-8). An
// event may name any number: one that was given later was nobody's then.
func (v *view) id(agent uint32) (identity.ID, bool) {
	if row := v.state.Agents.Get(agent); row != nil && row.Identity.Seq < v.block.FirstSeq+uint64(v.block.Count) {
		return row.Identity.ID, true
	}
	return identity.ID{}, false
}

func (v *view) agentID(agent uint32) string {
	if id, known := v.id(agent); known {
		return flows.FormatID(id)
	}
	return ""
}
