package recordjson

import (
	"sync"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// maxPrograms bounds what is remembered of programs. maxSearched bounds how
// many of an agent's blocks are searched for a program that was let go of.
const (
	maxPrograms = 1024
	maxSearched = 256
)

// History follows an agent's blocks backwards; *segment.Store does.
type History interface {
	AgentBlocks(agent uint32, last uint64, visit segment.Visit) error
}

// programs remembers the kinds of programs' instructions. Numbers of programs
// are never reused, so what it remembers stays true; a submitted program leaves
// the state with its tick, sooner than its steps are read.
type programs struct {
	mu    sync.Mutex // guards kinds
	kinds map[uint32][]string
}

func (p *programs) get(no uint32) ([]string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kinds, ok := p.kinds[no]
	return kinds, ok
}

// note remembers the program in an interned body.
func (p *programs) note(no uint32, body []byte) []string {
	_, source := flows.ParseProgramBody(body)
	kinds := instructionKinds(nil, source, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds == nil || len(p.kinds) >= maxPrograms {
		p.kinds = make(map[uint32][]string)
	}
	p.kinds[no] = kinds
	return kinds
}

// kindsOf finds the program: remembered, in the state, or in the agent's own
// blocks up to this one.
func (p *programs) kindsOf(no uint32, s *state.State, history History, b *logging.Block, agent uint32) []string {
	if kinds, ok := p.get(no); ok {
		return kinds
	}
	if e := s.Interned.Get(no); e != nil && e.Class == interning.Program {
		return p.note(no, e.Body)
	}
	var body []byte
	searched := 0
	previous, _ := b.Previous(agent)
	// A search that fails leaves the kind out, as one that finds nothing does.
	err := history.AgentBlocks(agent, previous, func(_ uint64, older *logging.Block) bool {
		body = introduced(older, no)
		searched++
		return body == nil && searched < maxSearched
	})
	if body == nil && err != nil {
		return nil // it is not remembered as missing: a node gets its history back
	}
	return p.note(no, body)
}

// introduced gives the body of the interned entry that the block adds.
func introduced(b *logging.Block, no uint32) []byte {
	for records := b.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.Interned {
			continue
		}
		gained, ok := interning.DecodeGained(records.Record.Body)
		if !ok {
			return nil
		}
		for _, e := range gained.Entries {
			if e.No == no && e.New {
				return append([]byte(nil), e.Body...)
			}
		}
	}
	return nil
}

// maxNesting stops the walk; programs are nested less deep.
const maxNesting = 64

// instructionKinds lists the kinds of a program's instructions in preorder, as
// the evaluator numbers them.
func instructionKinds(kinds []string, instruction value.Raw, nesting int) []string {
	name, ok := instruction.Get("kind")
	if !ok || nesting > maxNesting {
		return kinds
	}
	kind, _ := name.Text()
	kinds = append(kinds, kind)
	payload, _ := instruction.Get("payload")
	for _, field := range inside(kind) {
		if child, ok := payload.Get(field); ok {
			kinds = instructionKinds(kinds, child, nesting+1)
		}
	}
	switch kind {
	case "SEQ":
		steps, _ := payload.Get("steps")
		r := value.NewReader(steps)
		n, _ := r.ReadListHeader()
		for range n {
			kinds = instructionKinds(kinds, r.Skip(), nesting+1)
		}
	case "TRY":
		clauses, _ := payload.Get("catch")
		r := value.NewReader(clauses)
		n, _ := r.ReadListHeader()
		for range n {
			do, _ := r.Skip().Get("do")
			kinds = instructionKinds(kinds, do, nesting+1)
		}
	case "DELEGATE": // programs of children are numbered by themselves
		handler, _ := payload.Get("on_escalation")
		do, _ := handler.Get("do")
		kinds = instructionKinds(kinds, do, nesting+1)
	}
	return kinds
}

// inside names the fields of a payload that are instructions, in the order in
// which they are numbered.
func inside(kind string) []string {
	switch kind {
	case "LET", "LOOP", "MAP", "RETURN", "TRY":
		return []string{"do"}
	case "BRANCH":
		return []string{"then", "else"}
	}
	return nil
}
