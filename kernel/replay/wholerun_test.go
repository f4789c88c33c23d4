package replay_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// ledger replays a run from the blocks that touch it.
func ledger(s *kerneltest.Sim, log *kerneltest.Placed, run uint32) (*replay.WholeRun, error) {
	x := replay.NewWholeRun(run, s.State().Config, s.Lookup, log.Body)
	for _, at := range log.Order {
		if _, touched := log.Blocks[at].Previous(logging.RunSubject(run)); !touched {
			continue
		}
		b, gone := kerneltest.Fleeting(log.Blocks[at])
		err := x.Block(at, b)
		if gone(); err != nil {
			return x, err
		}
	}
	return x, nil
}

// RU-4: whatever happens to runs and their agents, each is replayed from its ledger.
func TestRunsOfRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 10, drawn{t})
		h.Run(rapid.IntRange(20, 120).Draw(t, "steps"))
		h.CheckLedgers()
	})
}

const (
	asksRun  = `{"kind":"CALL","payload":{"tool":"echo","args":"${input.goal}"}}`
	sumsUp   = `{"kind":"LITERAL","payload":{"value":"${input.results}"}}`
	makesTwo = `{"kind":"LITERAL","payload":{"value":[{"name":"a","program":{"kind":"CALL","payload":{"tool":"echo"}}},
		{"name":"b","program":{"kind":"LITERAL","payload":{"value":1}},"uses":["a"]}]}}`
)

// carried is a run of three tasks, agent 1, with a plan that was given, which is paused
// and resumed; and another, agent 2, with a planner, whose task fails.
func carried(t testing.TB) *kerneltest.Sim {
	t.Helper()
	s := kerneltest.New(t, 1)
	ask, sum := kerneltest.JSON(t, asksRun), kerneltest.JSON(t, sumsUp)
	id := kerneltest.IDOf(s.Must(event.RunPlan, event.PlanRun{
		Goal: "be done", Agent: event.Define{Grants: kerneltest.Everything()}, Config: kerneltest.Value(t, 7),
		Tasks: []event.RunTask{{Name: "a", Program: ask}, {Name: "b", Program: sum, Uses: []string{"a"}}, {Name: "c", Program: ask}},
	}).Agent)
	s.Must(event.RunStart, event.StartRun{Run: id, Reason: "now"})
	s.Must(event.RunPause, event.PauseRun{Run: id, Trigger: "governance", Reason: "a gate"})
	require.NotEmpty(t, s.Command(event.RunStart, event.StartRun{Run: id}).Refusal)
	s.Answer(true, "one")
	s.Must(event.RunResume, event.ResumeRun{Run: id, Reason: "open"})
	s.Answer(true, "two")
	require.Equal(t, runs.Completed, s.Run(id).State)
	s.Must(event.RunPlan, event.PlanRun{Start: true, Agent: event.Define{Grants: kerneltest.Everything()}, Planner: kerneltest.JSON(t, makesTwo)})
	s.Answer(false, "no")
	require.Equal(t, runs.Failed, s.State().Runs.Get(2).State)
	return s
}

// A replay counts what there was.
func TestWholeRunCounts(t *testing.T) {
	s := carried(t)
	for run, want := range map[uint32]replay.RunStats{
		1: {Tasks: 3, Derived: 15, Stats: replay.Stats{Ticks: 3, Runs: 5, Blocks: 7}},
		2: {Tasks: 1, Derived: 7, Stats: replay.Stats{Ticks: 2, Runs: 3, Blocks: 2}},
	} {
		x, err := ledger(s, s.Placed(), run)
		require.NoError(t, err)
		got := x.Stats()
		require.Equal(t, []uint64{uint64(want.Tasks), want.Derived, want.Ticks, want.Runs, want.Blocks},
			[]uint64{uint64(got.Tasks), got.Derived, got.Ticks, got.Runs, got.Blocks}, "run %d", run)
		require.EqualValues(t, 1, got.Ledger.Agents)
	}
}

// edit changes the body of a record.
func edit[T any](t testing.TB, change func(*T)) func(logging.Record) []logging.Record {
	return func(r logging.Record) []logging.Record {
		body, ok := kernel.DecodeRecordBody(bus.Kind(r.Kind), bytes.Clone(r.Body))
		require.True(t, ok)
		change(any(body).(*T))
		r.Body = body.AppendTo(nil)
		return []logging.Record{r}
	}
}

