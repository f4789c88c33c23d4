package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// run is what the records so far say about a run that is not over.
type run struct {
	state   runs.State
	planned bool
	tasks   uint32
	done    uint32
	running bool
}

// ofRun looks at a record of a run, and reports whether it is one. Their agent is
// the run's root, which may be over by then.
func (a *Auditor) ofRun() bool {
	r := a.runs[a.record.Agent]
	switch body := a.record.Body.(type) {
	case *runs.DefinedBody:
		g := a.agents[a.record.Agent]
		if g == nil || r != nil {
			a.found(Run, "a run is defined whose root agent is over, or has a run")
		}
		if g != nil && g.run == 0 {
			a.joins(g, g.no)
		}
		a.runs[a.record.Agent] = &run{}
	case *runs.Rejection:
		if r != nil && body.From != r.state {
			a.found(Run, "a transition from %s is refused, and the run is %s", body.From, r.state)
		}
	case *runs.Event:
		a.runTransition(r, body)
	case *runs.PlannedBody:
		if r == nil || r.planned {
			a.found(Run, "a plan is made for a run that is over, or has one")
			return true
		}
		r.planned, r.tasks = true, uint32(len(body.Tasks))
	case *runs.TaskBody, *runs.TaskFailedBody:
		a.runTask(r)
	default:
		return false
	}
	return true
}

func (a *Auditor) runTransition(r *run, e *runs.Event) {
	to, is := runs.Decide(e.From, e.Trigger)
	switch {
	case r == nil:
		a.found(Run, "%s of a run that is over, or never was", e.Trigger)
		return
	case e.From != r.state:
		a.found(Run, "%s is taken from %s, and the last transition led to %s", e.Trigger, e.From, r.state)
	case !is || to != e.To:
		a.found(Run, "%s --%s--> %s is no edge of the table", e.From, e.Trigger, e.To)
	case e.Trigger == runs.Ready && !r.planned:
		a.found(Run, "the run is PLANNED without a plan")
	case e.Trigger == runs.Complete && r.done < r.tasks:
		a.found(Run, "the run is COMPLETED, and %d of its %d tasks are", r.done, r.tasks)
	case e.To.Over() && r.running:
		a.found(Run, "the run is %s, and a task is in progress", e.To)
	}
	if r.state = e.To; r.state.Over() {
		delete(a.runs, a.record.Agent)
	}
}

// runTask looks at a task's start and its end.
func (a *Auditor) runTask(r *run) {
	if r == nil {
		a.found(Run, "a task of a run that is over, or never was")
		return
	}
	var task uint32
	starts := false
	switch b := a.record.Body.(type) {
	case *runs.TaskBody:
		task, starts = b.Task, a.record.Kind == bus.RunTaskStarted
	case *runs.TaskFailedBody:
		task = b.Task
	}
	switch {
	case task != r.done || task >= r.tasks:
		a.found(Run, "task %d of %d starts or ends, and %d are done", task, r.tasks, r.done)
	case starts == r.running:
		a.found(Run, "task %d starts twice, or ends and was not started", task)
	case starts && r.state != runs.Applying:
		a.found(Run, "task %d starts while the run is %s", task, r.state)
	}
	r.running = starts
	if a.record.Kind == bus.RunTaskCompleted {
		r.done++
	}
}
