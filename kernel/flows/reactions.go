package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/timers"
)

// Schedule keeps the global queue true: an ACTIVE agent with something to run
// has its place, and nobody else has one (EX-4). It reacts to whatever can
// change either.
func Schedule(v View, made bus.Record, out *bus.Batch) {
	row := v.Agents.Get(made.Agent)
	active := row.Lifecycle.State == lifecycle.Active
	switch place := row.Execution.Place; {
	case active && place == 0 && row.Execution.Runnable():
		out.Add(bus.Record{Kind: bus.TickScheduled, Agent: made.Agent, Body: &execution.PlaceBody{Place: v.Running.Next + 1}})
	case !active && place != 0:
		out.Add(bus.Record{Kind: bus.TickFrozen, Agent: made.Agent, Body: &execution.PlaceBody{Place: place}})
	}
}

// Fault reacts to TickFailed: what the failure's class does to the agent
// (FA-1 … FA-4). A policy violation leaves it ACTIVE; Finish decides what
// comes next.
func Fault(v View, made bus.Record, out *bus.Batch) {
	body, ok := made.Body.(*execution.FailedBody)
	row := v.Agents.Get(made.Agent)
	if !ok || row.Lifecycle.State != lifecycle.Active {
		return
	}
	t := Target{made.Agent, row}
	switch body.Failure.Class() {
	case failure.Transient, failure.Permanent:
		out.Add(transition(t, lifecycle.Active, lifecycle.Error, lifecycle.Kernel, failed(made.Tick, &body.Failure)))
	case failure.InvariantBreach:
		out.Add(transition(t, lifecycle.Active, lifecycle.Breach, lifecycle.Kernel, failed(made.Tick, &body.Failure)))
	}
}

// Finish reacts to the end of a tick: a task agent with nothing left to do is
// complete (LC-11, FA-3).
func Finish(v View, made bus.Record, out *bus.Batch) {
	row := v.Agents.Get(made.Agent)
	if row.Lifecycle.State == lifecycle.Active && row.Identity.Mode == identity.Task && row.Execution.Idle() {
		t := Target{made.Agent, row}
		out.Add(transition(t, lifecycle.Active, lifecycle.Complete, lifecycle.Kernel, cause{tick: made.Tick}))
	}
}

// Teardown reacts to Lifecycle: an agent that is COMPLETING and has nothing to
// tear down is done (row 11).
func Teardown(v View, made bus.Record, out *bus.Batch) {
	row := v.Agents.Get(made.Agent)
	if row.Lifecycle.State == lifecycle.Completing {
		t := Target{made.Agent, row}
		out.Add(transition(t, lifecycle.Completing, lifecycle.TeardownOK, lifecycle.Kernel, cause{tick: made.Tick}))
	}
}

// Release reacts to Lifecycle: a TERMINATED agent gives back its place, its
// instructions and the programs they hold, and its row will shrink after the
// retention time (LC-8).
func Release(v View, made bus.Record, out *bus.Batch) {
	row := v.Agents.Get(made.Agent)
	if row.Lifecycle.State != lifecycle.Terminated || row.Timer.ID != 0 {
		return
	}
	t := Target{made.Agent, row}
	v.withdraw(t, out)
	var lost interning.Lost
	hold := func(program uint32) {
		if program != row.Identity.Program {
			lost.Numbers = append(lost.Numbers, program)
		}
	}
	if row.Execution.Current != nil {
		hold(row.Execution.Current.Program)
	}
	for i := range row.Execution.Queue {
		hold(row.Execution.Queue[i].Program)
	}
	if row.Execution.Reserved {
		out.Add(bus.Record{Kind: bus.QueueReleased, Agent: t.No, Body: execution.Empty{}})
	}
	if len(lost.Numbers) > 0 {
		out.Add(bus.Record{Kind: bus.Released, Agent: t.No, Body: &lost})
	}
	out.Add(v.setTimer(timers.Timer{
		Deadline: v.Clock + v.Config.RetentionMillis, Purpose: timers.RetentionOver, Agent: t.No,
	}, 0))
}
