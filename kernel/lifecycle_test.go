package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// LC-7: inside the kernel an unknown agent is DEFINED; a command that names it
// is answered NOT_FOUND.
func TestUnknownAgents(t *testing.T) {
	s := kerneltest.New(t, 1)
	st := s.State()
	require.Equal(t, lifecycle.Defined, st.StateOf(77))
	for _, trigger := range []string{"spawn", "expire", "breach"} {
		outcome := s.Trigger(kerneltest.AgentID(9), trigger)
		require.Equal(t, failure.NotFound, outcome.Refusal.Code)
		require.Equal(t, "agent", outcome.Refusal.Field)
	}
	require.Equal(t, failure.NotFound, s.Kill(kerneltest.AgentID(9)).Refusal.Code)
}

// LC-8: the lifecycle record is ordered by busSeq and append-only: the row's
// last four, its count and its chain are those of the log, which has them all.
func TestLifecycleRecordIsInTheLog(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := service(s, literal, nil)
	for range 3 {
		require.Empty(t, s.Trigger(id, "suspend").Refusal)
		require.Empty(t, s.Trigger(id, "resume").Refusal)
	}
	row := s.Row(id).Lifecycle
	require.EqualValues(t, 8, row.Count)
	var words []string
	var before uint64
	for _, step := range row.Recent() {
		require.Greater(t, step.Seq, before)
		before = step.Seq
		words = append(words, step.Trigger.String())
	}
	require.Equal(t, []string{"suspend", "resume", "suspend", "resume"}, words)
	s.CheckPaths()
}

// LC-8: after the retention time a TERMINATED agent is a tombstone: who it was,
// its last state, its place in the log, and nothing that costs memory.
func TestTombstone(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.RetentionMillis = 1_000 })
	id := s.Start(event.Define{
		Program: kerneltest.JSON(t, callEcho), Name: "bo", Labels: map[string]string{"a": "b"}, Env: map[string]string{"c": "d"},
	}, nil)
	s.Answer(true, 7)
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.Pass(999)
	require.False(t, s.Row(id).Identity.Archived)
	require.NotNil(t, s.Row(id).Execution.Result)
	s.Pass(1)
	require.Equal(t, []string{"EVENT", "TIMER_CLEARED", "AGENT_ARCHIVED", "RELEASED"}, s.Names())
	row := s.Row(id)
	require.True(t, row.Identity.Archived)
	require.Equal(t, execution.Row{LastTick: 1}, row.Execution)
	require.Zero(t, row.Permissions)
	require.Zero(t, row.Timer)
	require.Equal(t, identity.Row{
		ID: row.Identity.ID, Name: "bo", Evaluator: "std/1", Mode: identity.Task, Archived: true, MaxDepth: 8,
		DefinedAt: kerneltest.Start, Seq: row.Identity.Seq,
	}, row.Identity)
	require.Equal(t, logging.PointerTo(s.State().Log.Position)-uint64(len(s.Blocks[len(s.Blocks)-1])), row.LastBlock)
	st := s.State()
	require.Zero(t, interned(s), "every body is released")
	require.Zero(t, st.Interned.Bytes)
	require.Zero(t, st.Timers.Len())
	// Its name is never free again, and it does not rise.
	require.Equal(t, failure.AlreadyExists, s.Command(event.AgentDefine, event.Define{ID: id}).Refusal.Code)
	require.Equal(t, failure.InvalidTransition, s.Trigger(id, "spawn").Refusal.Code)
	require.Equal(t, failure.InvalidState, s.Command(event.AgentSubmit, event.Submit{Agent: id}).Refusal.Code)
	require.Equal(t, failure.InvalidTransition, s.Kill(id).Refusal.Code)
	s.Check()
}

func interned(s *kerneltest.Sim) (n int) {
	st := s.State()
	st.Interned.All(func(*interning.Entry, uint32) bool {
		n++
		return true
	})
	return n
}

// LC-11: a task completes when nothing is left to do; until then it goes on.
func TestTaskCompletesWhenItsQueueIsEmpty(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := task(s, callEcho, nil)
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, literal)})
	s.Answer(true, 1)
	require.Equal(t, []string{"resume", "complete", "teardown_ok"}, s.Path())
	require.Equal(t, 2, s.Count(bus.TickCompleted))
	require.Equal(t, "7", jsonOf(s, id), "the last tick's")
	s.Check()
}

