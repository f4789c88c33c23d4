package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const (
	asks   = `{"kind":"CALL","payload":{"tool":"echo","args":"${input}"}}`
	echoes = `{"kind":"LITERAL","payload":{"value":"${input}"}}`
)

// step is a task of a plan.
func step(s *kerneltest.Sim, name, program string, uses ...string) event.RunTask {
	return event.RunTask{Name: name, Program: kerneltest.JSON(s.T, program), Uses: uses}
}

// planned makes a run of tasks, PLANNED.
func planned(s *kerneltest.Sim, tasks ...event.RunTask) string {
	return plannedWith(s, event.PlanRun{Tasks: tasks})
}

// begun makes a run of tasks that begins at once.
func begun(s *kerneltest.Sim, tasks ...event.RunTask) string {
	return plannedWith(s, event.PlanRun{Tasks: tasks, Start: true})
}

func plannedWith(s *kerneltest.Sim, b event.PlanRun) string {
	s.T.Helper()
	if b.Agent.Grants == nil {
		b.Agent.Grants = kerneltest.Everything()
	}
	return kerneltest.IDOf(s.Must(event.RunPlan, b).Agent)
}

// moves lists the run's transitions in the newest block.
func moves(s *kerneltest.Sim) (words []string) {
	for _, r := range s.Last() {
		if e, ok := r.Content.(*runs.Event); ok {
			words = append(words, e.From.String()+" "+e.Trigger.String())
		}
	}
	return words
}

func resultOf(s *kerneltest.Sim, id string, task int) string {
	return string(s.Run(id).Tasks[task].Result.AppendJSON(nil))
}

// RU-1: the root agent executes the plan one instruction at a time; a task sees
// the goal, the config, its own input, and the results of the tasks that it
// names; with the last task the run is COMPLETED and the agent is, too.
func TestRun(t *testing.T) {
	s := kerneltest.New(t, 2)
	second := step(s, "second", echoes, "first")
	second.Input = value.AppendInt(nil, 7)
	id := plannedWith(s, event.PlanRun{
		Name: "nightly", Goal: "be done", Config: kerneltest.Value(t, map[string]any{"region": "eu"}), Reason: "why not",
		Tasks: []event.RunTask{step(s, "first", asks), second, step(s, "third", letDo("x", asks))},
	})
	require.Equal(t, []string{"PLANNING ready"}, moves(s))
	require.Equal(t, runs.Planned, s.Run(id).State)
	require.Equal(t, lifecycle.Active, s.StateOf(id))
	require.Equal(t, "nightly", s.Row(id).Identity.Name)
	s.Settle()
	require.Zero(t, s.Row(id).Execution.LastTick, "nothing runs before it is started")

	s.Must(event.RunStart, event.StartRun{Run: id})
	require.Equal(t, []string{"PLANNED start"}, moves(s))
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.EqualValues(t, 1, s.Run(id).Running)
	s.Answer(true, "one")
	require.Equal(t, 2, s.Count(bus.RunTaskCompleted), "the second task needs nobody, and ran in the same event")
	require.Equal(t, `"one"`, resultOf(s, id, 0))
	require.Equal(t, `{"goal":"be done","input":7,"config":{"region":"eu"},"results":{"first":"one"}}`, resultOf(s, id, 1))
	require.EqualValues(t, 3, s.Run(id).Running)
	s.Answer(true, 3)
	run := s.Run(id)
	require.Equal(t, runs.Completed, run.State)
	require.EqualValues(t, 3, run.Done)
	require.Equal(t, []string{"APPLYING complete"}, moves(s))
	require.Equal(t, []string{"resume", "complete", "teardown_ok"}, s.Path())
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	for i, tick := range []uint64{1, 2, 3} {
		require.Equal(t, tick, run.Tasks[i].Tick)
	}
	s.Check()
}

// RU-1: a planner's result is the plan; the run goes on with it at once if that was
// asked for.
func TestRunPlanner(t *testing.T) {
	plan := `[{"name":"a","program":` + echoes + `,"input":1},{"name":"b","program":` + echoes + `,"uses":["a"]}]`
	s := kerneltest.New(t, 2)
	id := plannedWith(s, event.PlanRun{Goal: "g", Start: true, Planner: kerneltest.JSON(t, inSeq(letDo("said", asks), `{"kind":"RETURN","payload":{"value":"${said}"}}`))})
	require.Equal(t, runs.Planning, s.Run(id).State)
	require.Equal(t, `{"goal":"g","config":null}`, string(kerneltest.Find[*execution.PendingBody](s, bus.TickPendingTool).Requests[0].Args.AppendJSON(nil)))
	s.Answer(true, kerneltest.JSON(t, plan).ToGo())
	require.Equal(t, []string{"PLANNING ready", "PLANNED start", "APPLYING complete"}, moves(s))
	require.Equal(t, `{"goal":"g","input":null,"config":null,"results":{"a":{"goal":"g","input":1,"config":null,"results":{}}}}`, resultOf(s, id, 1))
	s.Check()
}

