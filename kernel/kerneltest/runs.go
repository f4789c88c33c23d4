package kerneltest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Run finds the run of an id, for reading.
func (s *Sim) Run(id string) *runs.Run {
	s.T.Helper()
	row := s.Row(id)
	st := s.State()
	no, _ := st.Identity.Find(row.Identity.ID)
	run := st.Runs.Get(no)
	require.NotNil(s.T, run, "the agent has no run")
	return run
}

// checkRuns counts again what rows of runs keep as numbers, and holds them against
// their root agents (RU-1).
func (s *Sim) checkRuns(st *state.State) {
	s.T.Helper()
	st.Runs.All(func(r *runs.Run) bool {
		row := st.Agents.Get(r.Agent)
		require.Equal(s.T, row.Identity.Archived, r.Archived, "run %d and its agent are tombstones together", r.Agent)
		if r.Archived {
			require.Empty(s.T, r.Tasks)
			return true
		}
		var done, running, results uint64
		for i := range r.Tasks {
			switch r.Tasks[i].State {
			case runs.Done:
				done++
				results += uint64(len(r.Tasks[i].Result))
			case runs.Running:
				running++
				require.EqualValues(s.T, i+1, r.Running, "run %d", r.Agent)
			}
		}
		require.EqualValues(s.T, done, r.Done)
		require.Equal(s.T, results, r.Results)
		require.LessOrEqual(s.T, results, uint64(st.Config.MaxRunBytes))
		require.Equal(s.T, r.Running != 0, running == 1, "run %d", r.Agent)
		require.Equal(s.T, r.Tasks != nil, r.State != runs.Planning && (r.State != runs.Failed || r.Total > 0), "run %d, %s", r.Agent, r.State)
		agent := row.Lifecycle.State
		if r.State.Over() {
			require.Zero(s.T, r.Running)
			require.Zero(s.T, r.Pausing)
			return true
		}
		require.NotContains(s.T, []lifecycle.State{lifecycle.Defined, lifecycle.Spawned, lifecycle.Completing, lifecycle.Terminated}, agent, "run %d, %s", r.Agent, r.State)
		if agent == lifecycle.Faulted {
			require.Equal(s.T, failure.Transient, row.Lifecycle.Fault, "run %d goes on with a fault that is not retried", r.Agent)
		}
		if r.State == runs.Applying {
			require.NotZero(s.T, r.Running, "run %d is APPLYING and does nothing", r.Agent)
		}
		require.Equal(s.T, r.Running != 0 || r.State == runs.Planning, !row.Execution.Idle(), "run %d, %s", r.Agent, r.State)
		return true
	})
}

// runPaths reads every run's transitions from the log: each is an edge, taken from
// where the one before it led, and what was refused is none (RU-1).
func (s *Sim) runPaths(at map[uint32]runs.State, r Record, index int) {
	s.T.Helper()
	switch b := r.Content.(type) {
	case *runs.DefinedBody:
		at[r.Agent] = runs.Planning
	case *runs.Event:
		to, ok := runs.Decide(b.From, b.Trigger)
		require.True(s.T, ok, "index %d: %s %s is no edge", index, b.From, b.Trigger)
		require.Equal(s.T, to, b.To)
		require.Equal(s.T, at[r.Agent], b.From, "index %d: run %d is elsewhere", index, r.Agent)
		at[r.Agent] = to
	case *runs.Rejection:
		require.Equal(s.T, at[r.Agent], b.From)
	}
}

// errands are tasks that take their time, and cost something.
var errands = [...]string{
	paid + `"cost":{"tokens":30}},"timeout_ms":2000}}`,
	`{"kind":"CALL","payload":{"tool":"http.request","timeout_ms":2500,"handle":true,"args":{"method":"POST","url":"http://h/x","cost":{"tokens":40,"usd_micros":4}}}}`,
	`{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":900}}}`,
}

// planners are programs that make plans, and some that make none.
var planners = [...]string{
	`{"kind":"LITERAL","payload":{"value":[{"name":"a","program":{"kind":"LITERAL","payload":{"value":1}}},
		{"name":"b","program":{"kind":"CALL","payload":{"tool":"echo","timeout_ms":400}},"uses":["a"],"input":2}]}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"CALL","payload":{"tool":"echo","timeout_ms":300,"handle":true}},
		{"kind":"RETURN","payload":{"value":[{"name":"only","program":{"kind":"CALL","payload":{"tool":"clock.now"}}}]}}]}}`,
	`{"kind":"LITERAL","payload":{"value":[{"name":"a"},{"name":"b","uses":["a"],"input":{"n":1}}]}}`,
	`{"kind":"LITERAL","payload":{"value":[{"name":"a","program":{"kind":"LITERAL","payload":{"value":1}}},{"name":"a","program":{"kind":"LITERAL","payload":{"value":1}}}]}}`,
	`{"kind":"LITERAL","payload":{"value":[{"name":"a","program":{"kind":"NONSENSE"}}]}}`,
	`{"kind":"LITERAL","payload":{"value":[{"name":"a","task":1}]}}`,
	`{"kind":"LITERAL","payload":{"value":{"tasks":[]}}}`,
	`{"kind":"LITERAL","payload":{"value":[]}}`,
	`{"kind":"FAIL","payload":{"message":"no plan"}}`,
}

