package kerneltest

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// run is a run as the model knows it, written from RU-1 and RU-2: its states are
// their names, and its table is the words of these functions.
type run struct {
	agent   *agent
	state   string
	goal    string
	config  value.Raw
	seed    string
	auto    bool // starts as soon as it is PLANNED
	tasks   []job
	running int // position of the task in progress, from 1
	done    int
	results int
	pausing string // who wants a pause that is not taken yet
	forced  bool   // what the running task waits for was withdrawn
	code    failure.Code
	cause   string
}

// job is a task of a plan.
type job struct {
	name           string
	program, input value.Raw
	uses           []string
	result         value.Raw
	code           failure.Code
}

func (r *run) over() bool { return slices.Contains([]string{"COMPLETED", "FAILED", "KILLED"}, r.state) }

// runOf is the run of a root agent, until it is over.
func (n *Naive) runOf(a *agent) *run {
	for _, r := range n.runs {
		if r.agent == a && !r.over() {
			return r
		}
	}
	return nil
}

// planRun makes a run (RU-1).
func (n *Naive) planRun(b *event.PlanRun) Answer {
	d := b.Agent
	var r rules
	r.must(d.Mode == "" || d.Mode == "service", failure.InvalidArgument)
	r.must(len(d.Input) == 0, failure.InvalidArgument)
	d.Mode = "service"
	id, more := n.definition(&d)
	r = append(r, more...)
	r.must(goodReason(b.Reason), failure.InvalidArgument)
	r.must(n.good(b.Config), failure.InvalidValue)
	r.must((len(b.Planner) > 0) != (len(b.Tasks) > 0), failure.InvalidArgument)
	r.must(len(n.runs) < int(n.config.MaxRuns), failure.LimitReached)
	r.must(n.alive() < int(n.config.GlobalQueue), failure.QueueFull)
	made := &run{state: "PLANNING", goal: b.Goal, config: b.Config, seed: b.Seed, auto: b.Start}
	if len(b.Planner) > 0 {
		r.must(n.compiles(&d, b.Planner), failure.InvalidProgram)
	} else {
		r = append(r, n.plan(made, &d, b.Tasks)...)
	}
	if len(r) > 0 {
		return Answer{Refusals: r}
	}
	a := n.add(&d, id)
	made.agent = a
	n.runs = append(n.runs, made)
	n.root(a)
	n.activate(a, lifecycle.Activate)
	if len(b.Planner) > 0 {
		n.instructs(a, b.Planner, object(map[string]value.Raw{"goal": textOf(b.Goal), "config": orNull(b.Config)}))
	} else {
		n.moves(made, "PLANNED", "operator", "")
		n.goes(made)
	}
	return Answer{Agent: &a.id, State: a.state}
}

func (n *Naive) compiles(d *event.Define, program value.Raw) bool {
	eval, known := n.lookup(evaluatorOf(d))
	if !known {
		return false
	}
	_, refusal := eval.Compile(program)
	return refusal == nil && len(program) <= int(n.config.MaxProgramBytes)
}

// plan takes tasks for a run's plan, if they break no rule.
func (n *Naive) plan(into *run, d *event.Define, tasks []event.RunTask) (r rules) {
	r.must(len(tasks) > 0 && len(tasks) <= int(n.config.MaxTasks), failure.InvalidArgument)
	var names []string
	bytes := len(into.goal) + len(into.config)
	for _, t := range tasks {
		r.must(t.Name != "" && len(t.Name) <= 128 && goodReason(t.Name) && !slices.Contains(names, t.Name), failure.InvalidArgument)
		r.must(n.good(t.Input), failure.InvalidValue)
		program := t.Program
		if len(program) == 0 {
			program = d.Program
			r.must(len(program) > 0, failure.InvalidArgument)
		} else {
			r.must(n.compiles(d, program), failure.InvalidProgram)
		}
		for i, used := range t.Uses {
			r.must(slices.Contains(names, used) && !slices.Contains(t.Uses[:i], used), failure.InvalidArgument)
		}
		names = append(names, t.Name)
		bytes += len(t.Name) + len(t.Input) + 8*len(t.Uses)
		into.tasks = append(into.tasks, job{name: t.Name, program: program, input: orNull(t.Input), uses: t.Uses})
		r.must(len(into.input(len(into.tasks)-1)) <= int(n.config.MaxValueBytes), failure.InvalidArgument)
	}
	r.must(bytes <= int(n.config.MaxRunBytes), failure.InvalidArgument)
	return r
}

