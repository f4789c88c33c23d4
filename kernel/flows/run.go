package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// runOf finds the run whose root agent that is, while it is not over; nil for any
// other agent. Roots are services, so task agents are not even looked up.
func (v View) runOf(no uint32) (Target, *runs.Run) {
	row := v.Agents.Get(no)
	if row == nil || row.Identity.Mode != identity.Service || v.Runs.Len() == 0 {
		return Target{}, nil
	}
	run := v.Runs.Get(no)
	if run == nil || run.State.Over() {
		return Target{}, nil
	}
	return Target{no, row}, run
}

// runTarget finds the run that a command names.
func (v View) runTarget(id string) (Target, *runs.Run, *Refusal) {
	uuid, ok := ParseID(id)
	if !ok {
		return Target{}, nil, refuse(failure.InvalidArgument, "run", "must be a UUID such as 018f4e5c-0000-7000-8000-000000000001")
	}
	if no, row := v.Find(uuid); row != nil {
		if run := v.Runs.Get(no); run != nil {
			return Target{no, row}, run, nil
		}
	}
	return Target{}, nil, refuseHint(failure.NotFound, "run", "no run has this id", "see what there is with: omni run list")
}

// runCause is why a run takes a transition.
type runCause struct {
	cause  runs.Cause
	code   failure.Code
	reason string
	forced bool
}

// runMoves publishes the edges that a request takes from where the run is, and
// returns where they lead. The caller has asked runs.Path.
func runMoves(t Target, from runs.State, trigger runs.Trigger, why runCause, out *bus.Batch) {
	path := runs.Path(from, trigger)
	if path == nil {
		panic("flows: a transition of a run that the table does not allow was decided")
	}
	if from == runs.Planning && trigger == runs.Kill && why.reason == "" {
		why.reason = "killed" // RU-1: there is no such edge, and the reason says what was meant
	}
	for _, trigger := range path {
		to, _ := runs.Decide(from, trigger)
		out.Add(bus.Record{Kind: bus.RunTransition, Agent: t.No, Body: &runs.Event{
			From: from, To: to, Trigger: trigger, Cause: why.cause, Code: why.code, Forced: why.forced, Reason: why.reason,
		}})
		from = to
	}
}

// invalidRun is RU-1: recorded with from, trigger and cause, nothing changed.
func invalidRun(t Target, run *runs.Run, trigger runs.Trigger, by runs.Cause, rule string) *Refusal {
	if rule == "" {
		rule = "a run that is " + run.State.String() + " has no transition " + trigger.String()
	}
	r := refuseHint(failure.InvalidRun, "run", rule, "see the run with: omni run get "+FormatID(t.Row.Identity.ID))
	r.Record = &bus.Record{Kind: bus.InvalidRunTransition, Agent: t.No, Body: &runs.Rejection{From: run.State, Trigger: trigger, Cause: by}}
	return r
}

// RunNext reacts to RunTransition and RunTaskCompleted: what the run does next,
// by its own row alone. A plan that is there is begun, if that was asked for; a
// pause that was asked for is taken when nothing is in progress; a run that is
// APPLYING begins the task after the last completed one, or is complete.
func RunNext(v View, made bus.Record, out *bus.Batch) {
	t, run := v.runOf(made.Agent)
	if run == nil || run.Running != 0 {
		return
	}
	next, left := run.Next()
	e, moved := made.Body.(*runs.Event)
	switch pausing := run.Pausing != 0; {
	case run.State == runs.Planned && pausing, run.State == runs.Applying && pausing && left:
		runMoves(t, run.State, runs.Pause, runCause{cause: run.Pausing, reason: run.Wish}, out)
	case run.State == runs.Planned && run.AutoStart && moved && e.Trigger == runs.Ready:
		runMoves(t, run.State, runs.Start, runCause{cause: runs.Kernel, reason: "as soon as it is planned"}, out)
	case run.State != runs.Applying:
	case left:
		v.beginTask(t, run, next, out)
	default:
		runMoves(t, run.State, runs.Complete, runCause{cause: runs.Kernel}, out)
		v.completeRoot(t, made.Tick, out)
	}
}

// beginTask queues the instruction of a task.
func (v View) beginTask(t Target, run *runs.Run, at int, out *bus.Batch) {
	input := run.Input(at)
	out.Add(bus.Record{Kind: bus.RunTaskStarted, Agent: t.No, Body: &runs.TaskBody{Task: uint32(at)}})
	if value.Check(input, int(v.Config.MaxValueBytes)) != nil {
		f := &failure.Failure{Code: failure.ValueTooLarge, Message: "with the results that it uses, the task's input is larger than max_value_bytes, or nested too deeply"}
		out.Add(bus.Record{Kind: bus.RunTaskFailed, Agent: t.No, Body: &runs.TaskFailedBody{Task: uint32(at), Code: f.Code, Message: f.Message}})
		runMoves(t, run.State, runs.Fail, runCause{cause: runs.Kernel, code: f.Code, reason: f.Message}, out)
		v.completeRoot(t, 0, out)
		return
	}
	v.instruct(t, run.Tasks[at].Program, input, out)
}

// instruct queues a program that the run holds; the instruction is a user of it
// of its own, as one that was submitted.
func (v View) instruct(t Target, program uint32, input value.Raw, out *bus.Batch) {
	if program != t.Row.Identity.Program {
		out.Add(bus.Record{Kind: bus.Interned, Body: &interning.Gained{Entries: []interning.GainedEntry{v.gainAgain(program)}}})
	}
	out.Add(instruction(t, program, input))
}

// gainAgain is one more user of a body that is there, or will be with what is
// decided in the same event.
func (v View) gainAgain(no uint32) interning.GainedEntry {
	block := logging.PointerTo(v.Log.Position)
	if e := v.Interned.Get(no); e != nil {
		block = e.Block
	}
	return interning.GainedEntry{No: no, Class: interning.Program, Block: block}
}

// completeRoot lets the root agent of a run that is over end in order: its
// teardown runs, as any agent's (LC-5).
func (v View) completeRoot(t Target, tick uint64, out *bus.Batch) {
	if t.Row.Lifecycle.State == lifecycle.Active {
		out.Add(transition(t, lifecycle.Active, lifecycle.Complete, lifecycle.Kernel, cause{tick: tick}))
	}
}