// RU-4: a ledger whose chain holds, and whose records do not follow from each other, is
// found, whatever was changed.
func TestForgedLedgers(t *testing.T) {
	s := carried(t)
	log := s.Placed()
	drop := func(r logging.Record) []logging.Record { // what it leaves says nothing, and keeps busSeqs as they were
		r.Header = logging.Header{Kind: uint16(bus.StaleResult)}
		r.Body = (&tools.StaleBody{}).AppendTo(nil)
		return []logging.Record{r}
	}
	twice := func(r logging.Record) []logging.Record { return []logging.Record{r, r} }
	transition := func(change func(e *runs.Event)) func(logging.Record) []logging.Record { return edit(t, change) }
	for name, lie := range map[string]struct {
		run  uint32
		kind bus.Kind
		nth  int // of the run's
		edit func(logging.Record) []logging.Record
		what string
	}{
		"another goal":                    {1, bus.RunDefined, 0, edit(t, func(b *runs.DefinedBody) { b.Goal = "be done, well" }), "not the one that was asked for"},
		"another seed":                    {1, bus.RunDefined, 0, edit(t, func(b *runs.DefinedBody) { b.Seed = "7" }), "not the one that was asked for"},
		"a task left out":                 {1, bus.RunPlanned, 0, edit(t, func(b *runs.PlannedBody) { b.Tasks = b.Tasks[:2] }), "not the one that was given"},
		"a task's other program":          {1, bus.RunPlanned, 0, edit(t, func(b *runs.PlannedBody) { b.Tasks[0].Program = b.Tasks[1].Program }), "not the one that was given"},
		"a planner's other plan":          {2, bus.RunPlanned, 0, edit(t, func(b *runs.PlannedBody) { b.Tasks[1].Uses = nil }), "not what the planner made"},
		"no plan":                         {1, bus.RunPlanned, 0, drop, "nothing in the log leads to this transition"},
		"a task skipped":                  {1, bus.RunTaskStarted, 1, edit(t, func(b *runs.TaskBody) { b.Task = 2 }), "another task was to begin"},
		"a task begun twice":              {1, bus.RunTaskStarted, 0, twice, "body of the record"},
		"a task's begin dropped":          {1, bus.RunTaskStarted, 0, drop, "work that is not its run's"},
		"a task never asked of the agent": {1, bus.InstructionQueued, 0, drop, "nothing to run"},
		"a task's other input": {1, bus.InstructionQueued, 1, edit(t, func(b *execution.InstructionBody) {
			b.Input = kerneltest.Value(t, map[string]any{"goal": "be done", "input": nil, "config": 7, "results": map[string]any{"a": "other"}})
		}), "body of the record"},
		"a task's other result":         {1, bus.TickCompleted, 1, edit(t, func(b *execution.CompletedBody) { b.Value = kerneltest.Value(t, 1) }), "body of the record"},
		"a call's other result":         {1, bus.ResultDelivered, 0, edit(t, func(b *execution.DeliveredBody) { b.Answer.Value = kerneltest.Value(t, 1) }), "body of the record"},
		"a task's end dropped":          {1, bus.RunTaskCompleted, 0, drop, "nothing in the log leads to this transition"},
		"the last task's end":           {1, bus.RunTaskCompleted, 2, drop, "nothing in the log leads to this transition"},
		"another task's end":            {1, bus.RunTaskCompleted, 1, edit(t, func(b *runs.TaskBody) { b.Task = 0 }), "not in progress"},
		"a start that nobody asked":     {1, bus.RunTransition, 1, transition(func(e *runs.Event) { e.Cause = runs.Kernel }), "nothing in the log leads"},
		"a start's other reason":        {1, bus.RunTransition, 1, transition(func(e *runs.Event) { e.Reason = "later" }), "nothing in the log leads"},
		"a pause's other trigger":       {1, bus.RunPauseRequested, 0, edit(t, func(b *runs.PauseBody) { b.Cause = runs.Security }), "nothing in the log leads to this pause"},
		"a pause that took no effect":   {1, bus.RunTransition, 2, drop, "neither begins its next task nor ends"},
		"a pause by somebody else":      {1, bus.RunTransition, 2, transition(func(e *runs.Event) { e.Cause = runs.Budget }), "nothing in the log leads"},
		"a resume dropped":              {1, bus.RunTransition, 3, drop, "no task was to begin"},
		"a refusal elsewhere":           {1, bus.InvalidRunTransition, 0, edit(t, func(b *runs.Rejection) { b.From = runs.Paused }), "nobody asked for what is refused"},
		"completed, as failed":          {1, bus.RunTransition, -1, transition(func(e *runs.Event) { e.To, e.Trigger, e.Code = runs.Failed, runs.Fail, "NOPE" }), "nothing in the log leads"},
		"a state that no edge leads to": {1, bus.RunTransition, -1, transition(func(e *runs.Event) { e.To = runs.Killed }), "no such transition"},
		"never completed":               {1, bus.RunTransition, -1, drop, "the root agent is over, and the run goes on"},
		"failed, as completed":          {2, bus.RunTransition, -1, transition(func(e *runs.Event) { e.To, e.Trigger = runs.Completed, runs.Complete }), "nothing in the log leads"},
		"failed otherwise":              {2, bus.RunTransition, -1, transition(func(e *runs.Event) { e.Code = "OTHER" }), "otherwise than its task"},
		"a task's failure dropped":      {2, bus.RunTaskFailed, 0, drop, "and its task is in progress"},
		"not failed":                    {2, bus.RunTransition, -1, drop, "a task failed, and the run goes on"},
		"ready, and never started":      {2, bus.RunTransition, 1, drop, "no task was to begin"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ledger(s, tampered(t, log, ofKind(t, s, lie.run, lie.kind, lie.nth), lie.edit), lie.run)
			var d *replay.Deviation
			require.ErrorAs(t, err, &d)
			require.ErrorContains(t, err, lie.what)
			require.NotZero(t, d.Seq)
		})
	}
}

