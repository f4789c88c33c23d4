package runs

import (
	"cmp"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// number of a run's root agent.
type number uint32

// Compare orders runs as their agents were defined.
func (n number) Compare(other number) int { return cmp.Compare(n, other) }

// Tables is the module's state. The zero value is empty.
type Tables struct {
	all     table.Sorted[number, *Run]
	ledgers table.Sorted[number, Ledger]
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{all: t.all.Publish(), ledgers: t.ledgers.Publish()}
}

// Len is the number of runs, tombstones among them.
func (t *Tables) Len() int { return t.all.Len() }

// Get finds the run of a root agent; nil when the agent is none's. What it
// returns is for reading.
func (t *Tables) Get(agent uint32) *Run {
	run, _ := t.all.Get(number(agent))
	return run
}

// All yields the runs in the order in which they were defined.
func (t *Tables) All(yield func(*Run) bool) {
	t.all.All(func(_ number, r *Run) bool { return yield(r) })
}

// From yields the runs whose root agents' numbers are not below that one.
func (t *Tables) From(agent uint32, yield func(*Run) bool) {
	t.all.From(number(agent), func(_ number, r *Run) bool { return yield(r) })
}

// Load puts a run back from a snapshot.
func (t *Tables) Load(r *Run) { t.all.Set(number(r.Agent), r) }

// edit replaces a run by a changed copy, if there is one.
func (t *Tables) edit(agent uint32, change func(*Run)) {
	if found := t.Get(agent); found != nil {
		dup := *found
		dup.Tasks = slices.Clone(dup.Tasks)
		change(&dup)
		t.Load(&dup)
	}
}

// ApplyDefined adds a run, PLANNING.
func (t *Tables) ApplyDefined(agent uint32, at bus.At, b *DefinedBody) {
	t.Load(&Run{
		Agent: agent, Seq: at.Seq, Goal: b.Goal, Config: own(b.Config), Seed: b.Seed,
		Planner: b.Planner, AutoStart: b.AutoStart, DefinedAt: at.Now,
	})
}

// ApplyPlanned gives the run its plan.
func (t *Tables) ApplyPlanned(agent uint32, b *PlannedBody) {
	t.edit(agent, func(r *Run) { r.Tasks, r.Total = b.tasks(), uint32(len(b.Tasks)) })
}

func (b *PlannedBody) tasks() []Task {
	tasks := make([]Task, len(b.Tasks))
	for i := range b.Tasks {
		p := &b.Tasks[i]
		tasks[i] = Task{Name: p.Name, Program: p.Program, Input: own(p.Input), Uses: slices.Clone(p.Uses)}
	}
	return tasks
}

// ApplyTransition moves the run along an edge. It trusts the record: the flow that
// made it asked Path.
func (t *Tables) ApplyTransition(agent uint32, at bus.At, e *Event) {
	t.edit(agent, func(r *Run) {
		r.State = e.To
		r.Count++
		r.Last = Step{Seq: at.Seq, At: at.Now, From: e.From, Trigger: e.Trigger, Cause: e.Cause, Code: e.Code, Reason: e.Reason}
		if e.To == Paused || e.To.Over() {
			r.Pausing, r.Wish = 0, ""
		}
		r.Interrupted = e.Forced
	})
}

// ApplyTaskStarted notes that the root agent is to run a task; tick is the tickSeq
// that it will have.
func (t *Tables) ApplyTaskStarted(agent uint32, at bus.At, tick uint64, b *TaskBody) {
	t.edit(agent, func(r *Run) {
		if task := r.task(b.Task); task != nil {
			r.Running = b.Task + 1
			task.State, task.Tick, task.StartedAt = Running, tick, at.Now
			if r.StartedAt == 0 {
				r.StartedAt = at.Now
			}
		}
	})
}

// ApplyTaskCompleted keeps what a task came to.
func (t *Tables) ApplyTaskCompleted(agent uint32, at bus.At, result value.Raw, b *TaskBody) {
	t.edit(agent, func(r *Run) {
		if task := r.task(b.Task); task != nil {
			r.Running = 0
			r.Done++
			r.Results += uint64(len(result))
			task.State, task.EndedAt, task.Result = Done, at.Now, result
		}
	})
}

// ApplyTaskFailed keeps how a task failed.
func (t *Tables) ApplyTaskFailed(agent uint32, at bus.At, b *TaskFailedBody) {
	t.edit(agent, func(r *Run) {
		if task := r.task(b.Task); task != nil {
			r.Running = 0
			task.State, task.EndedAt, task.Code, task.Message = Broken, at.Now, b.Code, b.Message
		}
	})
}

// ApplyPause notes who wants the run to pause, and why, or that nobody does any more.
func (t *Tables) ApplyPause(agent uint32, b *PauseBody) {
	t.edit(agent, func(r *Run) {
		r.Pausing, r.Wish = b.Cause, ""
		if b.Cause != 0 {
			r.Wish = b.Reason
		}
	})
}

// ApplyArchived shrinks a run to its tombstone: what it came to, and when.
func (t *Tables) ApplyArchived(agent uint32) {
	t.edit(agent, func(r *Run) {
		r.Goal, r.Config, r.Tasks, r.Results, r.Archived = "", nil, nil, 0, true
		r.Planner, r.Last.Reason = 0, ""
	})
}

func (r *Run) task(at uint32) *Task {
	if at >= uint32(len(r.Tasks)) {
		return nil
	}
	return &r.Tasks[at]
}

// own copies bytes that would otherwise keep a whole log entry in memory.
func own(b value.Raw) value.Raw {
	if b == nil {
		return nil
	}
	return append(make(value.Raw, 0, len(b)), b...)
}
