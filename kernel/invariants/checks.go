package invariants

import (
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Breach is a rule that a record would break.
type Breach struct {
	Invariant string // INV-03 …
	Rule      string // one of our sentences
}

// Stops is what the node says when the breach cannot be pinned on an agent.
func (b *Breach) Stops(kind uint16, agent uint32) string {
	return fmt.Sprintf("kernel: %s: %s (record kind %d, agent number %d): this cannot be pinned on an agent, and the node stops", b.Invariant, b.Rule, kind, agent)
}

// Checker remembers, within one event, what later records rest on. It belongs
// to the kernel's one goroutine.
type Checker struct {
	// Grants gives the compiled form of interned grants.
	Grants func(no uint32) *permissions.Set

	allowed []allowed // evaluations of this event that came to ALLOW, oldest first
	ended   tools.Key // the call whose end was recorded last

	count    uint32 // transitions of the record's agent before it was applied
	contains pair   // the grants that were found contained last
}

type allowed struct {
	agent    uint32
	tick     uint64
	action   string
	resource string
}

type pair struct{ outer, inner uint32 }

// Begin forgets the event before.
func (c *Checker) Begin() {
	c.allowed = c.allowed[:0]
	c.ended = tools.Key{}
}

// Before checks a record that is about to be published.
func (c *Checker) Before(s *state.State, now int64, r *bus.Record) *Breach {
	row := s.Agents.Get(r.Agent)
	if row == nil {
		return nil // a definition, or a record of no agent
	}
	c.count = row.Lifecycle.Count
	if b := alive(row, r.Kind); b != nil {
		return b
	}
	switch body := r.Body.(type) {
	case *lifecycle.Event:
		return c.transition(s, row, r, body)
	case *execution.StartedBody:
		return started(row)
	case execution.StepBody:
		if r.Step > s.Config.MaxStepsPerTick {
			return &Breach{"INV-12", "a tick takes at most max_steps_per_tick steps"}
		}
	case *tools.ActionBody:
		c.ended = tools.Key{Agent: r.Agent, Tick: r.Tick, Call: body.Call}
	case *execution.DeliveredBody:
		return c.delivered(row, r, body)
	case *permissions.Evaluation:
		if r.Kind == bus.Allow {
			c.allowed = append(c.allowed, allowed{r.Agent, r.Tick, body.Action, body.Resource})
		}
	case *tools.RequestedBody:
		return c.judged(r, "tool.call", body.Resource)
	case *memory.Access:
		return c.access(r, body)
	case *mailbox.Message:
		return stored(body.Value)
	case *memory.Forked:
		return forkedMemory(body)
	case *execution.ForkedBody:
		if row.Execution.LastTick != 0 || row.Execution.Current != nil {
			return &Breach{"INV-03", "only an agent that has run nothing yet goes on with another's tick"}
		}
	case *delegation.DelegationAccepted:
		return c.judged(r, "agent.delegate", "")
	case *delegation.TokenIssued:
		return c.issued(s, now, row, r, body)
	}
	return nil
}

// alive is INV-09.
func alive(row *state.Row, kind bus.Kind) *Breach {
	if row.Lifecycle.State != lifecycle.Terminated {
		return nil
	}
	switch kind {
	case bus.TickStarted, bus.Step, bus.MemoryAccess, bus.CallRequested, bus.CallDispatched, bus.DelegationAccepted:
		return &Breach{"INV-09", "a TERMINATED agent runs no tick, touches no memory and calls no tool"}
	}
	return nil
}

// transition is INV-01, INV-13 and SM-INV-03, SM-INV-06.
func (c *Checker) transition(s *state.State, row *state.Row, r *bus.Record, e *lifecycle.Event) *Breach {
	if row.Lifecycle.State == lifecycle.Terminated {
		return &Breach{"SM-INV-03", "no transition leaves TERMINATED"}
	}
	if e.From != row.Lifecycle.State {
		return &Breach{"INV-01", "a transition starts where the last recorded one ended"}
	}
	if to, ok := lifecycle.Decide(e.From, e.Trigger, e.Caller); !ok || to != e.To {
		return &Breach{"SM-INV-01", "a transition is a row of the table"}
	}
	switch e.Trigger {
	case lifecycle.Spawn:
		if row.Delegation.Token == 0 {
			return &Breach{"INV-13", "no agent is spawned without a token"}
		}
	case lifecycle.Breach:
		if delegation.HasLive(rowsOf(s), r.Agent) {
			return &Breach{"SM-INV-06", "the children's tokens are revoked before a breach ends their parent"}
		}
	}
	return nil
}

// started is INV-03: one tick at a time, and none while the agent waits.
func started(row *state.Row) *Breach {
	tick := row.Execution.Current
	if tick != nil && tick.Phase != execution.Answered && tick.Phase != execution.Restored {
		return &Breach{"INV-03", "an agent has one tick at a time"}
	}
	switch row.Lifecycle.State {
	case lifecycle.Active, lifecycle.Completing:
		return nil
	}
	return &Breach{"INV-03", "a tick runs while its agent is ACTIVE, or tearing down"}
}

// delivered is INV-14 and INV-19: what a tick will see was recorded just
// before, and is what the tick waits for.
func (c *Checker) delivered(row *state.Row, r *bus.Record, b *execution.DeliveredBody) *Breach {
	if c.ended != (tools.Key{Agent: r.Agent, Tick: r.Tick, Call: b.Answer.Call}) {
		return &Breach{"INV-14", "a call's result is recorded before its tick sees it"}
	}
	if tick := row.Execution.Current; tick == nil || tick.Seq != r.Tick || tick.Wait(b.Answer.Call) == nil {
		return &Breach{"INV-19", "a late or repeated result changes nothing"}
	}
	return nil
}

// judged is INV-04: nothing is done that was not allowed in the same event. An
// empty resource stands for any: a delegation is judged once a child.
func (c *Checker) judged(r *bus.Record, action, resource string) *Breach {
	for i := len(c.allowed) - 1; i >= 0; i-- {
		a := &c.allowed[i]
		if a.agent == r.Agent && a.tick == r.Tick && a.action == action && (resource == "" || a.resource == resource) {
			return nil
		}
	}
	return &Breach{"INV-04", "what an agent does was evaluated, and allowed, before"}
}

// access is INV-04 and INV-11 of memory.
func (c *Checker) access(r *bus.Record, a *memory.Access) *Breach {
	asked := memory.Request{Op: a.Op, Scope: a.Scope, Parent: a.Owner != r.Agent, Namespace: a.Namespace, Key: a.Key}
	if b := c.judged(r, asked.Action(), asked.Resource()); b != nil {
		return b
	}
	if a.Op == memory.OpWrite {
		return stored(a.Value)
	}
	return nil
}

// forkedMemory is INV-11 of what a fork begins with.
func forkedMemory(b *memory.Forked) *Breach {
	for i := range b.Entries {
		if broken := stored(b.Entries[i].Value); broken != nil {
			return broken
		}
	}
	return nil
}

// stored is INV-11.
func stored(v value.Raw) *Breach {
	if value.Check(v, len(v)) != nil {
		return &Breach{"INV-11", "what memory holds is a value of the JSON data model, in canonical form"}
	}
	return nil
}

// issued is INV-06, INV-08 and INV-13.
func (c *Checker) issued(s *state.State, now int64, row *state.Row, r *bus.Record, b *delegation.TokenIssued) *Breach {
	if row.Delegation.Token != 0 || row.Delegation.Parent != 0 {
		return &Breach{"INV-08", "an agent has one token, and at most one parent"}
	}
	if b.Parent == 0 {
		return nil
	}
	rows := rowsOf(s)
	if delegation.IsAncestor(rows, r.Agent, b.Parent) {
		return &Breach{"INV-08", "the tree of delegations has no cycle"}
	}
	if ok, _, _ := delegation.InForce(rows, b.Parent, now); !ok {
		return &Breach{"INV-13", "only an agent with a token in force delegates"}
	}
	above := s.Agents.Get(b.Parent)
	if b.Depth >= above.Delegation.Depth {
		return &Breach{"INV-06", "a child may delegate less deep than its parent"}
	}
	these := pair{above.Permissions.Grants, b.Grants}
	if these == c.contains {
		return nil
	}
	if _, widens := c.Grants(these.outer).Widens(c.Grants(these.inner)); widens {
		return &Breach{"INV-06", "a token's grants are contained in those of the agent that delegates"}
	}
	c.contains = these
	return nil
}

// After checks the state once the record's owner has taken it in. What it finds
// is the owner's own fault: the state is damaged, and the node stops.
func (c *Checker) After(s *state.State, r *bus.Record) *Breach {
	row := s.Agents.Get(r.Agent)
	if row == nil {
		return nil
	}
	want := c.count
	if r.Kind == bus.Lifecycle {
		want++
	}
	switch {
	case r.Kind == bus.AgentDefined:
	case row.Lifecycle.Count != want && r.Kind == bus.Lifecycle:
		return &Breach{"SM-INV-04", "every transition is added to the record of the agent's life"}
	case row.Lifecycle.Count != want:
		return &Breach{"SM-INV-01", "nothing but a transition changes an agent's state"}
	case r.Kind == bus.TickCompleted || r.Kind == bus.TickFailed:
		if tick := row.Execution.Current; tick != nil && tick.Phase != execution.Restored && len(tick.Checkpoint) > 0 && tick.Seq == r.Tick && ends(r) {
			return &Breach{"INV-05", "a tick's variables end with it"}
		}
	}
	return nil
}

// ends reports whether the record ends its tick: an unclassified failure does not.
func ends(r *bus.Record) bool {
	b, ok := r.Body.(*execution.FailedBody)
	return !ok || b.Failure.Class() != 0
}

func rowsOf(s *state.State) delegation.Rows {
	return func(no uint32) *delegation.Row {
		row := s.Agents.Get(no)
		if row == nil {
			return nil
		}
		return &row.Delegation
	}
}