// RU-1: what is no plan fails the run, with the rule that it breaks on record.
func TestRunPlannerThatMakesNoPlan(t *testing.T) {
	one := `{"name":"a","program":` + echoes + `}`
	for plan, rule := range map[string]string{
		`7`:                         "the planner's result must be a list of tasks",
		`[]`:                        "tasks: a plan has 1 to max_tasks tasks",
		`[1]`:                       "tasks[0]: must be a map of name, program, input and uses",
		`[{"name":"a","n":1}]`:      "tasks[0]: must be a map of name, program, input and uses, and nothing else",
		`[{"name":1}]`:              "tasks[0].name: must be text",
		`[{"name":"a"}]`:            "tasks[0].program: the task has no program, and neither has the run's agent",
		`[` + one + `,` + one + `]`: "tasks[1].name: another task of the plan has this name",
		`[{"name":"a","program":` + echoes + `,"uses":["a"]}]`:             "tasks[0].uses: must name tasks that come before, each once",
		`[{"name":"a","program":` + echoes + `,"uses":"a"}]`:               "tasks[0].uses: must be a list of names",
		`[{"name":"a","program":{"kind":"LITERAL","payload":{"v":1}}}]`:    "tasks[0].program.payload",
		`[` + one + `,{"name":"b","program":` + echoes + `},{"name":"c"}]`: "tasks: a plan has 1 to max_tasks tasks",
	} {
		s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxTasks = 2 })
		id := plannedWith(s, event.PlanRun{Planner: kerneltest.JSON(t, asks), Start: true})
		s.Answer(true, kerneltest.JSON(t, plan).ToGo())
		run := s.Run(id)
		require.Equal(t, runs.Failed, run.State, plan)
		require.Equal(t, failure.InvalidPlan, run.Last.Code)
		require.Contains(t, run.Last.Reason, rule, plan)
		require.Empty(t, run.Tasks)
		require.Equal(t, lifecycle.Terminated, s.StateOf(id))
		s.Check()
	}
}

// RU-1: the composites, each decided as one list in one event.
func TestRunComposites(t *testing.T) {
	for name, one := range map[string]struct {
		until func(s *kerneltest.Sim) string
		do    func(s *kerneltest.Sim, id string)
		want  []string
		code  failure.Code
	}{
		"a kill from PLANNING is a failure": {planning, killsRun, []string{"PLANNING fail"}, failure.Killed},
		"… from PLANNED goes through PAUSED": {
			func(s *kerneltest.Sim) string { return planned(s, step(s, "a", asks)) }, killsRun, []string{"PLANNED pause", "PAUSED kill"}, failure.Killed,
		},
		"… from APPLYING is an edge": {applying, killsRun, []string{"APPLYING kill"}, failure.Killed},
		"… from PAUSED, too":         {paused, killsRun, []string{"PAUSED kill"}, failure.Killed},
		"a failure in PLANNED passes through APPLYING": {
			func(s *kerneltest.Sim) string { return planned(s, step(s, "a", asks)) }, expires, []string{"PLANNED start", "APPLYING fail"}, failure.Expired,
		},
		"… and in PAUSED": {paused, expires, []string{"PAUSED resume", "APPLYING fail"}, failure.Expired},
	} {
		s := kerneltest.New(t, 1)
		id := one.until(s)
		one.do(s, id)
		require.Equal(t, one.want, moves(s), name)
		require.Equal(t, one.code, s.Run(id).Last.Code, name)
		require.Equal(t, lifecycle.Terminated, s.StateOf(id), name)
		s.Settle()
		s.Check()
	}
}

func planning(s *kerneltest.Sim) string {
	return plannedWith(s, event.PlanRun{Planner: kerneltest.JSON(s.T, asks)})
}

func applying(s *kerneltest.Sim) string { return begun(s, step(s, "a", asks), step(s, "b", asks)) }

func paused(s *kerneltest.Sim) string {
	id := applying(s)
	s.Must(event.RunPause, event.PauseRun{Run: id})
	s.Answer(true, 1)
	return id
}

func killsRun(s *kerneltest.Sim, id string) {
	s.T.Helper()
	s.Must(event.RunKill, event.KillRun{Run: id})
}