// LC-11: a task without an instruction is not activated; a service is, and
// waits for more. One without any program takes what is submitted.
func TestActivatingWithoutAnInstruction(t *testing.T) {
	s := kerneltest.New(t, 1)
	bare := func(mode string) string {
		id := s.NewID()
		s.Must(event.AgentDefine, event.Define{ID: id, Mode: mode})
		s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "spawn"})
		return id
	}
	id := bare("task")
	before := kerneltest.Substance(s.State())
	require.Equal(t, failure.NoInstruction, s.Trigger(id, "activate").Refusal.Code)
	require.Equal(t, before, kerneltest.Substance(s.State()))
	require.Equal(t, failure.NoInstruction, s.Command(event.AgentSubmit, event.Submit{Agent: id}).Refusal.Code, "nothing of its own")
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, literal)})
	require.Empty(t, s.Trigger(id, "activate").Refusal)
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))

	id = bare("service")
	require.Empty(t, s.Trigger(id, "activate").Refusal)
	require.Equal(t, lifecycle.Active, s.StateOf(id))
	for range 3 {
		s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, literal)})
		require.Equal(t, lifecycle.Active, s.StateOf(id), "a service never completes by itself")
	}
	require.Equal(t, failure.NoInstruction, s.Command(event.AgentStart, event.Start{}).Refusal.Code)
	noProgram := s.NewID()
	s.Must(event.AgentDefine, event.Define{ID: noProgram})
	outcome := s.Command(event.AgentTrigger, event.Trigger{Agent: noProgram, Trigger: "spawn", Input: kerneltest.Value(t, 1)})
	require.Equal(t, failure.NoInstruction, outcome.Refusal.Code, "nothing could take the input")
	s.Check()
}

// Row 1 takes the input of the agent's own program; no other trigger does.
func TestSpawnTakesTheInput(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.NewID()
	s.Must(event.AgentDefine, event.Define{ID: id, Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":"${input.n}"}}`)})
	input := kerneltest.Value(t, map[string]any{"n": 3})
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "spawn", Input: input})
	refused := s.Command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "activate", Input: input})
	require.Equal(t, "input", refused.Refusal.Field)
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "activate"})
	require.Equal(t, "3", jsonOf(s, id))
}

// LC-12: a RESUMABLE agent has a TTL; past it is row 10, by the kernel. Resumed
// in time it has none.
func TestResumableExpires(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.ResumableTTLMillis = 500 })
	resumed, left := service(s, literal, nil), service(s, literal, nil)
	for _, id := range []string{resumed, left} {
		require.Empty(t, s.Trigger(id, "suspend").Refusal)
	}
	s.Wall += 499
	require.Empty(t, s.Trigger(resumed, "resume").Refusal)
	s.Pass(1)
	require.Equal(t, []string{"expire"}, s.Path())
	require.Equal(t, lifecycle.Kernel, kerneltest.Find[*lifecycle.Event](s, bus.Lifecycle).Caller)
	require.Equal(t, lifecycle.Terminated, s.StateOf(left))
	s.Pass(10_000)
	require.Equal(t, lifecycle.Active, s.StateOf(resumed))
	s.Check()
}

// Rows 6 and 9: an agent that is suspended takes instructions and runs none;
// resumed, it runs them.
func TestSuspendAndResume(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := service(s, literal, nil)
	require.Empty(t, s.Trigger(id, "suspend").Refusal)
	s.Must(event.AgentSubmit, event.Submit{Agent: id})
	s.Pass(1)
	require.Zero(t, s.Count(bus.TickStarted))
	require.Len(t, s.Row(id).Execution.Queue, 1)
	require.Empty(t, s.Trigger(id, "resume").Refusal)
	require.Equal(t, 1, s.Count(bus.TickCompleted))
	s.Check()
}

// EX-4: leaving ACTIVE takes a queued tick out of the global queue; coming back
// puts it at the tail.
func TestFrozenTickComesBackAtTheTail(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = 1000 })
	busy := `{"kind":"SEQ","payload":{"steps":[
		{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":10}}},
		{"kind":"MAP","payload":{"over":"${range(600)}","as":"i","do":{"kind":"LITERAL","payload":{"value":0}}}}]}}`
	ids := []string{service(s, busy, nil), service(s, busy, nil), service(s, busy, nil), service(s, busy, nil)}
	s.Pass(10) // all four are ACTIVE, and the first one's tick has run
	// A command with a body past the event's work leaves the queue as it is.
	heavy := event.Event{Kind: event.AgentTrigger, Principal: string(make([]byte, 80_000)),
		Body: event.Encode(event.Trigger{Agent: ids[1], Trigger: "suspend"})}
	require.Empty(t, s.Apply(heavy).Refusal)
	require.Equal(t, []string{"EVENT", "SNAPSHOT_TAKEN", "LIFECYCLE", "TIMER_SET", "TICK_FROZEN", "OUTCOME"}, s.Names())
	require.Zero(t, s.Row(ids[1]).Execution.Place)
	heavy.Body = event.Encode(event.Trigger{Agent: ids[1], Trigger: "resume"})
	require.Empty(t, s.Apply(heavy).Refusal)
	require.Greater(t, s.Row(ids[1]).Execution.Place, s.Row(ids[3]).Execution.Place)
	var order []uint32
	for range 3 {
		s.Pulse()
		for _, r := range s.Last() {
			if bus.Kind(r.Kind) == bus.TickStarted {
				order = append(order, r.Agent)
			}
		}
	}
	require.Equal(t, []uint32{numberOf(s, ids[2]), numberOf(s, ids[3]), numberOf(s, ids[1])}, order)
	s.Check()
}

