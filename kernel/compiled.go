package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// maxCompiled bounds the cache; when it is full it starts again, which costs
// time and nothing else.
const maxCompiled = 4096

// compiled holds the compiled forms of interned bodies, by digest. It is a
// cache, never state: whether a form is found here or made anew cannot be seen
// in any record.
type compiled struct {
	state    *state.State
	lookup   flows.Lookup
	programs map[interning.Digest]evaluator.Program
	grants   map[interning.Digest]*permissions.Set
}

func newCompiled(s *state.State, lookup flows.Lookup) *compiled {
	return &compiled{
		state: s, lookup: lookup,
		programs: make(map[interning.Digest]evaluator.Program),
		grants:   make(map[interning.Digest]*permissions.Set),
	}
}

// Evaluator finds an evaluator by name and version.
func (c *compiled) Evaluator(name string) (evaluator.Evaluator, bool) { return c.lookup(name) }

// Program returns the compiled form of an interned program.
func (c *compiled) Program(no uint32) (evaluator.Program, bool) {
	e := c.state.Interned.Get(no)
	if e == nil || e.Class != interning.Program {
		return nil, false
	}
	if p, ok := c.programs[e.Digest]; ok {
		return p, true
	}
	name, source := flows.ParseProgramBody(e.Body)
	eval, ok := c.lookup(name)
	if !ok {
		return nil, false
	}
	p, refusal := eval.Compile(source)
	if refusal != nil {
		return nil, false
	}
	if len(c.programs) >= maxCompiled {
		clear(c.programs)
	}
	c.programs[e.Digest] = p
	return p, true
}

// Grants returns the compiled form of interned grants; nil denies everything.
func (c *compiled) Grants(no uint32) *permissions.Set {
	e := c.state.Interned.Get(no)
	if e == nil || e.Class != interning.Grants {
		return nil
	}
	if set, ok := c.grants[e.Digest]; ok {
		return set
	}
	list, ok := event.DecodeBody[[]permissions.Grant](e.Body)
	if !ok {
		return nil
	}
	set, refusal := permissions.Compile(*list)
	if refusal != nil {
		return nil
	}
	if len(c.grants) >= maxCompiled {
		clear(c.grants)
	}
	c.grants[e.Digest] = set
	return set
}
