package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// service starts a service agent that may call everything.
func service(s *kerneltest.Sim, program string, input any) string {
	s.T.Helper()
	return s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(s.T, program)}, input)
}

// task starts a task agent that may call everything.
func task(s *kerneltest.Sim, program string, input any) string {
	s.T.Helper()
	return s.Start(event.Define{Program: kerneltest.JSON(s.T, program)}, input)
}

// jsonOf writes the value of an agent's last tick.
func jsonOf(s *kerneltest.Sim, id string) string {
	s.T.Helper()
	result := s.Row(id).Execution.Result
	require.NotNil(s.T, result)
	require.True(s.T, result.OK, "%s %s", result.Code, result.Message)
	return string(result.Value.AppendJSON(nil))
}

// codeOf is the failure that ended an agent's last tick.
func codeOf(s *kerneltest.Sim, id string) failure.Code {
	s.T.Helper()
	result := s.Row(id).Execution.Result
	require.NotNil(s.T, result)
	require.False(s.T, result.OK)
	return result.Code
}

// EX-1: the context is frozen for a run: what the program reads of it is what
// TICK_STARTED says, however long the run takes; a continuation has a new one.
func TestContextIsFrozen(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := service(s, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"a","value":"${agent.bus_seq_at}"}},
		{"kind":"LET","payload":{"name":"b","value":"${agent.bus_seq_at}"}},
		{"kind":"CALL","payload":{"tool":"echo"}},
		{"kind":"RETURN","payload":{"value":["${a}","${b}","${agent.bus_seq_at}","${agent.tick_seq}","${agent.id}","${env.k}"]}}]}}`, nil)
	first := kerneltest.Find[*execution.StartedBody](s, bus.TickStarted)
	s.Pass(5)
	s.Answer(true, nil)
	second := kerneltest.Find[*execution.StartedBody](s, bus.TickStarted)
	require.Equal(t, failure.EvalFailure, codeOf(s, id), "env has no k")
	require.Greater(t, second.BusSeqAt, first.BusSeqAt)
	require.Equal(t, []uint32{1, 2}, []uint32{first.Run, second.Run})

	id = s.Start(event.Define{
		Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":["${agent.bus_seq_at}","${agent.bus_seq_at}","${env.k}","${agent.name}"]}}`),
		Env:     map[string]string{"k": "v"}, Name: "bo",
	}, nil)
	var startedAt uint64
	for _, r := range s.Last() {
		if b, ok := r.Content.(*execution.StartedBody); ok {
			require.Equal(t, r.Seq, b.BusSeqAt, "the record that froze it")
			startedAt = b.BusSeqAt
		}
	}
	got := s.Row(id).Execution.Result.Value.ToGo().([]any)
	require.Equal(t, []any{int64(startedAt), int64(startedAt), "v", "bo"}, got)
}

// EX-2: ticks run in the order in which they were queued, whoever they belong
// to, until the work of the event is spent; the rest runs at later events.
func TestQueueIsFIFOAcrossEvents(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = 1000 })
	greedy := `{"kind":"SEQ","payload":{"steps":[
		{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":10}}},
		{"kind":"MAP","payload":{"over":"${range(600)}","as":"i","do":{"kind":"LITERAL","payload":{"value":0}}}}]}}`
	var ids []string
	for range 4 {
		ids = append(ids, service(s, greedy, nil))
	}
	s.Wall += 10
	var order []uint32
	for range 4 {
		s.Pulse()
		started := 0
		for _, r := range s.Last() {
			if bus.Kind(r.Kind) == bus.TickStarted {
				order = append(order, r.Agent)
				started++
			}
		}
		require.Equal(t, 1, started, "one greedy tick spends the work of one event")
	}
	var want []uint32
	for _, id := range ids {
		want = append(want, numberOf(s, id))
	}
	require.Equal(t, want, order)
	require.Zero(t, s.Settle())
	s.Check()
}

