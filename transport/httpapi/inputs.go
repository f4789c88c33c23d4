package httpapi

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// schemaCache keeps the schemas that were compiled: one that comes again costs a
// digest. When it is full it starts again. What is compiled takes many times the bytes
// that it was made of.
type schemaCache struct {
	mu    sync.Mutex // guards the rest
	made  map[[sha256.Size]byte]*schema.Schema
	bytes int // that they were made of
}

const maxSchemaBytes = 1 << 20

func newSchemaCache() *schemaCache {
	return &schemaCache{made: make(map[[sha256.Size]byte]*schema.Schema)}
}

func (c *schemaCache) of(raw value.Raw, field string) (*schema.Schema, *failure.Refusal) {
	if len(raw) == 0 {
		return nil, nil
	}
	key := sha256.Sum256(raw)
	c.mu.Lock()
	s, ok := c.made[key]
	c.mu.Unlock()
	if ok {
		return s, nil
	}
	s, r := schema.Of(raw, field)
	if r != nil {
		return nil, r
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.made) >= maxCompiled || c.bytes+len(raw) > maxSchemaBytes {
		clear(c.made)
		c.bytes = 0
	}
	c.made[key] = s
	c.bytes += len(raw)
	return s, nil
}

// beside is what stands around a command: its request, and what the commands before
// it in the same batch define.
type beside struct {
	ctx     context.Context
	defined map[string]value.Raw // schemas of inputs, by the ids that a batch gives
}

// define notes the schema of an agent whose id is the client's, or that it has none.
func (b *beside) define(d *event.Define) {
	if d.ID == "" {
		return
	}
	if b.defined == nil {
		b.defined = make(map[string]value.Raw)
	}
	b.defined[d.ID] = d.Input
}

// checkStart checks a definition, and the input of its program (EX-14).
func (s *Server) checkStart(start *event.Start) *api.Error {
	if e := s.checkDefine(&start.Define, "agent."); e != nil {
		return e
	}
	return s.checkInput(start.Define.Input, start.Input)
}

// checkInput holds the input of an agent's own program to the schema of the agent's
// definition; nothing is asked of it when there is none.
func (s *Server) checkInput(definition, input value.Raw) *api.Error {
	if len(definition) == 0 {
		return nil
	}
	compiled, r := s.schemas.of(definition, "input")
	if r != nil { // it came into the log through another door
		return refused(string(failure.InvalidState), "input", "cannot be judged: the schema of the agent's definition does not compile", r.Hint)
	}
	if input == nil {
		input = value.Null
	}
	path, rule := compiled.Broken(input)
	if rule == "" {
		return nil
	}
	return invalid(value.JoinKey("input", path), rule, "the agent's definition has the schema of its input")
}

// agentOf finds an agent that a command is about, at one level after the other: a node
// that does not know it asks for what is committed before it says so.
func (s *Server) agentOf(ctx context.Context, id string, levels ...cluster.Level) (*cluster.View, *state.Row, *api.Error) {
	parsed, _ := flows.ParseID(id)
	for _, level := range levels {
		ctx, cancel := context.WithTimeout(ctx, s.options.ReadTimeout)
		view, e := s.read(ctx, cluster.Consistency{Level: level})
		cancel()
		if e != nil {
			return nil, nil, e
		}
		if _, row := view.Find(parsed); row != nil {
			return &view, row, nil
		}
	}
	return nil, nil, nil
}

// checkOwnInput holds what an agent's own program is to run with to the agent's
// schema. An agent that nobody knows is the kernel's to refuse.
func (s *Server) checkOwnInput(b *beside, id string, input value.Raw) *api.Error {
	levels := []cluster.Level{cluster.Stale, cluster.Linearizable}
	definition, defined := b.defined[id]
	if defined { // in the same batch, unless the id is taken
		levels = levels[:1]
	}
	view, row, e := s.agentOf(b.ctx, id, levels...)
	if e == nil && row == nil && defined {
		return s.checkInput(definition, input)
	}
	if e != nil || row == nil {
		return e
	}
	return s.checkInput(view.Interned.Body(row.Identity.Input), input)
}

// mayFirst judges whoever gives a command before anything is looked up for it: who may
// not learns nothing of whether there is such an agent, and what it takes.
func (s *Server) mayFirst(ctx context.Context, kind event.Kind, command any) *api.Error {
	ctx, cancel := context.WithTimeout(ctx, s.options.ReadTimeout)
	defer cancel()
	_, e := s.mayCommand(ctx, kind, command)
	return e
}

// checkTriggered is checkTrigger, and for a spawn the input that its program gets.
func (s *Server) checkTriggered(b *beside, t *event.Trigger) *api.Error {
	e := checkTrigger(t)
	if trigger, _ := lifecycle.ParseTrigger(t.Trigger); e != nil || trigger != lifecycle.Spawn {
		return e
	}
	if e := s.mayFirst(b.ctx, event.AgentTrigger, t); e != nil {
		return e
	}
	return s.checkOwnInput(b, t.Agent, t.Input)
}

// checkSubmit holds the input of the agent's own program to its schema, and compiles
// any other program with the agent's evaluator, if this node knows the agent; if not,
// the kernel will tell.
func (s *Server) checkSubmit(b *beside, submit *event.Submit) *api.Error {
	if e := checkAgent(submit.Agent); e != nil {
		return e
	}
	if e := s.mayFirst(b.ctx, event.AgentSubmit, submit); e != nil {
		return e
	}
	if len(submit.Program) == 0 {
		return s.checkOwnInput(b, submit.Agent, submit.Input)
	}
	view, err := s.node.Read(b.ctx, cluster.Consistency{Level: cluster.Stale})
	if err != nil {
		return nil
	}
	id, _ := flows.ParseID(submit.Agent)
	_, row := view.Find(id)
	if row == nil {
		return nil
	}
	eval, ok := s.programs.Lookup(row.Identity.Evaluator)
	if !ok {
		return nil
	}
	if _, refusal := eval.Compile(submit.Program); refusal != nil {
		return atDoor(refusal)
	}
	return nil
}
