package authority

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Tables is what the records so far say. It is used by one goroutine.
type Tables struct {
	agents map[uint32]*Agent
	lists  map[uint32]*list
	last   uint32 // the highest agent number given
}

// list is one interned list of grants and how many hold it.
type list struct {
	set   *permissions.Set
	users uint32
}

// New returns the tables before the first record of a log.
func New() *Tables {
	return &Tables{agents: make(map[uint32]*Agent), lists: make(map[uint32]*list)}
}

// Agent finds an agent that lives, or that somebody who lives rests on; nil for
// any other.
func (t *Tables) Agent(no uint32) *Agent { return t.agents[no] }

// Last is the number of agents that were ever defined, and the newest one's.
func (t *Tables) Last() uint32 { return t.last }

// Kept is the number of agents that the tables hold.
func (t *Tables) Kept() int { return len(t.agents) }

// Set is the list of grants with that number; false for a number that no list
// in use has. Number 0 is no list, and nil, which denies everything.
func (t *Tables) Set(no uint32) (set *permissions.Set, ok bool) {
	if no == 0 {
		return nil, true
	}
	l, ok := t.lists[no]
	if !ok {
		return nil, false
	}
	return l.set, true
}

// Decode reads the body of a record that Take wants; false when it does not
// want the kind. A body that does not decode is nil.
func Decode(kind bus.Kind, raw []byte) (body bus.Body, wanted bool) {
	var ok bool
	switch kind {
	case bus.Interned:
		body, ok = interning.DecodeGained(raw)
	case bus.Released:
		body, ok = interning.DecodeLost(raw)
	case bus.AgentDefined:
		body, ok = identity.DecodeDefined(raw)
	case bus.Lifecycle:
		body, ok = lifecycle.DecodeEvent(raw)
	case bus.AgentArchived:
		body, ok = execution.DecodeEmpty(raw)
	case bus.GrantsAssigned:
		body, ok = permissions.DecodeAssigned(raw)
	case bus.GrantRevoked:
		body, ok = permissions.DecodeRevoked(raw)
	case bus.TokenIssued:
		body, ok = delegation.DecodeTokenIssued(raw)
	case bus.TokenRevoked:
		body, ok = delegation.DecodeTokenRevoked(raw)
	case bus.ChildrenRevoked:
		body, ok = delegation.DecodeChildrenVoided(raw)
	default:
		return nil, false
	}
	if !ok {
		return nil, true
	}
	return body, true
}

// Take takes one record in. seq is its busSeq.
func (t *Tables) Take(seq uint64, r *bus.Record) {
	switch body := r.Body.(type) {
	case *interning.Gained:
		t.gained(body)
		return
	case *interning.Lost:
		t.lost(body)
		return
	case *identity.Defined:
		t.defined(r.Agent, body)
		return
	}
	a := t.agents[r.Agent]
	if a == nil {
		return
	}
	switch body := r.Body.(type) {
	case *lifecycle.Event:
		a.State = body.To
		t.forget(a)
	case *permissions.Assigned:
		a.Grants = body.Grants
	case *permissions.Revoked:
		a.Grants = body.Grants
	case *delegation.TokenIssued:
		t.issued(a, seq, body)
	case *delegation.TokenRevoked:
		if a.Revoked == "" { // the first reason stands
			a.Revoked = body.Code
		}
	case *delegation.ChildrenVoided:
		a.VoidBefore, a.VoidCode = seq, body.Code
	default:
		if r.Kind == bus.AgentArchived {
			a.Grants = 0
		}
	}
}

func (t *Tables) defined(no uint32, b *identity.Defined) {
	if no == 0 || t.agents[no] != nil {
		return
	}
	t.last = max(t.last, no)
	t.agents[no] = &Agent{
		No: no, ID: b.ID, Name: b.Name, Asked: Asked{Grants: b.Grants, Depth: b.MaxDepth, TTLMillis: b.TTLMillis},
	}
}

// issued gives the agent its token and its place in the tree. An agent is
// numbered after the one that it rests on, so nobody is above itself (INV-08).
func (t *Tables) issued(a *Agent, seq uint64, b *delegation.TokenIssued) {
	if a.Token != 0 {
		return
	}
	a.Token, a.Issued, a.Depth, a.Expires = seq, b.Grants, b.Depth, b.Expires
	if above := t.agents[b.Parent]; above != nil && b.Parent < a.No {
		a.Above = above
		above.below++
	}
}

// forget drops an agent that is over, and then whoever above it was kept for
// its sake alone.
func (t *Tables) forget(a *Agent) {
	for a != nil && a.State == lifecycle.Terminated && a.below == 0 {
		delete(t.agents, a.No)
		if a = a.Above; a != nil {
			a.below--
		}
	}
}

func (t *Tables) gained(g *interning.Gained) {
	for i := range g.Entries {
		e := &g.Entries[i]
		if e.Class != interning.Grants {
			continue
		}
		if known := t.lists[e.No]; known != nil && !e.New {
			known.users++
		} else if e.New {
			t.lists[e.No] = &list{set: compile(e.Body), users: 1}
		}
	}
}

func (t *Tables) lost(l *interning.Lost) {
	for _, no := range l.Numbers {
		known := t.lists[no]
		if known == nil {
			continue // a program, labels, an environment
		}
		if known.users--; known.users == 0 {
			delete(t.lists, no)
		}
	}
}

// compile reads an interned list; what is none denies everything.
func compile(body []byte) *permissions.Set {
	grants, ok := event.DecodeBody[[]permissions.Grant](body)
	if !ok {
		return nil
	}
	set, refusal := permissions.Compile(*grants)
	if refusal != nil {
		return nil
	}
	return set
}