func (h *History) planRun() {
	b := event.PlanRun{
		Agent: h.define(), Goal: [...]string{"", "be done"}[h.choose.Pick("goal", 2)], Config: h.input(),
		Seed: [...]string{"", "", "a seed"}[h.choose.Pick("seed", 3)], Start: h.choose.Pick("start", 3) > 0, Reason: h.reason(),
	}
	if h.choose.Pick("may", 2) == 0 {
		b.Agent.Grants = Everything()
	}
	if !h.plain && h.choose.Pick("spends", 2) == 0 {
		b.Agent.Budget = h.budget()
	}
	if h.choose.Pick("schema", 4) > 0 {
		b.Agent.Input = nil
	}
	if b.Agent.Mode == "task" && h.choose.Pick("task", 4) > 0 {
		b.Agent.Mode = ""
	}
	switch {
	case b.Agent.Evaluator == Words:
		b.Tasks = []event.RunTask{{Name: "own"}, {Name: "said", Program: value.AppendString(nil, "x"), Uses: []string{"own"}}}
	case h.choose.Pick("planner", 3) == 0:
		which := h.choose.Pick("which planner", len(planners))
		if h.plain && which == 2 { // as in tasks
			which = 0
		}
		b.Planner = JSON(h.T, planners[which])
	default:
		b.Tasks = h.tasks()
	}
	if h.rarely("both", 20) {
		b.Planner, b.Tasks = b.Agent.Program, h.tasks()
	}
	h.command(event.RunPlan, b)
}

func (h *History) tasks() (tasks []event.RunTask) {
	for i := range 1 + h.choose.Pick("tasks", 4) {
		t := event.RunTask{Name: string(rune('a' + i)), Input: h.input()}
		if which := h.choose.Pick("errand", len(errands)+1+len(errands)/2); which < len(errands) {
			t.Program = JSON(h.T, errands[which])
		} else {
			t.Program = h.program(2)
		}
		if i > 0 && h.choose.Pick("uses", 2) == 0 {
			used := &tasks[h.choose.Pick("used", i)]
			t.Uses = []string{used.Name}
			if h.plain { // what a Naive does not know, the messages of failures, must go nowhere
				used.Program = JSON(h.T, programs[1])
			}
		}
		tasks = append(tasks, t)
	}
	if h.rarely("a broken plan", 10) {
		last := &tasks[len(tasks)-1]
		switch h.choose.Pick("what is broken", 5) {
		case 0:
			last.Name = ""
		case 1:
			last.Uses = []string{last.Name}
		case 2:
			tasks = append(tasks, *last)
		case 3:
			last.Input = value.AppendString(nil, strings.Repeat("x", 2500))
		case 4:
			last.Program = JSON(h.T, `{"kind":"NONSENSE"}`)
		}
	}
	return tasks
}

// AboutRuns lets most of what happens from now on be about runs.
func (h *History) AboutRuns() { h.onRuns = true }

// stepRun is one event about a run, or its root agent.
func (h *History) stepRun() {
	which := h.choose.Pick("about a run", 16)
	if h.plain && which == 15 {
		which = 0
	}
	switch which {
	case 0, 1, 2:
		h.planRun()
	case 3, 4, 5, 6, 7:
		h.commandRun()
	case 8, 9, 10, 11:
		h.result()
	case 12:
		h.dispatch()
	case 13:
		word := [...]string{"suspend", "resume", "expire", "abandon"}[h.choose.Pick("of the root", 4)]
		h.command(event.AgentTrigger, event.Trigger{Agent: h.run(), Trigger: word, Reason: h.reason()})
	case 14:
		switch h.choose.Pick("end", 3) {
		case 0:
			h.command(event.AgentKill, event.Kill{Agent: h.run(), Reason: h.reason()})
		case 1:
			h.command(event.TokenRevoke, event.RevokeToken{Agent: h.run(), Reason: h.reason()})
		case 2:
			h.Pulse()
		}
	case 15:
		h.limits()
	}
}

// run names a run: one that is not over, most of the time.
func (h *History) run() string {
	var found, all []string
	st := h.State()
	st.Runs.All(func(r *runs.Run) bool {
		id := IDOf(st.Agents.Get(r.Agent).Identity.ID)
		all = append(all, id)
		if !r.State.Over() {
			found = append(found, id)
		}
		return true
	})
	switch {
	case len(found) > 0 && !h.rarely("any run", 8):
		return found[len(found)-1-h.choose.Pick("run", min(4, len(found)))]
	case len(all) > 0:
		return all[h.choose.Pick("which run", len(all))]
	}
	return h.agent()
}

// noRun reports whether every run is over.
func (h *History) noRun() bool {
	none, st := true, h.State()
	st.Runs.All(func(r *runs.Run) bool {
		none = r.State.Over()
		return none
	})
	return none
}

// commandRun is what operators do with runs.
func (h *History) commandRun() {
	if h.noRun() && !h.rarely("none is there", 6) {
		h.planRun()
		return
	}
	id, reason := h.run(), h.reason()
	trigger := [...]string{"", "operator", "budget", "governance", "security", "runaway_cost", "kernel"}[h.choose.Pick("cause", 7)]
	switch h.choose.Pick("run command", 9) {
	case 0, 1:
		h.command(event.RunStart, event.StartRun{Run: id, Reason: reason})
	case 2, 3, 4:
		h.command(event.RunPause, event.PauseRun{Run: id, Reason: reason, Trigger: trigger, Force: h.choose.Pick("force", 2) == 0})
	case 5, 6, 7:
		h.command(event.RunResume, event.ResumeRun{Run: id, Reason: reason, Trigger: trigger})
	case 8:
		h.command(event.RunKill, event.KillRun{Run: id, Reason: reason, Trigger: trigger})
	}
}