// Rows 8, 12 and 14 (FA-1): a TRANSIENT fault is recovered from the checkpoint
// of the tick's last exit: the same tickSeq, what was computed before it is
// kept, the call is made again under the next callIndex.
func TestRecover(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := task(s, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"first","do":{"kind":"CALL","payload":{"tool":"echo"}}}},
		{"kind":"LET","payload":{"name":"second","do":{"kind":"CALL","payload":{"tool":"echo"}}}},
		{"kind":"RETURN","payload":{"value":["${first}","${second}","${agent.tick_seq}"]}}]}}`, nil)
	s.Answer(true, "one")
	s.Pass(40_000)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	lost := s.Pending[0]
	s.Pending = nil
	require.EqualValues(t, 2, lost.Call)

	require.Empty(t, s.Trigger(id, "recover").Refusal)
	require.Equal(t, []string{"recover", "recovery_success", "await_tool"}, s.Path())
	require.Equal(t, 1, s.Count(bus.TickRestored))
	require.Equal(t, failure.StaleResult, s.Result(lost, true, "late").Refusal.Code)
	require.Equal(t, lost.Tick, s.Pending[0].Tick)
	require.EqualValues(t, 3, s.Pending[0].Call)
	s.Answer(true, "two")
	require.JSONEq(t, `["one","two",1]`, jsonOf(s, id))
	s.Check()
}

// FA-1: a tick that failed before it ever waited runs again from its start; one
// that failed after its answer came asks again.
func TestRecoverAfterAFailedCall(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := task(s, callEcho, map[string]any{"n": 1})
	for call := uint32(1); call <= 3; call++ {
		require.Equal(t, call, s.Pending[0].Call)
		s.Answer(false, failure.ToolUnreachable)
		require.Equal(t, lifecycle.Faulted, s.StateOf(id))
		require.Empty(t, s.Trigger(id, "recover").Refusal)
	}
	s.Answer(true, "there")
	require.Equal(t, `"there"`, jsonOf(s, id))
	s.Check()
}

// FA-2: a PERMANENT fault is not recovered; the agent rests until it is
// abandoned.
func TestPermanentFaultRests(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := task(s, `{"kind":"FAIL","payload":{"message":"no"}}`, nil)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	before := kerneltest.Substance(s.State())
	require.Equal(t, failure.NotRecoverable, s.Trigger(id, "recover").Refusal.Code)
	require.Equal(t, before, kerneltest.Substance(s.State()))
	require.Equal(t, failure.InvalidState, s.Command(event.AgentSubmit, event.Submit{Agent: id}).Refusal.Code)
	s.Pass(365 * 24 * 3_600_000)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	require.Empty(t, s.Trigger(id, "abandon").Refusal)
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Equal(t, failure.ProgramFailed, codeOf(s, id), "what it failed of is kept")
	s.Check()
}

// LC-4: kill withdraws what waits: the pending call is resolved as WITHDRAWN,
// its result is stale, a sleeper's timer is gone.
func TestKillWhileWaiting(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := service(s, callEcho, nil)
	require.Empty(t, s.Kill(id).Refusal)
	require.Equal(t, failure.Withdrawn, kerneltest.Find[*tools.ActionBody](s, bus.ActionFailed).Code)
	require.Equal(t, failure.StaleResult, s.Answer(true, 1).Refusal.Code)

	id = service(s, sleep100, nil)
	require.Empty(t, s.Kill(id).Refusal)
	s.Pass(100)
	require.Equal(t, []string{"EVENT"}, s.Names())
	s.Check()
}

// EX-4: every place in the global queue is reserved from spawn to TERMINATED:
// no room is QUEUE_FULL, for spawn and start alike, and changes nothing.
func TestGlobalQueueIsBounded(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.GlobalQueue = 2 })
	first := service(s, literal, nil)
	service(s, callEcho, nil)
	waiting := s.NewID()
	s.Must(event.AgentDefine, event.Define{ID: waiting, Mode: "service"})
	before := kerneltest.Substance(s.State())
	require.Equal(t, failure.QueueFull, s.Trigger(waiting, "spawn").Refusal.Code)
	start := event.Start{Define: event.Define{Program: kerneltest.JSON(t, literal)}}
	require.Equal(t, failure.QueueFull, s.Command(event.AgentStart, start).Refusal.Code)
	require.Equal(t, before, kerneltest.Substance(s.State()), "start is all or nothing")
	require.Empty(t, s.Trigger(first, "suspend").Refusal)
	require.Equal(t, failure.QueueFull, s.Trigger(waiting, "spawn").Refusal.Code, "a place is kept while suspended")
	s.Kill(first)
	require.Empty(t, s.Trigger(waiting, "spawn").Refusal)
	s.Check()
}

// EX-4: an agent's own queue is bounded; results, timers and continuations are
// never refused.
func TestInstructionQueueIsBounded(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.InstructionQueue = 2 })
	id := service(s, callEcho, nil)
	submit := func() failure.Code {
		return s.Command(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, callEcho)}).Refusal.Code
	}
	require.Empty(t, submit())
	require.Empty(t, submit())
	before := kerneltest.Substance(s.State())
	require.Equal(t, failure.QueueFull, submit())
	require.Equal(t, before, kerneltest.Substance(s.State()))
	require.Empty(t, s.Answer(true, 1).Refusal)
	require.Empty(t, submit(), "one was taken out")
	require.Equal(t, failure.QueueFull, submit())
	s.Check()
}

// LC-6: instructions are taken where the agent can still run them.
func TestSubmitByState(t *testing.T) {
	for state := lifecycle.Defined; state < lifecycle.States; state++ {
		s := kerneltest.New(t, 1)
		outcome := s.Command(event.AgentSubmit, event.Submit{Agent: bring(s, state)})
		switch state {
		case lifecycle.Spawned, lifecycle.Active, lifecycle.Waiting, lifecycle.Resumable:
			assert.Empty(t, outcome.Refusal, state.String())
		default:
			assert.Equal(t, failure.InvalidState, outcome.Refusal.Code, state.String())
		}
	}
}

// The number of agents that ever were is bounded, and so are interned bodies.
func TestAgentsAndBodiesAreBounded(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxAgents, c.MaxInternedBytes = 2, 300 })
	define := func(name string) failure.Code {
		return s.Command(event.AgentDefine, event.Define{Env: map[string]string{"k": name}}).Refusal.Code
	}
	require.Equal(t, failure.LimitReached, define(string(make([]byte, 300))))
	require.Empty(t, define("a"))
	require.Empty(t, define("a"))
	require.Equal(t, failure.LimitReached, define("a"))
	st := s.State()
	require.EqualValues(t, 2, st.Agents.Len())
	s.Check()
}

// EV-10: an id comes with define, or is a UUIDv5 of the cluster and the agent's
// number; a duplicate is refused.
func TestAgentIDs(t *testing.T) {
	derive := func(cluster string) string {
		s := kerneltest.New(t, 2, func(c *config.Config) { c.ClusterID = cluster })
		one, two := s.Must(event.AgentDefine, event.Define{}), s.Must(event.AgentDefine, event.Define{})
		require.NotEqual(t, one.Agent, two.Agent)
		require.Equal(t, byte(0x50), one.Agent[6]&0xf0, "version 5")
		return flows.FormatID(one.Agent)
	}
	require.Equal(t, derive("a"), derive("a"))
	require.NotEqual(t, derive("a"), derive("b"))
	s := kerneltest.New(t, 1)
	for _, id := range []string{
		"018F4E5C-0000-7000-8000-000000000001", "018f4e5c00007000800000000000000001", "{018f4e5c-0000-7000-8000-00000000001}",
		"00000000-0000-0000-0000-000000000000", "018f4e5c-0000-7000-8000-00000000000g",
	} {
		require.Equal(t, "id", s.Command(event.AgentDefine, event.Define{ID: id}).Refusal.Field, id)
	}
	s.Must(event.AgentDefine, event.Define{ID: kerneltest.AgentID(1)})
	require.Equal(t, failure.AlreadyExists, s.Command(event.AgentDefine, event.Define{ID: kerneltest.AgentID(1)}).Refusal.Code)
}
