package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
)

// Compiler gives the compiled forms of interned bodies. They are caches: the
// same number always gives an equal form.
type Compiler interface {
	Evaluator(name string) (evaluator.Evaluator, bool)
	Program(no uint32) (evaluator.Program, bool)
	Grants(no uint32) *permissions.Set // nil denies everything
}

// View is what a flow may look at.
type View struct {
	*state.State
	Compiled Compiler
	Seq      uint64 // the next busSeq

	// Above stands for the agents above one whose history is looked at alone, in
	// a state that has nobody else: the code by which they void its token, as its
	// record says; empty while they do not.
	Above failure.Code
}

// Target is the agent that a cause concerns.
type Target struct {
	No  uint32
	Row *state.Row // for reading
}

// Done is what a command came to: the agent that it concerned, if any, and what
// else the client is told.
type Done struct {
	Target
	Version uint64 // of what a write of shared memory made
}

// Refusal is the answer of a flow that will not do it. Record, when present,
// is published: it tells the log what was refused, and no table changes.
type Refusal struct {
	failure.Refusal
	Record *bus.Record
}

func refuse(code failure.Code, field, rule string) *Refusal {
	return &Refusal{Refusal: failure.Refusal{Code: code, Field: field, Rule: rule}}
}

func refuseHint(code failure.Code, field, rule, hint string) *Refusal {
	return &Refusal{Refusal: failure.Refusal{Code: code, Field: field, Rule: rule, Hint: hint}}
}

// target finds the agent that a command names.
func (v View) target(id string) (Target, *Refusal) {
	uuid, ok := ParseID(id)
	if !ok {
		return Target{}, refuse(failure.InvalidArgument, "agent", "must be a UUID such as 018f4e5c-0000-7000-8000-000000000001")
	}
	no, row := v.Find(uuid)
	if row == nil {
		return Target{}, refuseHint(failure.NotFound, "agent", "no agent has this id", "see what there is with: omni agent list")
	}
	return Target{no, row}, nil
}

// transition is the record of one row of the table, taken as the table says.
// The caller has asked lifecycle.Decide.
func transition(t Target, from lifecycle.State, trigger lifecycle.Trigger, caller lifecycle.Caller, why cause) bus.Record {
	return transitionIn(new(lifecycle.Event), t, from, trigger, caller, why)
}

// transitionIn is transition with a body that was allocated with others.
func transitionIn(body *lifecycle.Event, t Target, from lifecycle.State, trigger lifecycle.Trigger, caller lifecycle.Caller, why cause) bus.Record {
	to, ok := lifecycle.Decide(from, trigger, caller)
	if !ok {
		panic("flows: a transition that the table does not allow was decided")
	}
	*body = lifecycle.Event{
		From: from, To: to, Trigger: trigger, Caller: caller, Code: why.code, Class: why.class, Reason: why.reason,
	}
	return bus.Record{Kind: bus.Lifecycle, Agent: t.No, Tick: why.tick, Body: body}
}

// cause is why a transition is taken.
type cause struct {
	tick   uint64
	code   failure.Code
	class  failure.Class
	reason string
}

func failed(tick uint64, f *failure.Failure) cause {
	return cause{tick: tick, code: f.Code, class: f.Class()}
}

// setTimer is the record of a new timer. Several in one batch pass the number
// that were set before in it.
func (v View) setTimer(t timers.Timer, before uint64) bus.Record {
	return v.setTimerIn(new(timers.Set), t, before)
}

// setTimerIn is setTimer with a body that was allocated with others.
func (v View) setTimerIn(body *timers.Set, t timers.Timer, before uint64) bus.Record {
	t.ID = v.Timers.Next + 1 + before
	body.Timer = t
	return bus.Record{Kind: bus.TimerSet, Agent: t.Agent, Tick: t.Tick, Body: body}
}

func clearTimer(agent uint32, deadline int64, id uint64, fired bool) bus.Record {
	return bus.Record{Kind: bus.TimerCleared, Agent: agent, Body: &timers.Cleared{Deadline: deadline, ID: id, Fired: fired}}
}

// clearOwn drops the timer of the agent's state, if it has one.
func clearOwn(t Target, out *bus.Batch) {
	if t.Row.Timer.ID != 0 {
		out.Add(clearTimer(t.No, t.Row.Timer.Deadline, t.Row.Timer.ID, false))
	}
}