// expires suspends the root agent and lets it expire.
func expires(s *kerneltest.Sim, id string) {
	s.T.Helper()
	require.Empty(s.T, s.Trigger(id, "suspend").Refusal)
	require.Empty(s.T, s.Trigger(id, "expire").Refusal)
}

// RU-1: whatever the table does not allow is refused, on record, and changes
// nothing.
func TestRunRefusals(t *testing.T) {
	over := func(s *kerneltest.Sim) string { id := applying(s); killsRun(s, id); return id }
	asked := func(s *kerneltest.Sim) string {
		id := applying(s)
		s.Must(event.RunPause, event.PauseRun{Run: id})
		return id
	}
	only := func(s *kerneltest.Sim) string { return planned(s, step(s, "a", asks)) }
	for name, one := range map[string]struct {
		until func(s *kerneltest.Sim) string
		kind  event.Kind
		body  func(id string) any
	}{
		"start while PLANNING": {planning, event.RunStart, func(id string) any { return event.StartRun{Run: id} }},
		"start twice":          {applying, event.RunStart, func(id string) any { return event.StartRun{Run: id} }},
		"start while PAUSED":   {paused, event.RunStart, func(id string) any { return event.StartRun{Run: id} }},
		"start when over":      {over, event.RunStart, func(id string) any { return event.StartRun{Run: id} }},
		"pause twice":          {asked, event.RunPause, func(id string) any { return event.PauseRun{Run: id} }},
		"pause what is PAUSED": {paused, event.RunPause, func(id string) any { return event.PauseRun{Run: id, Force: true} }},
		"pause when over":      {over, event.RunPause, func(id string) any { return event.PauseRun{Run: id} }},
		"interrupt a planner":  {planning, event.RunPause, func(id string) any { return event.PauseRun{Run: id, Force: true} }},
		"resume while PLANNED": {only, event.RunResume, func(id string) any { return event.ResumeRun{Run: id} }},
		"resume what goes on":  {applying, event.RunResume, func(id string) any { return event.ResumeRun{Run: id} }},
		"resume when over":     {over, event.RunResume, func(id string) any { return event.ResumeRun{Run: id} }},
		"kill twice":           {over, event.RunKill, func(id string) any { return event.KillRun{Run: id} }},
	} {
		s := kerneltest.New(t, 1)
		id := one.until(s)
		before := kerneltest.Substance(s.State())
		outcome := s.Command(one.kind, one.body(id))
		require.Equal(t, failure.InvalidRun, outcome.Refusal.Code, name)
		require.Equal(t, before, kerneltest.Substance(s.State()), name)
		require.Equal(t, 1, s.Count(bus.InvalidRunTransition), name)
		require.Equal(t, s.Run(id).State, kerneltest.Find[*runs.Rejection](s, bus.InvalidRunTransition).From)
		s.Check()
	}
}

// RU-2: a graceful pause lets the running task end; resuming starts the next one.
// Both say whose they are.
func TestRunPause(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := applying(s)
	s.Must(event.RunPause, event.PauseRun{Run: id, Trigger: "governance", Reason: "a gate"})
	require.Empty(t, moves(s))
	require.Equal(t, runs.PauseBody{Cause: runs.Governance, Reason: "a gate"}, *kerneltest.Find[*runs.PauseBody](s, bus.RunPauseRequested))
	require.Equal(t, lifecycle.Waiting, s.StateOf(id), "the task goes on")
	s.Answer(true, 1)
	run := s.Run(id)
	require.Equal(t, runs.Paused, run.State)
	require.Equal(t, runs.Governance, run.Last.Cause)
	require.EqualValues(t, 1, run.Done)
	s.Settle()
	require.EqualValues(t, 1, s.Row(id).Execution.LastTick, "nothing new begins")
	s.Must(event.RunResume, event.ResumeRun{Run: id, Trigger: "budget", Reason: "raised"})
	require.Equal(t, []string{"PAUSED resume"}, moves(s))
	require.Equal(t, runs.Budget, s.Run(id).Last.Cause)
	require.EqualValues(t, 2, s.Run(id).Running, "after the last completed task")
	s.Answer(true, 2)
	require.Equal(t, runs.Completed, s.Run(id).State)
	s.Check()
}

