package recordjson

import (
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/api"
)

// maxSearched bounds how many of an agent's blocks are searched for one body.
const maxSearched = 256

// History is where older blocks are looked up; *segment.Store is one.
type History interface {
	// AgentBlocks follows an agent's blocks backwards.
	AgentBlocks(agent uint32, last uint64, visit segment.Visit) error
	// ReadFrom visits blocks from the one on that holds the record seq.
	ReadFrom(seq uint64, visit segment.Visit) (next uint64, err error)
	// BlockAt gives a copy of the block that begins at a position.
	BlockAt(position uint64) (logging.Block, error)
}

// notes tells what numbers in a record stand for, where that can be found: of a
// STEP the kind of its instruction, of a judgement the grant that decided. A note is
// true, but whether it is there depends on what this node still has, and on how far
// it has to look: so it is no part of the record.
func (v *view) notes(r *logging.Record, body bus.Body) *api.Notes {
	switch b := body.(type) {
	case execution.StepBody:
		if r.Agent != v.in.agent || r.Tick != v.in.tick {
			return nil
		}
		if kinds := v.kindsOf(v.in.program, r.Agent); uint64(b.Node) < uint64(len(kinds)) {
			return &api.Notes{Instruction: kinds[b.Node]}
		}
	case *permissions.Evaluation:
		return v.decidedBy(r.Agent, b.Level, b.Grants, b.Grant)
	case *permissions.Escalated:
		return v.decidedBy(r.Agent, b.Level, b.Grants, b.Grant)
	}
	return nil
}

// decidedBy is a copy of the grant at a place of the agent's list, or of that of the
// level above it which decided.
func (v *view) decidedBy(agent, level, no uint32, grant int32) *api.Notes {
	if grant < 0 {
		return nil
	}
	if level != 0 {
		agent = level
	}
	if list := v.listOf(no, agent); int(grant) < len(list) {
		return &api.Notes{DecidedBy: &list[grant]}
	}
	return nil
}

func (v *view) kindsOf(no, agent uint32) []string {
	known := &v.renderer.known
	if kinds, ok := known.kindsOf(no); ok {
		return kinds
	}
	body, certain := v.find(no, interning.Program, agent)
	if !certain {
		return nil
	}
	return known.program(no, body)
}

func (v *view) listOf(no, agent uint32) []permissions.Grant {
	known := &v.renderer.known
	if list, ok := known.listOf(no); ok {
		return list
	}
	body, certain := v.find(no, interning.Grants, agent)
	if !certain {
		return nil
	}
	return known.list(no, body)
}

// find looks for the body of an interned number that an agent uses: in the state, in
// the block that defined the agent, in the agent's blocks before this one. The
// answer is not certain when history was not there to be searched.
func (v *view) find(no uint32, class interning.Class, agent uint32) (body []byte, certain bool) {
	if e := v.state.Interned.Get(no); e != nil && e.Class == class {
		return e.Body, true
	}
	row := v.state.Agents.Get(agent)
	if row == nil {
		return nil, false
	}
	s := search{history: v.renderer.history, no: no, left: maxSearched}
	_, notThere := s.history.ReadFrom(row.Identity.Seq, func(position uint64, b *logging.Block) bool {
		s.visit(position, b)
		return false
	})
	if s.body != nil || s.err != nil {
		return s.body, s.err == nil
	}
	last, touched := v.block.Previous(agent)
	if !touched { // it is above the agent that this block is about
		last = row.LastBlock
	}
	err := s.history.AgentBlocks(agent, last, s.visit)
	return s.body, s.body != nil || notThere == nil && err == nil && s.err == nil
}

// search looks for one body in blocks.
type search struct {
	history History
	no      uint32
	left    int // blocks to look at
	body    []byte
	err     error
}

// visit looks at one block: whether it brings the body, or names the block that does.
func (s *search) visit(_ uint64, b *logging.Block) (more bool) {
	e, found := introduced(b, s.no)
	if found && !e.New {
		var elsewhere logging.Block
		if elsewhere, s.err = s.history.BlockAt(e.Block - 1); s.err == nil {
			e, found = introduced(&elsewhere, s.no)
		}
	}
	if found && e.New {
		s.body = append([]byte(nil), e.Body...)
	}
	s.left--
	return !found && s.err == nil && s.left > 0
}

// introduced gives the line that says which body a number stands for, or where it is.
func introduced(b *logging.Block, no uint32) (interning.GainedEntry, bool) {
	var elsewhere interning.GainedEntry
	for records := b.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.Interned {
			continue
		}
		gained, ok := interning.DecodeGained(records.Record.Body)
		if !ok {
			return interning.GainedEntry{}, false
		}
		for _, e := range gained.Entries {
			switch {
			case e.No != no:
			case e.New:
				return e, true
			default:
				elsewhere = e
			}
		}
	}
	return elsewhere, elsewhere.Block != 0
}
