package replay

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// defined holds a run's definition against the command that asked for it.
func (s *story) defined(r *logging.Record, b *runs.DefinedBody) error {
	cmd := asked[event.PlanRun](s, event.RunPlan)
	if cmd == nil {
		return s.deviates("nobody asked for the run", r, nil)
	}
	made := &runs.DefinedBody{Goal: cmd.Goal, Config: cmd.Config, Seed: cmd.Seed, AutoStart: cmd.Start}
	if len(cmd.Planner) > 0 {
		same, err := s.program(b.Planner, cmd.Planner)
		if err != nil {
			return err
		}
		if same {
			made.Planner = b.Planner
		}
	}
	if err := s.same("the run is not the one that was asked for", r, &bus.Record{Kind: bus.RunDefined, Agent: s.run, Body: made}); err != nil {
		return err
	}
	if len(cmd.Planner) > 0 {
		plan := runs.Run{Goal: b.Goal, Config: b.Config}
		s.tables.ApplyDefined(s.run, s.at, b)
		s.want = nil
		return s.planner(plan.PlannerInput(), b.Planner)
	}
	s.tables.ApplyDefined(s.run, s.at, b)
	return nil
}

// planner notes that the root agent's first instruction is to plan.
func (s *story) planner(input value.Raw, program uint32) error {
	s.want = &bus.Record{Kind: bus.InstructionQueued, Agent: s.run, Body: &execution.InstructionBody{Program: program, Input: input}}
	return nil
}

// planned holds a plan against the command's, or against what the planner came to.
func (s *story) planned(r *logging.Record, run *runs.Run, b *runs.PlannedBody) error {
	if run.State != runs.Planning || run.Tasks != nil {
		return s.deviates("a plan is made for a run that has one, or is over", r, nil)
	}
	var tasks []event.RunTask
	what := "the plan is not the one that was given"
	if run.Planner == 0 {
		if cmd := asked[event.PlanRun](s, event.RunPlan); cmd != nil {
			tasks = cmd.Tasks
		}
	} else {
		what = "the plan is not what the planner made"
		if s.proof.completed && s.proof.tick == r.Tick {
			tasks, _ = flows.TasksIn(s.proof.result)
		}
	}
	made, err := s.plan(tasks, b)
	if err != nil {
		return err
	}
	if err := s.same(what, r, &bus.Record{Kind: bus.RunPlanned, Agent: s.run, Tick: r.Tick, Body: made}); err != nil {
		return err
	}
	s.proof.planned = true
	s.tables.ApplyPlanned(s.run, b)
	return nil
}

// plan is a list of tasks as it is planned. Programs have the numbers that the record
// has for them, if they are the same programs.
func (s *story) plan(tasks []event.RunTask, b *runs.PlannedBody) (*runs.PlannedBody, error) {
	made := &runs.PlannedBody{Tasks: make([]runs.PlannedTask, len(tasks))}
	for i := range tasks {
		t, into := &tasks[i], &made.Tasks[i]
		into.Name, into.Input, into.Program = t.Name, t.Input, s.own
		for _, name := range t.Uses {
			at := slices.IndexFunc(tasks[:i], func(earlier event.RunTask) bool { return earlier.Name == name })
			into.Uses = append(into.Uses, uint32(at))
		}
		if len(t.Program) == 0 {
			continue
		}
		into.Program = 0
		if i < len(b.Tasks) {
			same, err := s.program(b.Tasks[i].Program, t.Program)
			if err != nil {
				return nil, err
			}
			if same {
				into.Program = b.Tasks[i].Program
			}
		}
	}
	return made, nil
}

// program reports whether the body of that number is the program.
func (s *story) program(no uint32, program value.Raw) (bool, error) {
	i := slices.IndexFunc(s.gained, func(e interning.GainedEntry) bool { return e.No == no })
	if i < 0 {
		return false, nil
	}
	body := s.gained[i].Body
	if !s.gained[i].New {
		var err error
		if body, err = s.find(no, s.gained[i].Block); err != nil {
			return false, fmt.Errorf("%w: record %d uses body %d: %w", kernel.ErrSlice, s.at.Seq, no, err)
		}
	}
	return bytes.Equal(body, flows.ProgramBody(s.evaluator, program)), nil
}

// started holds the begin of a task against the plan, and says what the root agent is
// to do.
func (s *story) started(r *logging.Record, run *runs.Run, b *runs.TaskBody) error {
	next, left := run.Next()
	if run.State != runs.Applying || run.Running != 0 || run.Pausing != 0 || !left {
		return s.deviates("no task was to begin", r, nil)
	}
	if err := s.same("another task was to begin", r, s.next(run)); err != nil {
		return err
	}
	s.tables.ApplyTaskStarted(s.run, s.at, s.lastTick+1, b)
	s.carried++
	input := run.Input(next)
	if value.Check(input, int(s.config.MaxValueBytes)) != nil {
		s.proof.tooLarge = true // RUN_TASK_FAILED follows, and no instruction
		return nil
	}
	return s.planner(input, run.Tasks[next].Program)
}

// completed holds the end of a task against the tick that it was, which was evaluated
// again: what that came to is the task's result.
func (s *story) completed(r *logging.Record, run *runs.Run, b *runs.TaskBody) error {
	if run.Running != b.Task+1 {
		return s.deviates("a task is completed that is not in progress", r, nil)
	}
	task := &run.Tasks[b.Task]
	if !s.proof.completed || s.proof.tick != task.Tick || r.Tick != task.Tick {
		return s.deviates("a task is completed, and its tick is not", r, nil)
	}
	s.tables.ApplyTaskCompleted(s.run, s.at, s.proof.result, b)
	return nil
}