// RU-1, RU-2: a pause asked for while PLANNING takes effect at PLANNED, whatever
// was to happen then; it is void when nothing is left to do, and can be taken back.
func TestRunPauseTakesEffectLater(t *testing.T) {
	s := kerneltest.New(t, 1)
	plan := kerneltest.JSON(t, `[{"name":"a","program":`+asks+`}]`).ToGo()
	id := plannedWith(s, event.PlanRun{Planner: kerneltest.JSON(t, asks), Start: true})
	s.Must(event.RunPause, event.PauseRun{Run: id, Reason: "lunch"})
	require.Equal(t, runs.Planning, s.Run(id).State)
	s.Answer(true, plan)
	require.Equal(t, []string{"PLANNING ready", "PLANNED pause"}, moves(s))
	require.Equal(t, "lunch", s.Run(id).Last.Reason, "why it was asked for is why it happens")
	s.Must(event.RunResume, event.ResumeRun{Run: id})
	require.Equal(t, []string{"PAUSED resume"}, moves(s))
	s.Must(event.RunPause, event.PauseRun{Run: id})
	s.Answer(true, 1)
	require.Equal(t, runs.Completed, s.Run(id).State, "nothing is left that a pause could keep from beginning")

	id = applying(s)
	s.Must(event.RunPause, event.PauseRun{Run: id})
	s.Must(event.RunResume, event.ResumeRun{Run: id})
	require.Empty(t, moves(s))
	s.Answer(true, 1)
	require.Equal(t, runs.Applying, s.Run(id).State)
	require.EqualValues(t, 2, s.Run(id).Running)
	s.Check()
}

// RU-2, LC-13: a forced pause withdraws what the task waits for and freezes it, in
// the same event; the task asks for it again when the run is resumed.
func TestRunForcedPause(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := applying(s)
	late := s.Pending[0]
	s.Pending = nil
	s.Must(event.RunPause, event.PauseRun{Run: id})
	s.Must(event.RunPause, event.PauseRun{Run: id, Force: true, Trigger: "security"})
	require.Equal(t, []string{"APPLYING pause"}, moves(s))
	require.Equal(t, []string{"resume", "suspend"}, s.Path())
	require.Equal(t, runs.Paused, s.Run(id).State)
	require.Equal(t, lifecycle.Resumable, s.StateOf(id))
	require.Equal(t, failure.StaleResult, s.Result(late, true, 1).Refusal.Code)
	s.Must(event.RunResume, event.ResumeRun{Run: id})
	require.Equal(t, 1, s.Count(bus.TickRestored))
	require.Equal(t, runs.Applying, s.Run(id).State)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.EqualValues(t, 1, s.Row(id).Execution.LastTick, "it is the same tick")
	require.Len(t, s.Pending, 1, "its call is asked for again")
	s.Answer(true, "again")
	require.Equal(t, `"again"`, resultOf(s, id, 0))
	s.Answer(true, 2)
	require.Equal(t, runs.Completed, s.Run(id).State)
	s.Check()
}

// RU-2: a policy block fails the run, and its agent ends in order; any failure that
// is not retried fails it, and the agent is abandoned.
func TestRunFailures(t *testing.T) {
	for name, one := range map[string]struct {
		program string
		code    failure.Code
		path    []string
	}{
		"policy": {callOf("http.request", `{"method":"GET","url":"http://h/x"}`, false), failure.PermissionDenied, []string{"complete", "teardown_ok"}},
		"fault":  {`{"kind":"FAIL","payload":{"message":"no"}}`, failure.ProgramFailed, []string{"error", "abandon"}},
	} {
		s := kerneltest.New(t, 1)
		id := plannedWith(s, event.PlanRun{Agent: event.Define{Grants: kerneltest.Everything()[1:]}, Tasks: []event.RunTask{
			step(s, "a", echoes), step(s, "b", one.program), step(s, "c", echoes),
		}})
		s.Must(event.RunStart, event.StartRun{Run: id})
		run := s.Run(id)
		require.Equal(t, runs.Failed, run.State, name)
		require.Equal(t, one.code, run.Last.Code, name)
		require.Equal(t, []runs.TaskState{runs.Done, runs.Broken, runs.Waiting}, []runs.TaskState{run.Tasks[0].State, run.Tasks[1].State, run.Tasks[2].State})
		require.Equal(t, one.code, run.Tasks[1].Code)
		path := s.Path()
		require.Equal(t, one.path, path[len(path)-2:], name)
		require.Equal(t, lifecycle.Terminated, s.StateOf(id))
		s.Check()
	}
}

// FA-1, RU-2: a failure that is retried does not fail the run, until its retries are
// used up.
func TestRunRetries(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxRetries = 1 })
	id := applying(s)
	s.Answer(false, failure.ToolUnreachable)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	require.Equal(t, runs.Applying, s.Run(id).State)
	s.Command(event.RunPause, event.PauseRun{Run: id, Force: true})
	require.Equal(t, failure.InvalidRun, kerneltest.Find[*event.Outcome](s, bus.Outcome).Refusal.Code, "there is nothing to suspend")
	s.Pass(2000)
	s.Answer(false, failure.ToolUnreachable)
	require.Equal(t, runs.Failed, s.Run(id).State)
	require.Equal(t, failure.ToolUnreachable, s.Run(id).Last.Code)
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.Check()
}