// RU-4: what is not a run's ledger is not replayed as one.
func TestWhatIsNoLedger(t *testing.T) {
	s := carried(t)
	log := s.Placed()
	for name, log := range map[string]*kerneltest.Placed{
		"a block left out":      {Order: slices.Delete(slices.Clone(log.Order), 3, 4), Blocks: log.Blocks},
		"its beginning missing": {Order: log.Order[2:], Blocks: log.Blocks},
		"no definition":         tampered(t, log, ofKind(t, s, 1, bus.RunDefined, 0), func(logging.Record) []logging.Record { return nil }),
		"two definitions":       tampered(t, log, ofKind(t, s, 1, bus.RunDefined, 0), func(r logging.Record) []logging.Record { return []logging.Record{r, r} }),
	} {
		_, err := ledger(s, log, 1)
		require.ErrorIs(t, err, replay.ErrLedger, name)
	}
}

// RU-4: a run is found in a whole log, and an agent that has none is not taken for one.
func TestRunInALog(t *testing.T) {
	s := carried(t)
	s.Start(event.Define{Program: kerneltest.JSON(t, seeing)}, nil)
	log := s.Placed()
	for no := uint32(1); no <= 3; no++ {
		var run *replay.WholeRun
		x := replay.NewRunInLog(s.State().Agents.Get(no).Identity.ID, func(no uint32, c *config.Config, find kernel.FindBody) replay.Taker {
			run = replay.NewWholeRun(no, c, s.Lookup, find)
			return run
		})
		for _, at := range log.Order {
			require.NoError(t, x.Block(at, log.Blocks[at]))
		}
		if no == 3 {
			require.ErrorIs(t, x.Over(), replay.ErrNoRun)
			continue
		}
		require.NoError(t, x.Over())
		require.Equal(t, s.State().Runs.Ledger(no).Head, run.Stats().Ledger.Head)
	}
}

// ofKind is the busSeq of the nth record of a kind of an agent; the last for -1.
func ofKind(t testing.TB, s *kerneltest.Sim, agent uint32, kind bus.Kind, nth int) (seq uint64) {
	t.Helper()
	var found []uint64
	for _, r := range s.All() {
		if bus.Kind(r.Kind) == kind && r.Agent == agent {
			found = append(found, r.Seq)
		}
	}
	if nth < 0 {
		nth += len(found)
	}
	require.Less(t, nth, len(found), kernel.KindName(kind))
	return found[nth]
}
