package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
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
	runnable := row.Execution.Runnable()
	if row.Lifecycle.State == lifecycle.Completing {
		// The last tick, or its continuation (LC-5).
		active = row.Identity.Teardown != 0 && !row.Execution.Torn
		runnable = row.Execution.Current == nil || runnable
	}
	switch place := row.Execution.Place; {
	case active && place == 0 && runnable:
		out.Add(bus.Record{Kind: bus.TickScheduled, Agent: made.Agent, Body: &execution.PlaceBody{Place: v.Running.Next + 1}})
	case !active && place != 0:
		out.Add(bus.Record{Kind: bus.TickFrozen, Agent: made.Agent, Body: &execution.PlaceBody{Place: place}})
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
	clearToken(t, out)
	if row.Memory.Snapshot != nil {
		out.Add(bus.Record{Kind: bus.SnapshotDropped, Agent: t.No, Body: execution.Empty{}})
	}
	var lost interning.Lost
	hold := func(program uint32) {
		if program != row.Identity.Program {
			lost.Numbers = append(lost.Numbers, program)
		}
	}
	if tick := row.Execution.Current; tick != nil && !tick.Teardown {
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
