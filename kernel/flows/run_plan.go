package flows

import (
	"slices"
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Limits of a run's definition, in bytes.
const (
	MaxGoalBytes = 4096
	MaxSeedBytes = 128
)

// CheckRun holds the rules of a run's definition that need neither state nor a
// compiler; the door calls it, and CheckCompiles of the agent and of each program,
// before it proposes.
func CheckRun(cmd *event.PlanRun) *failure.Refusal {
	bad := func(field, rule string) *failure.Refusal {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
	}
	switch {
	case len(cmd.Name) > MaxNameBytes || !printable(cmd.Name):
		return bad("name", "must be at most 128 bytes of printable text")
	case !validText(cmd.Goal, MaxGoalBytes):
		return bad("goal", "must be at most 4096 bytes of text")
	case len(cmd.Seed) > MaxSeedBytes || !printable(cmd.Seed):
		return bad("seed", "must be at most 128 bytes of printable text")
	case cmd.Agent.Mode == "task":
		return bad("agent.mode", "the root agent of a run is a service: leave the mode out")
	case len(cmd.Agent.Input) > 0:
		return bad("agent.input", "the root agent of a run is given the input of each task: leave the schema out")
	case len(cmd.Planner) > 0 && len(cmd.Tasks) > 0:
		return bad("tasks", "a plan is given or made by a planner, not both")
	case len(cmd.Planner) == 0 && len(cmd.Tasks) == 0:
		return bad("tasks", "a run needs a plan of at least one task, or a planner that makes it")
	}
	return CheckDefine(&cmd.Agent, "agent.")
}

// CheckRunCompiles holds the rules of a run's programs that take a compiler.
func CheckRunCompiles(cmd *event.PlanRun, lookup Lookup) *failure.Refusal {
	if r := checkProgram(cmd.Agent.Evaluator, cmd.Planner, "planner", "agent.", lookup); r != nil {
		return r
	}
	for i := range cmd.Tasks {
		here := "tasks[" + strconv.Itoa(i) + "].program"
		if r := checkProgram(cmd.Agent.Evaluator, cmd.Tasks[i].Program, here, "agent.", lookup); r != nil {
			return r
		}
	}
	return nil
}

// PlanRun decides a RunPlan event: the run and its root agent, which is ACTIVE
// from here on. A plan that is given makes it PLANNED at once; a planner is the
// agent's first instruction (RU-1).
func PlanRun(v View, cmd *event.PlanRun, out *bus.Batch) (Target, *Refusal) {
	if r := CheckRun(cmd); r != nil {
		return Target{}, &Refusal{Refusal: *r}
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return Target{}, refusal
	}
	if len(cmd.Config) > 0 {
		if p := value.Check(cmd.Config, int(v.Config.MaxValueBytes)); p != nil {
			return Target{}, refuse(failure.InvalidValue, value.JoinKey("config", p.Path), p.Rule)
		}
	}
	switch {
	case uint32(v.Runs.Len()) >= v.Config.MaxRuns:
		return Target{}, refuse(failure.LimitReached, "", "the kernel holds as many runs as its max_runs allows")
	case v.Running.Reserved >= v.Config.GlobalQueue:
		return Target{}, queueFull()
	}
	define := cmd.Agent
	define.Mode = "service"
	define.Name = orDefault(define.Name, cmd.Name)
	df := v.definer()
	df.in.made = make(map[interning.Digest]uint32)
	d, refusal := df.define(&define, "agent.", derived(v.kernelID(), uint64(df.next)))
	if refusal != nil {
		return Target{}, refusal
	}
	p := planning{v: v, in: &df.in, evaluator: d.body.Evaluator, own: d.body.Program, goal: cmd.Goal, config: cmd.Config}
	body := &runs.DefinedBody{Goal: cmd.Goal, Config: cmd.Config, Seed: cmd.Seed, AutoStart: cmd.Start}
	var plan *runs.PlannedBody
	var bad *failure.Refusal
	if len(cmd.Planner) > 0 {
		body.Planner, bad = p.planner(cmd.Planner)
	} else {
		plan, bad = p.plan(cmd.Tasks, "tasks")
	}
	if bad != nil {
		return Target{}, &Refusal{Refusal: *bad}
	}
	if refusal := df.room(); refusal != nil {
		return Target{}, refusal
	}
	v.publishRun(d, body, plan, cmd.Reason, out)
	return Target{No: d.no}, nil
}

// publishRun is the records of a new run, in order.
func (v View) publishRun(d *definition, body *runs.DefinedBody, plan *runs.PlannedBody, reason string, out *bus.Batch) {
	t, why := Target{No: d.no}, cause{reason: reason}
	d.publish(out)
	out.Add(bus.Record{Kind: bus.RunDefined, Agent: d.no, Body: body})
	v.spawn(t, &d.body, lifecycle.Client, why, out)
	out.Add(transition(t, lifecycle.Spawned, lifecycle.Activate, lifecycle.Client, why))
	if plan != nil {
		out.Add(bus.Record{Kind: bus.RunPlanned, Agent: d.no, Body: plan})
		runMoves(t, runs.Planning, runs.Ready, runCause{cause: runs.Operator, reason: reason}, out)
		return
	}
	if body.Planner != d.body.Program {
		out.Add(bus.Record{Kind: bus.Interned, Body: &interning.Gained{Entries: []interning.GainedEntry{v.gainAgain(body.Planner)}}})
	}
	made := runs.Run{Goal: body.Goal, Config: body.Config}
	out.Add(instruction(t, body.Planner, made.PlannerInput()))
}

// planning checks a plan, whoever made it, and interns its programs.
type planning struct {
	v         View
	in        *interner
	evaluator string
	own       uint32 // the root agent's own program; 0 for none
	goal      string
	config    value.Raw
}

// planner interns the program that makes the plan. Its input must be a value.
func (p *planning) planner(raw value.Raw) (no uint32, _ *failure.Refusal) {
	made := runs.Run{Goal: p.goal, Config: p.config}
	if value.Check(made.PlannerInput(), int(p.v.Config.MaxValueBytes)) != nil {
		return 0, badPlan("config", "with the goal it is larger than the kernel's max_value_bytes, or nested too deeply")
	}
	return p.program(raw, "planner")
}

// program interns a program of the run.
func (p *planning) program(raw value.Raw, field string) (no uint32, _ *failure.Refusal) {
	if uint32(len(raw)) > p.v.Config.MaxProgramBytes {
		return 0, &failure.Refusal{Code: failure.InvalidProgram, Field: field, Rule: "the program is larger than the kernel's max_program_bytes"}
	}
	before := p.in.fresh
	no = p.in.add(p.v, interning.Program, ProgramBody(p.evaluator, raw))
	if p.in.fresh > before { // what is known compiled when it came in
		return no, checkProgram(p.evaluator, raw, field, "agent.", p.v.Compiled.Evaluator)
	}
	return no, nil
}

// plan checks the tasks one by one.
func (p *planning) plan(tasks []event.RunTask, field string) (*runs.PlannedBody, *failure.Refusal) {
	if n := uint64(len(tasks)); n == 0 || n > uint64(p.v.Config.MaxTasks) {
		return nil, badPlan(field, "a plan has 1 to max_tasks tasks")
	}
	plan := &runs.PlannedBody{Tasks: make([]runs.PlannedTask, len(tasks))}
	at := make(map[string]uint32, len(tasks))
	bytes := len(p.goal) + len(p.config)
	for i := range tasks {
		here := field + "[" + strconv.Itoa(i) + "]."
		if bad := p.task(&tasks[i], &plan.Tasks[i], at, here); bad != nil {
			return nil, bad
		}
		at[tasks[i].Name] = uint32(i)
		bytes += len(tasks[i].Name) + len(tasks[i].Input) + 8*len(tasks[i].Uses)
	}
	if bytes > int(p.v.Config.MaxRunBytes) {
		return nil, badPlan(field, "the goal, the config and the tasks' inputs together are larger than the kernel's max_run_bytes")
	}
	return plan, nil
}

func (p *planning) task(t *event.RunTask, into *runs.PlannedTask, at map[string]uint32, here string) *failure.Refusal {
	_, repeated := at[t.Name]
	switch {
	case !validKey(t.Name):
		return badPlan(here+"name", "must be 1 to 128 bytes of printable text")
	case repeated:
		return badPlan(here+"name", "another task of the plan has this name")
	case len(t.Program) == 0 && p.own == 0:
		return badPlan(here+"program", "the task has no program, and neither has the run's agent")
	}
	into.Name, into.Program, into.Input = t.Name, p.own, t.Input
	if len(t.Program) > 0 {
		var bad *failure.Refusal
		if into.Program, bad = p.program(t.Program, here+"program"); bad != nil {
			return bad
		}
	} else { // the run holds it as it holds any other
		p.in.gains.Entries = append(p.in.gains.Entries, p.v.gainAgain(p.own))
	}
	for _, name := range t.Uses {
		used, earlier := at[name]
		if !earlier || slices.Contains(into.Uses, used) {
			return badPlan(here+"uses", "must name tasks that come before, each once")
		}
		into.Uses = append(into.Uses, used)
	}
	if len(t.Input) > 0 {
		if problem := value.Check(t.Input, int(p.v.Config.MaxValueBytes)); problem != nil {
			return &failure.Refusal{Code: failure.InvalidValue, Field: here + "input" + problem.Path, Rule: problem.Rule}
		}
	}
	alone := runs.Run{Goal: p.goal, Config: p.config, Tasks: []runs.Task{{Input: t.Input}}}
	if value.Check(alone.Input(0), int(p.v.Config.MaxValueBytes)) != nil {
		return badPlan(here+"input", "with the goal and the config it is larger than the kernel's max_value_bytes, or nested too deeply")
	}
	return nil
}

func badPlan(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}
