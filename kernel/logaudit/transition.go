package logaudit

import "github.com/omnikernel/omnikernel/kernel/lifecycle"

// transition looks at LIFECYCLE.
func (a *Auditor) transition(g *agent, e *lifecycle.Event) {
	a.report.Transitions++
	row, is := rowOf(e.From, e.Trigger)
	switch {
	case e.From != g.state():
		a.found(Transition, "%s is taken from %s, and the last transition led to %s", e.Trigger, e.From, g.state())
	case !is || row.To != e.To:
		a.found(Transition, "%s --%s--> %s is no row of the table", e.From, e.Trigger, e.To)
	case !row.May(e.Caller):
		a.found(Caller, "row %d, %s --%s--> %s, is not for a %s to cause", row.Row, e.From, e.Trigger, e.To, e.Caller)
	case e.Caller == lifecycle.Client && !a.event.Kind.IsCommand() && g.suspending != lifecycle.Client:
		a.found(Caller, "a client is said to cause %s, in the event %s, which is no client's", e.Trigger, a.event.Kind)
	case e.Caller == lifecycle.Parent && g.holds.Above == nil:
		a.found(Caller, "a parent is said to cause %s of an agent that has none", e.Trigger)
	case e.Trigger == lifecycle.Spawn && g.holds.Token == 0:
		a.found(Tree, "the agent is spawned before its token is issued")
	case e.From == lifecycle.Waiting && e.Trigger == lifecycle.Resume && g.tick.phase == pending:
		a.found(Result, "the agent goes on, and call %d of tick %d has no answer", g.unanswered(), g.tick.seq)
		g.tick.phase = answered
	}
	if e.To != lifecycle.Waiting && e.From != lifecycle.Waiting || e.To == lifecycle.Faulted || e.To == lifecycle.Terminated {
		g.suspending = 0
	}
	if e.To == lifecycle.Terminated {
		delete(a.agents, g.no)
		a.leaves(g)
	}
}

// rowOf finds the row for a state and a trigger.
func rowOf(from lifecycle.State, trigger lifecycle.Trigger) (row lifecycle.Transition, is bool) {
	for _, row := range lifecycle.Table {
		if row.From == from && row.Trigger == trigger {
			return row, true
		}
	}
	return lifecycle.Transition{}, false
}

// rejected looks at INVALID_TRANSITION: what was refused must be no row.
func (a *Auditor) rejected(state lifecycle.State, b *lifecycle.Rejection) {
	row, is := rowOf(b.From, b.Trigger)
	switch {
	case b.From != state:
		a.found(Transition, "a transition from %s is refused, and the agent is %s", b.From, state)
	case is && row.May(b.Caller):
		a.found(Transition, "%s of a %s is refused in %s, and is row %d of the table", b.Trigger, b.Caller, b.From, row.Row)
	}
}

// suspension looks at SUSPEND_REQUESTED (LC-13).
func (a *Auditor) suspension(g *agent, b *lifecycle.SuspendRequested) {
	row, is := rowOf(lifecycle.Active, lifecycle.Suspend)
	if g.state() != lifecycle.Waiting || !is || !row.May(b.Caller) {
		a.found(Caller, "a %s asks to suspend an agent that is %s as soon as it goes on", b.Caller, g.state())
	}
	g.suspending = b.Caller
}