// planned is the result of a planner.
func (n *Naive) planned(r *run, raw value.Raw) {
	items, isList := raw.ToGo().([]any)
	var tasks []event.RunTask
	for _, item := range items {
		members, isMap := item.(map[string]any)
		isList = isList && isMap
		var t event.RunTask
		for name, member := range members {
			encoded, _ := value.FromGo(member)
			switch name {
			case "name":
				text, isText := member.(string)
				isList, t.Name = isList && isText, text
			case "program":
				t.Program = encoded
			case "input":
				t.Input = encoded
			case "uses":
				words, isWords := member.([]any)
				isList = isList && isWords
				for _, word := range words {
					text, isText := word.(string)
					isList, t.Uses = isList && isText, append(t.Uses, text)
				}
			default:
				isList = false
			}
		}
		tasks = append(tasks, t)
	}
	d := event.Define{Evaluator: r.agent.evaluator, Program: r.agent.program}
	if !isList || len(n.plan(r, &d, tasks)) > 0 {
		r.tasks = nil
		n.moves(r, "FAILED", "kernel", failure.InvalidPlan)
		n.complete(r.agent)
		return
	}
	n.moves(r, "PLANNED", "kernel", "")
	n.goes(r)
}

func (n *Naive) moves(r *run, to, cause string, code failure.Code) {
	r.state, r.cause, r.code, r.forced = to, cause, code, false
	if to == "PAUSED" || r.over() {
		r.pausing = ""
	}
}

// goes is what a run does next, when nothing of it is in progress.
func (n *Naive) goes(r *run) {
	if r.running != 0 {
		return
	}
	switch left := r.done < len(r.tasks); {
	case r.state == "PLANNED" && r.pausing != "", r.state == "APPLYING" && r.pausing != "" && left:
		n.moves(r, "PAUSED", r.pausing, "")
	case r.state == "PLANNED" && r.auto && r.done == 0:
		n.moves(r, "APPLYING", "kernel", "")
		n.goes(r)
	case r.state == "APPLYING" && left:
		r.running = r.done + 1
		input := r.input(r.done)
		if !n.good(input) {
			n.ends(r, "FAILED", "kernel", failure.ValueTooLarge)
			n.complete(r.agent)
			return
		}
		n.instructs(r.agent, r.tasks[r.done].program, input)
	case r.state == "APPLYING":
		n.moves(r, "COMPLETED", "kernel", "")
		n.complete(r.agent)
	}
}

func (n *Naive) instructs(a *agent, program, input value.Raw) {
	a.instructions = append(slices.Clone(a.instructions), instruction{program, input})
	n.enqueue(a)
}

// input of a task: goal, config, what the plan gives it, results that it uses.
func (r *run) input(at int) value.Raw {
	results := make(map[string]value.Raw)
	for _, name := range r.tasks[at].uses {
		for i := range r.tasks {
			if r.tasks[i].name == name {
				results[name] = orNull(r.tasks[i].result)
			}
		}
	}
	return object(map[string]value.Raw{
		"goal": textOf(r.goal), "config": orNull(r.config), "input": r.tasks[at].input, "results": object(results),
	})
}

// ends is how a run is over before its tasks are: the one in progress failed.
func (n *Naive) ends(r *run, to, cause string, code failure.Code) {
	if r.running > 0 {
		r.tasks[r.running-1].code = code
		r.running = 0
	}
	n.moves(r, to, cause, code)
}

// kills ends a run by force: while it is PLANNING that is a failure.
func (n *Naive) kills(r *run, cause string, code failure.Code) {
	to := "KILLED"
	if r.state == "PLANNING" {
		to = "FAILED"
	}
	n.ends(r, to, cause, code)
}

// ticked is the end of a tick of the run's root agent.
func (n *Naive) ticked(r *run) {
	came := r.agent.result
	switch {
	case !came.ok:
		n.ends(r, "FAILED", "kernel", came.code)
		n.complete(r.agent)
	case r.state == "PLANNING":
		n.planned(r, came.value)
	case r.running == 0:
	case r.results+len(came.value) > int(n.config.MaxRunBytes):
		n.ends(r, "FAILED", "kernel", failure.ValueTooLarge)
		n.complete(r.agent)
	default:
		r.tasks[r.running-1].result = came.value
		r.results += len(came.value)
		r.running, r.done = 0, r.done+1
		n.goes(r)
	}
}

// lost is a run whose root agent is TERMINATED.
func (n *Naive) lost(r *run) {
	switch _, code, _ := r.agent.outcome(); code {
	case failure.Killed:
		n.kills(r, "operator", code)
	case failure.TokenRevoked:
		n.kills(r, "security", code)
	default:
		n.ends(r, "FAILED", "kernel", code)
	}
}

// onRun finds the run that a command is for.
func (n *Naive) onRun(id, reason, trigger string, command func(*run, string, *rules) func()) Answer {
	var found *run
	for _, r := range n.runs {
		if IDOf(r.agent.id) == id {
			found = r
		}
	}
	if found == nil {
		return Answer{Refusals: rules{failure.NotFound, failure.InvalidArgument}}
	}
	if trigger == "" {
		trigger = "operator"
	}
	var r rules
	r.must(slices.Contains([]string{"operator", "budget", "governance", "security", "runaway_cost"}, trigger), failure.InvalidArgument)
	r.must(goodReason(reason), failure.InvalidArgument)
	do := command(found, trigger, &r)
	if len(r) == 0 {
		do()
	}
	return Answer{Refusals: r, Agent: &found.agent.id, State: found.agent.state}
}

