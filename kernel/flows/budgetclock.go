package flows

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/timers"
)

// Work reacts to Lifecycle and RunTransition: the time of an agent that holds an
// account runs while it is at work (RU-9).
func Work(v View, made bus.Record, out *bus.Batch) {
	a, ok := v.Budgets.Get(made.Agent)
	if !ok || a.Limits.WallMillis == 0 {
		return
	}
	if running := v.atWork(made.Agent); running != (a.Since != 0) {
		v.clock(a, running, out)
	}
}

// atWork tells whether an agent's time runs: not before it is spawned, nor while it
// is suspended or faulted, nor when it is over; and a run's root has nothing to do
// while the run is PLANNED or PAUSED.
func (v View) atWork(no uint32) bool {
	switch v.StateOf(no) {
	case lifecycle.Defined, lifecycle.Resumable, lifecycle.Faulted, lifecycle.Terminated:
		return false
	}
	run := v.Runs.Get(no)
	return run == nil || run.State != runs.Planned && run.State != runs.Paused
}

// Reset reacts to a change of limits, or to a mark: the next moment of the
// agent's time is another. Who waits for room is looked at by Admit.
func Reset(v View, made bus.Record, out *bus.Batch) {
	a, ok := v.Budgets.Get(made.Agent)
	if !ok {
		return
	}
	if m, isMark := made.Body.(*budgets.Mark); isMark && m.Kind != budgets.WallMillis {
		return
	}
	running := a.Limits.WallMillis > 0 && v.atWork(made.Agent)
	if running || a.Since != 0 {
		v.clock(a, running, out)
	}
}

// clock starts, stops or goes on with an account's time, with the timer of its
// next moment.
func (v View) clock(a *budgets.Account, running bool, out *bus.Batch) {
	if a.Timer != 0 {
		out.Add(clearTimer(a.Agent, a.Deadline, a.Timer, false))
	}
	body := &budgets.Clock{Running: running}
	moment, ok := a.NextMoment(v.Clock)
	if !running || !ok {
		out.Add(bus.Record{Kind: bus.BudgetClock, Agent: a.Agent, Body: body})
		return
	}
	timer := v.setTimer(timers.Timer{Deadline: moment, Purpose: timers.BudgetOver, Agent: a.Agent}, 0)
	body.Deadline, body.Timer = moment, timerID(timer)
	out.Add(bus.Record{Kind: bus.BudgetClock, Agent: a.Agent, Body: body})
	out.Add(timer)
}

// budgetMoment is a warning about an agent's time, or its end.
func (v View) budgetMoment(t Target, out *bus.Batch) {
	a, ok := v.Budgets.Get(t.No)
	if !ok {
		return
	}
	out.Add(bus.Record{Kind: bus.BudgetClock, Agent: t.No, Body: &budgets.Clock{Running: a.Since != 0}}) // its timer has fired
	exceeded := a.Exceeded(budgets.WallMillis, v.Clock)
	v.mark(a, budgets.WallMillis, out)
	if exceeded && lifecycle.KillPath(t.Row.Lifecycle.State) != nil {
		v.end(t, overBudget(markOf(a, budgets.WallMillis, v.Clock)), "", out)
	}
}
