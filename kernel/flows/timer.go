package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Fire decides what a due timer does. It is cleared in any case (EV-6, LC-12).
func Fire(v View, timer timers.Timer, out *bus.Batch) {
	t := Target{timer.Agent, v.Agents.Get(timer.Agent)}
	out.Add(clearTimer(t.No, timer.Deadline, timer.ID, true))
	switch timer.Purpose {
	case timers.CallDeadline:
		v.callOver(t, timer, out)
	case timers.SleepOver:
		resolve(t, timer.Tick, "timer.sleep", execution.Answer{Call: timer.Call, OK: true, Value: value.Null}, 0, out)
	case timers.ResumableOver:
		out.Add(transition(t, lifecycle.Resumable, lifecycle.Expire, lifecycle.Kernel, cause{reason: "not resumed in time"}))
	case timers.RetentionOver:
		archive(t, out)
	}
}

// callOver ends the wait for a call. A call that may have happened, and must
// not happen twice, is called unknown and delivered as that (TO-4); for any
// other the wait has timed out, which is row 8.
func (v View) callOver(t Target, timer timers.Timer, out *bus.Batch) {
	call, ok := v.Tools.Get(tools.Key{Agent: timer.Agent, Tick: timer.Tick, Call: timer.Call})
	if !ok {
		return
	}
	if call.Dispatched != 0 {
		resolve(t, timer.Tick, call.Tool, execution.Answer{
			Call: timer.Call, Code: failure.OutcomeUnknown, Message: "the call was dispatched and its result never came: it may or may not have happened",
		}, 0, out)
		return
	}
	f := failure.Failure{Code: failure.WaitTimeout, Message: "the wait for " + call.Tool + " passed its deadline"}
	out.Add(bus.Record{Kind: bus.ActionFailed, Agent: t.No, Tick: timer.Tick, Body: &tools.ActionBody{
		Call: timer.Call, Tool: call.Tool, Code: f.Code, Message: f.Message,
	}})
	out.Add(bus.Record{Kind: bus.TickFailed, Agent: t.No, Tick: timer.Tick, Body: &execution.FailedBody{
		Steps: t.Row.Execution.Current.Steps, Failure: f,
	}})
	out.Add(transition(t, lifecycle.Waiting, lifecycle.Timeout, lifecycle.Scheduler, failed(timer.Tick, &f)))
}

// archive shrinks a TERMINATED agent's row to its tombstone (LC-8).
func archive(t Target, out *bus.Batch) {
	id := &t.Row.Identity
	var lost interning.Lost
	for _, no := range [...]uint32{id.Program, id.Grants, id.Labels, id.Env} {
		if no != 0 {
			lost.Numbers = append(lost.Numbers, no)
		}
	}
	out.Add(bus.Record{Kind: bus.AgentArchived, Agent: t.No, Body: execution.Empty{}})
	if len(lost.Numbers) > 0 {
		out.Add(bus.Record{Kind: bus.Released, Agent: t.No, Body: &lost})
	}
}