// commandRun is RU-2.
func (n *Naive) commandRun(e *event.Event) Answer {
	switch e.Kind {
	case event.RunPlan:
		return n.planRun(body[event.PlanRun](e))
	case event.RunStart:
		b := body[event.StartRun](e)
		return n.onRun(b.Run, b.Reason, "", func(r *run, by string, broken *rules) func() {
			broken.must(r.state == "PLANNED", failure.InvalidRun)
			return func() {
				n.moves(r, "APPLYING", by, "")
				n.goes(r)
			}
		})
	case event.RunPause:
		b := body[event.PauseRun](e)
		return n.onRun(b.Run, b.Reason, b.Trigger, func(r *run, by string, broken *rules) func() { return n.pauses(r, b.Force, by, broken) })
	case event.RunResume:
		b := body[event.ResumeRun](e)
		return n.onRun(b.Run, b.Reason, b.Trigger, func(r *run, by string, broken *rules) func() {
			broken.must(r.state == "PAUSED" || r.pausing != "", failure.InvalidRun)
			return func() { n.resumes(r, by) }
		})
	}
	b := body[event.KillRun](e)
	return n.onRun(b.Run, b.Reason, b.Trigger, func(r *run, by string, broken *rules) func() {
		broken.must(!r.over(), failure.InvalidRun)
		return func() {
			n.kills(r, by, failure.Killed)
			n.end(r.agent, failure.Killed)
		}
	})
}

func (n *Naive) pauses(r *run, force bool, by string, broken *rules) func() {
	now := r.agent.state
	broken.must(slices.Contains([]string{"PLANNING", "PLANNED", "APPLYING"}, r.state), failure.InvalidRun)
	if !force || r.state != "APPLYING" {
		broken.must(r.pausing == "" && (!force || r.state != "PLANNING"), failure.InvalidRun)
		return func() {
			if r.state == "PLANNED" {
				n.moves(r, "PAUSED", by, "")
				return
			}
			r.pausing = by
		}
	}
	broken.must(now == lifecycle.Active || now == lifecycle.Waiting || now == lifecycle.Resumable, failure.InvalidRun)
	return func() {
		n.moves(r, "PAUSED", by, "")
		r.forced = now == lifecycle.Waiting
		if now != lifecycle.Resumable {
			n.suspend(r.agent, true)
		}
	}
}

func (n *Naive) resumes(r *run, by string) {
	if r.pausing != "" {
		r.pausing = ""
		return
	}
	if a := r.agent; a.state == lifecycle.Resumable {
		n.dropOf(a, 0, timers.ResumableOver)
		if t := a.tick; r.forced && t != nil && t.ready && !t.failed && n.restores(a) {
			n.putBack(a)
		}
		n.activate(a, lifecycle.Resume)
	}
	n.moves(r, "APPLYING", by, "")
	n.goes(r)
}

// seedOf is what an agent's draws start from: its run's seed and its place below
// the root, where the run has one (EV-10).
func (n *Naive) seedOf(a *agent) []byte {
	root := a
	for root.parent != nil {
		root = root.parent
	}
	for _, r := range n.runs {
		if r.agent == root && r.seed != "" {
			sum := sha256.Sum256([]byte(r.seed))
			place := placeOf(a)
			return append(sum[:16], place[:]...)
		}
	}
	return append(slices.Clone(n.config.Seed[:]), a.id[:]...)
}

func placeOf(a *agent) (place [16]byte) {
	if a.parent == nil {
		return place
	}
	at := slices.Index(a.from.children, a)
	return derivedID(placeOf(a.parent), a.from.tick, uint64(a.from.call), uint64(at))
}

// runLines is what the model knows of runs, in words.
func (n *Naive) runLines(add func(string, ...any)) {
	archived := 0
	for _, r := range n.runs {
		if r.agent.archived {
			archived++
			continue
		}
		add("run %d %s by %s %s running %d done %d of %d pausing %s interrupted %v", r.agent.no, r.state, r.cause, r.code,
			r.running, r.done, len(r.tasks), r.pausing, r.forced)
		for i, t := range r.tasks {
			state := "WAITING"
			switch {
			case i < r.done:
				state = "DONE"
			case t.code != "":
				state = "FAILED"
			case i == r.running-1:
				state = "RUNNING"
			}
			add("run %d task %s %s %s %x", r.agent.no, t.name, state, t.code, bare(t.result))
		}
	}
	add("runs archived %s", fmt.Sprint(archived))
}

// runLinesOf is the same of a kernel's state.
func runLinesOf(st *state.State, add func(string, ...any)) {
	runsArchived := 0
	st.Runs.All(func(r *runs.Run) bool {
		if r.Archived {
			runsArchived++
			return true
		}
		add("run %d %s by %s %s running %d done %d of %d pausing %s interrupted %v", r.Agent, r.State, r.Last.Cause, r.Last.Code,
			r.Running, r.Done, len(r.Tasks), r.Pausing, r.Interrupted)
		for i := range r.Tasks {
			t := &r.Tasks[i]
			add("run %d task %s %s %s %x", r.Agent, t.Name, t.State, t.Code, bare(t.Result))
		}
		return true
	})
	add("runs archived %d", runsArchived)
}