// EX-3: tickSeq rises by one for each instruction; a continuation keeps it, and
// its steps and calls go on counting.
func TestTickNumbers(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := service(s, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"CALL","payload":{"tool":"clock.now"}},
		{"kind":"CALL","payload":{"tool":"echo"}},
		{"kind":"CALL","payload":{"tool":"uuid.new"}}]}}`, nil)
	s.Answer(true, 1)
	s.Must(event.AgentSubmit, event.Submit{Agent: id})
	s.Answer(true, 1)
	type run struct {
		Tick  uint64
		Run   uint32
		Calls uint32
		Steps uint32
	}
	var runs []run
	var open run
	for _, r := range s.All() {
		switch b := r.Content.(type) {
		case *execution.StartedBody:
			open = run{Tick: r.Tick, Run: b.Run}
		case *execution.PendingBody:
			open.Calls, open.Steps = b.First, b.Steps
			runs = append(runs, open)
		case *execution.CompletedBody:
			open.Steps = b.Steps
			runs = append(runs, open)
		}
	}
	require.Equal(t, []run{
		{1, 1, 1, 2}, {1, 2, 2, 4}, {1, 3, 3, 6}, {1, 4, 0, 7},
		{2, 1, 1, 2}, {2, 2, 2, 4}, {2, 3, 3, 6}, {2, 4, 0, 7},
	}, runs)
	require.EqualValues(t, 2, s.Row(id).Execution.LastTick)
	s.Check()
}

// EX-5: a tick that comes up while its agent is not ACTIVE fails with
// INVALID_STATE, unclassified: the state does not change, and nothing of the
// tick is lost.
func TestTickOfAnAgentThatIsNotActive(t *testing.T) {
	for _, state := range []lifecycle.State{
		lifecycle.Defined, lifecycle.Spawned, lifecycle.Waiting, lifecycle.Resumable, lifecycle.Completing,
		lifecycle.Faulted, lifecycle.Recovering, lifecycle.Terminated,
	} {
		s := kerneltest.New(t, 1)
		id := bring(s, state)
		before := kerneltest.Substance(s.State())
		s.Commit(event.Event{Kind: event.Pulse}, kernel.RunTick(numberOf(s, id)))
		require.Equal(t, []string{"EVENT", "TICK_FROZEN", "TICK_FAILED"}, s.Names(), state.String())
		failed := kerneltest.Find[*execution.FailedBody](s, bus.TickFailed)
		require.Equal(t, failure.InvalidState, failed.Failure.Code)
		require.Equal(t, failure.Unclassified, failed.Failure.Class())
		require.Equal(t, before, kerneltest.Substance(s.State()), state.String())
		s.CheckFold()
	}
}

// EX-6: exactly maxStepsPerTick steps, then TICK_OVERFLOW, which is PERMANENT;
// a program of exactly that many steps completes.
func TestTickOverflow(t *testing.T) {
	const limit = 20
	steps := func(s *kerneltest.Sim) (n int) { return s.Count(bus.Step) }
	program := func(items string) string { // 1 for the MAP, 1 for each item
		return `{"kind":"MAP","payload":{"over":"${range(` + items + `)}","as":"i","do":{"kind":"LITERAL","payload":{"value":0}}}}`
	}
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxStepsPerTick = limit })
	fits := service(s, program("19"), nil)
	require.Equal(t, limit, steps(s))
	require.True(t, s.Row(fits).Execution.Result.OK)

	over := service(s, program("20"), nil)
	require.Equal(t, limit, steps(s), "not one more")
	require.Equal(t, failure.TickOverflow, codeOf(s, over))
	require.Equal(t, &execution.OverflowBody{Steps: limit}, kerneltest.Find[*execution.OverflowBody](s, bus.TickOverflow))
	require.Equal(t, lifecycle.Faulted, s.StateOf(over))
	require.Equal(t, failure.Permanent, s.Row(over).Lifecycle.Fault)
	require.Equal(t, failure.NotRecoverable, s.Trigger(over, "recover").Refusal.Code)

	// Over all runs of a tick: 2 steps a call, so the tenth continuation is one too many.
	calls := service(s, `{"kind":"MAP","payload":{"over":"${range(50)}","as":"i","do":{"kind":"CALL","payload":{"tool":"clock.now"}}}}`, nil)
	require.Equal(t, failure.TickOverflow, codeOf(s, calls))
	require.Equal(t, limit, steps(s))
	s.Check()
}

// EX-3: calls are bounded per tick; the call that is one too many is not judged.
func TestCallOverflow(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxCallsPerTick = 3 })
	id := service(s, `{"kind":"MAP","payload":{"over":"${range(4)}","as":"i","do":{"kind":"CALL","payload":{"tool":"clock.now"}}}}`, nil)
	require.Equal(t, 3, s.Count(bus.Allow))
	require.Equal(t, failure.CallOverflow, codeOf(s, id))
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	s.Check()
}

// EV-12: one tick's work is bounded: WORK_EXCEEDED, which is PERMANENT.
func TestWorkExceeded(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxWorkPerTick = 2_000 })
	id := service(s, `{"kind":"MAP","payload":{"over":"${range(100)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${len([i]*100)}"}}}}`, nil)
	require.Equal(t, failure.WorkExceeded, codeOf(s, id))
	require.Equal(t, failure.Permanent, s.Row(id).Lifecycle.Fault)
	require.Less(t, s.Count(bus.Step), 100)
	s.Check()
}

// EX-7: a step is recorded before it is evaluated, so the step that fails is in
// the log; it names an instruction of the program, which is stored once.
func TestStepsAreRecordedFirst(t *testing.T) {
	s := kerneltest.New(t, 1)
	program := `{"kind":"SEQ","payload":{"steps":[{"kind":"LITERAL","payload":{"value":1}},{"kind":"FAIL","payload":{"message":"no"}}]}}`
	id := service(s, program, nil)
	var nodes []uint32
	for _, r := range s.Last() {
		if b, ok := r.Content.(execution.StepBody); ok {
			nodes = append(nodes, b.Node)
			require.EqualValues(t, len(nodes), r.Step)
		}
	}
	require.Equal(t, []uint32{0, 1, 2}, nodes)
	require.Equal(t, failure.ProgramFailed, codeOf(s, id))
	require.EqualValues(t, 2, s.Row(id).Execution.Result.Node)

	service(s, program, nil)
	gained := kerneltest.Find[*interning.Gained](s, bus.Interned)
	for _, e := range gained.Entries {
		require.False(t, e.New, "the same program and grants are stored once")
	}
}

// EX-8: an ephemeral store is there while a tick waits, and destroyed on every
// exit that is not PENDING.
func TestEphemeralStore(t *testing.T) {
	s := kerneltest.New(t, 1)
	program := func(last string) string {
		return `{"kind":"SEQ","payload":{"steps":[
			{"kind":"LET","payload":{"name":"a","value":"${input.n}"}},
			{"kind":"CALL","payload":{"tool":"echo"}},
			` + last + `]}}`
	}
	id := service(s, program(`{"kind":"RETURN","payload":{"value":"${a}"}}`), map[string]any{"n": 5})
	waiting := s.Row(id).Execution.Current
	require.Equal(t, execution.Pending, waiting.Phase)
	require.NotEmpty(t, waiting.Checkpoint)
	s.Answer(true, nil)
	require.Equal(t, "5", jsonOf(s, id), "restored, not initialised")
	require.Nil(t, s.Row(id).Execution.Current)

	id = service(s, program(`{"kind":"FAIL","payload":{"message":"no"}}`), map[string]any{"n": 5})
	s.Answer(true, nil)
	failed := s.Row(id).Execution.Current
	require.Equal(t, execution.Failed, failed.Phase)
	require.Nil(t, failed.Checkpoint, "destroyed")
	require.NotNil(t, failed.Recovery, "the recovery checkpoint is kept apart (FA-1)")

	// The store is the tick's own: the next instruction starts with none.
	id = service(s, `{"kind":"BRANCH","payload":{"if":"${agent.tick_seq == 1}",
		"then":{"kind":"LET","payload":{"name":"a","value":1}},"else":{"kind":"RETURN","payload":{"value":"${a}"}}}}`, nil)
	s.Must(event.AgentSubmit, event.Submit{Agent: id})
	require.Equal(t, failure.EvalFailure, codeOf(s, id))
	s.Check()
}

// EX-10, INV-11: what is no value of the model is refused where it enters.
func TestInputsAreChecked(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxValueBytes = 1024 })
	id := service(s, `{"kind":"LITERAL","payload":{"value":"${input}"}}`, nil)
	long := value.AppendString(nil, string(make([]byte, 2000)))
	for name, raw := range map[string]value.Raw{
		"NaN":             {0xf9, 0x7e, 0x00},
		"infinity":        {0xf9, 0x7c, 0x00},
		"1.0 as a float":  {0xf9, 0x3c, 0x00},
		"-0":              {0xf9, 0x80, 0x00},
		"beyond 2^53":     {0x1b, 0x00, 0x20, 0, 0, 0, 0, 0, 1},
		"duplicate keys":  {0xa2, 0x61, 'a', 1, 0x61, 'a', 2},
		"unsorted keys":   {0xa2, 0x61, 'b', 1, 0x61, 'a', 2},
		"invalid UTF-8":   {0x61, 0xff},
		"65 lists":        append(kerneltestNested(64), 0x80),
		"bytes after it":  {0x01, 0x01},
		"a byte string":   {0x41, 0x00},
		"larger than may": long,
	} {
		outcome := s.Command(event.AgentSubmit, event.Submit{Agent: id, Input: raw})
		assert.Equal(t, failure.InvalidValue, outcome.Refusal.Code, name)
		assert.Contains(t, outcome.Refusal.Field, "input", name)
	}
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Input: append(kerneltestNested(63), 0x80)})
	require.True(t, s.Row(id).Execution.Result.OK, "64 lists are within the bound")
}

func kerneltestNested(depth int) value.Raw {
	raw := make(value.Raw, depth)
	for i := range raw {
		raw[i] = 0x81
	}
	return raw
}

// EX-11: a program that wants to grow without bound ends in a coded failure.
func TestValuesAreBounded(t *testing.T) {
	s := kerneltest.New(t, 1)
	for _, bomb := range []string{
		`${[0]*(1<<27)}`, `${"x"*(1<<30)}`, `${1<<100000}`, `${",".join(["x"*60000]*60000)}`, `${"%s"%("x"*70000)}`,
	} {
		id := service(s, `{"kind":"LITERAL","payload":{"value":"`+jsonEscape(bomb)+`"}}`, nil)
		assert.Contains(t, []failure.Code{failure.ValueTooLarge, failure.WorkExceeded}, codeOf(s, id), bomb)
		assert.Equal(t, failure.Permanent, s.Row(id).Lifecycle.Fault)
	}
	s.Check()
}

func jsonEscape(s string) string {
	var out []byte
	for i := range len(s) {
		if s[i] == '"' {
			out = append(out, '\\')
		}
		out = append(out, s[i])
	}
	return string(out)
}

// EX-8, EV-12: a tick that has to remember more than a checkpoint may hold fails.
func TestCheckpointsAreBounded(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxCheckpointBytes = 4096 })
	id := service(s, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"a","value":"${\"x\"*5000}"}},
		{"kind":"CALL","payload":{"tool":"echo"}}]}}`, nil)
	require.Equal(t, failure.ValueTooLarge, codeOf(s, id))
	require.Empty(t, s.Pending)
}