// RU-2: what ends the root agent ends the run: killed by hand it is KILLED, and a
// revoked token is a security violation. Nobody else gives the agent work.
func TestRunWhoseAgentIsEnded(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := applying(s)
	require.Equal(t, failure.InvalidState, s.Command(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, echoes)}).Refusal.Code)
	require.Empty(t, s.Kill(id).Refusal)
	require.Equal(t, runs.Killed, s.Run(id).State)
	require.Equal(t, runs.Operator, s.Run(id).Last.Cause)
	require.Equal(t, failure.Killed, s.Run(id).Tasks[0].Code)

	for _, until := range []func(*kerneltest.Sim) string{applying, paused} {
		id = until(s)
		require.Empty(t, s.Revoke(id).Refusal)
		require.Equal(t, runs.Killed, s.Run(id).State)
		require.Equal(t, runs.Security, s.Run(id).Last.Cause)
		require.Equal(t, failure.TokenRevoked, s.Run(id).Last.Code)
		s.Pending = nil
	}
	s.Settle()
	s.Check()
}

// EV-10: runs of one plan that have the same seed draw the same, down to their
// agents' children; without one every agent draws its own.
func TestRunSeed(t *testing.T) {
	draw := `{"kind":"CALL","payload":{"tool":"random.int","args":{"min":1,"max":1000000000}}}`
	plan := func(s *kerneltest.Sim) []event.RunTask {
		return []event.RunTask{step(s, "a", draw), step(s, "b", `{"kind":"DELEGATE","payload":{"children":[{"program":`+draw+`},{"program":`+draw+`}]}}`)}
	}
	results := func(s *kerneltest.Sim, seed string) string {
		grants := kerneltest.Everything()
		id := plannedWith(s, event.PlanRun{Agent: event.Define{Grants: grants}, Seed: seed, Start: true, Tasks: plan(s)})
		require.Equal(t, runs.Completed, s.Run(id).State)
		children := s.Run(id).Tasks[1].Result.ToGo().([]any)
		all := resultOf(s, id, 0)
		for _, child := range children {
			all += " " + string(kerneltest.Value(t, child.(map[string]any)["value"]).AppendJSON(nil))
		}
		return all
	}
	s := kerneltest.New(t, 1)
	first := results(s, "42")
	require.Equal(t, first, results(s, "42"))
	require.NotEqual(t, first, results(s, "43"))
	require.NotEqual(t, results(s, ""), results(s, ""))
	s.Check()
}

func firstRun(s *kerneltest.Sim) (id string) {
	st := s.State()
	st.Runs.All(func(r *runs.Run) bool {
		id = kerneltest.IDOf(st.Agents.Get(r.Agent).Identity.ID)
		return false
	})
	return id
}

// RU-2, RU-3: the warning of the root agent's budget pauses its run, which an
// operator may resume; the hard cap fails it, and the account's figures are on
// record.
func TestRunBudget(t *testing.T) {
	s := kerneltest.New(t, 1)
	spend := paid("GET", 40)
	tells := func(s *kerneltest.Sim, tokens uint64) {
		key := s.Pending[0]
		s.Pending = s.Pending[1:]
		require.Empty(t, used(s, key, tokens).Refusal)
	}
	id := plannedWith(s, event.PlanRun{
		Agent: event.Define{Budget: &event.Budget{Tokens: 100}}, Start: true,
		Tasks: []event.RunTask{step(s, "a", spend), step(s, "b", spend), step(s, "c", spend), step(s, "d", spend)},
	})
	require.Equal(t, runs.Applying, s.Run(id).State)
	tells(s, 45)
	tells(s, 45)
	run := s.Run(id)
	require.Equal(t, runs.Paused, run.State)
	require.Equal(t, runs.Budget, run.Last.Cause)
	require.EqualValues(t, 2, run.Done)
	s.Must(event.RunResume, event.ResumeRun{Run: id})
	run = s.Run(id)
	require.Equal(t, runs.Failed, run.State)
	require.Equal(t, runs.Budget, run.Last.Cause)
	require.Equal(t, failure.BudgetExceeded, run.Last.Code)
	require.Equal(t, failure.BudgetExceeded, run.Tasks[2].Code)
	require.Contains(t, run.Last.Reason, "the budget of 100 tokens is exceeded: 90 are used")
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.Check()
}
