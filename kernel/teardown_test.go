package kernel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// tearing starts an agent with a teardown, that may do everything.
func tearing(s *kerneltest.Sim, program, teardown string) string {
	s.T.Helper()
	return s.Start(event.Define{Grants: freely, Program: kerneltest.JSON(s.T, program), Teardown: kerneltest.JSON(s.T, teardown)}, nil)
}

// LC-5: the teardown is the agent's last tick, in COMPLETING, and may read and
// flush memory; what the agent came to stays what its last ordinary tick gave.
func TestTeardown(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := tearing(s, inSeq(`{"kind":"WRITE","payload":{"key":"n","value":41}}`, giving(`"done"`)),
		inSeq(letDo("n", `{"kind":"READ","payload":{"key":"n"}}`), `{"kind":"SHARE","payload":{"namespace":"left","key":"n","value":"${n + 1}"}}`,
			`{"kind":"EMIT","payload":{"value":"bye"}}`))
	require.Equal(t, []string{"spawn", "activate", "await_tool", "resume", "complete", "teardown_ok"}, s.Path(), "it waits for nothing")
	var started []execution.StartedBody
	for _, r := range s.Last() {
		if b, ok := r.Content.(*execution.StartedBody); ok && r.Tick == 2 {
			started = append(started, *b)
		}
	}
	require.Len(t, started, 3)
	for i := range started {
		require.True(t, started[i].Teardown)
	}
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Equal(t, `"done"`, jsonOf(s, id))
	require.EqualValues(t, 1, s.Row(id).Execution.Result.Tick)
	require.Equal(t, "42", string(s.State().Memory.GetShared("left", "n").Value.AppendJSON(nil)))
	require.EqualValues(t, 1, s.Row(id).Execution.Emitted)
	s.Check()
}

// LC-5, LC-6: everything else is refused to a teardown, without an evaluation;
// it goes on if it handles that. An ESCALATE is a DENY: it cannot wait.
func TestTeardownIsConfined(t *testing.T) {
	for _, request := range []string{
		callOf("echo", "{}", true), callOf("clock.now", "{}", true), callOf("timer.sleep", `{"ms":1}`, true), `{"kind":"RECEIVE","payload":{"handle":true}}`,
		callOf("memory.delete", `{"key":"k"}`, true), callOf("shared.delete", `{"namespace":"n","key":"k"}`, true),
		delegateTo(`,"handle":true`, kid(literal, "", "")), callOf("agent.kill", `{"agent":"`+kerneltest.AgentID(9)+`"}`, true),
	} {
		s := kerneltest.New(t, 1)
		id := tearing(s, literal, inSeq(letDo("got", request), `{"kind":"WRITE","payload":{"key":"got","value":"${got.code}"}}`))
		require.Equal(t, lifecycle.Terminated, s.StateOf(id), request)
		require.Equal(t, `"PERMISSION_DENIED"`, string(s.State().Memory.Get(numberOf(s, id), "got").Value.AppendJSON(nil)), request)
		require.Equal(t, 1, s.Count(bus.Allow), "the write's")
		require.Empty(t, s.Pending)
		s.Check()
	}
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Grants: append([]permissions.Grant{{Effect: permissions.Escalate, Action: "shared.*", Resource: "**"}}, freely...),
		Program: kerneltest.JSON(t, literal), Teardown: kerneltest.JSON(t, `{"kind":"SHARE","payload":{"namespace":"n","key":"k","value":1,"handle":true}}`)}, nil)
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Equal(t, 1, s.Count(bus.Deny))
	require.Zero(t, s.State().Escalations.Len())
	s.Check()
}

// LC-5, row 16: a teardown that fails takes the agent to FAULTED. A PERMANENT
// one rests there, and is on record as incomplete once the agent is abandoned,
// or killed.
func TestTeardownFails(t *testing.T) {
	for name, end := range map[string]func(s *kerneltest.Sim, id string) event.Outcome{
		"abandoned": func(s *kerneltest.Sim, id string) event.Outcome { return s.Trigger(id, "abandon") },
		"killed":    func(s *kerneltest.Sim, id string) event.Outcome { return s.Kill(id) },
		"revoked":   func(s *kerneltest.Sim, id string) event.Outcome { return s.Revoke(id) },
	} {
		s := kerneltest.New(t, 1)
		id := tearing(s, literal, `{"kind":"FAIL","payload":{"message":"no"}}`)
		require.Equal(t, []string{"spawn", "activate", "complete", "error"}, s.Path())
		require.Equal(t, lifecycle.Faulted, s.StateOf(id))
		require.Equal(t, failure.ProgramFailed, codeOf(s, id))
		require.Empty(t, end(s, id).Refusal, name)
		require.Equal(t, lifecycle.Terminated, s.StateOf(id))
		require.Equal(t, 1, s.Count(bus.TeardownFailed), name)
		s.Check()
	}
}

// LC-5: a teardown that fails TRANSIENTly is retried: after recovery the agent
// is ACTIVE for no ordinary tick, though instructions wait; complete follows at
// once, and the teardown goes on where it was.
func TestTeardownRecovers(t *testing.T) {
	broken := true
	s := kerneltest.NewWith(t, 1, breakable(&broken))
	id := s.Start(event.Define{Evaluator: "word/1", Program: kerneltest.Value(t, "name"), Teardown: kerneltest.Value(t, "unreachable")}, nil)
	require.Equal(t, []string{"spawn", "activate", "complete", "error"}, s.Path())
	require.Equal(t, failure.Transient, s.Row(id).Lifecycle.Fault)
	broken = false
	s.Pass(1000)
	require.Equal(t, []string{"recover", "recovery_success", "complete", "teardown_ok"}, s.Path())
	started := kerneltest.Find[*execution.StartedBody](s, bus.TickStarted)
	require.True(t, started.Teardown)
	require.EqualValues(t, 2, s.Row(id).Execution.LastTick, "the same tick")
	require.Zero(t, s.Count(bus.TeardownFailed))
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.CheckFold()
	s.CheckCounts()
	s.CheckPaths()
}

// LC-5: when the retries are used up the agent is TERMINATED, on record as
// teardown_incomplete, be it a root agent or somebody's child; that is told.
func TestTeardownExhausted(t *testing.T) {
	broken := true
	s := kerneltest.NewWith(t, 2, breakable(&broken))
	root := s.Start(event.Define{Evaluator: "word/1", Program: kerneltest.Value(t, "name"), Teardown: kerneltest.Value(t, "unreachable")}, nil)
	parent := startFreely(s, "task", delegateTo("", kid(`"name"`, "", `,"evaluator":"word/1","teardown":"unreachable"`)))
	for range 3 {
		require.Equal(t, []lifecycle.State{lifecycle.Faulted, lifecycle.Waiting}, statesOf(s, root, parent))
		s.Pass(4000)
	}
	require.Equal(t, []lifecycle.State{lifecycle.Terminated, lifecycle.Terminated, lifecycle.Terminated}, statesOf(s, root, parent, onlyKid(s, parent)))
	require.Equal(t, 2, s.Count(bus.TeardownFailed))
	var words []string
	for _, r := range s.Last() {
		if r.Agent == numberOf(s, root) && (r.Name == "TEARDOWN_INCOMPLETE" || r.Name == "LIFECYCLE") {
			words = append(words, r.Name)
			if e, ok := r.Content.(*lifecycle.Event); ok {
				words[len(words)-1] = e.Trigger.String()
			}
		}
	}
	require.Equal(t, []string{"recover", "recovery_success", "complete", "error", "TEARDOWN_INCOMPLETE", "abandon"}, words)
	require.Contains(t, jsonOf(s, parent), `"code":"TOOL_UNREACHABLE"`)
	s.Check()
}

// LC-5, EX-5: the last tick is queued like any other; killed before it could
// run, the agent ends without it, on record; revoked meanwhile, it finishes
// (LC-10).
func TestTeardownThatWaitsForItsTurn(t *testing.T) {
	const work = 1000
	busy := inSeq(callOf("timer.sleep", `{"ms":10}`, false), `{"kind":"MAP","payload":{"over":"${range(700)}","as":"i","do":`+giving(`0`)+`}}`)
	for name, test := range map[string]struct {
		then       func(s *kerneltest.Sim, id string) event.Outcome
		incomplete int
		wrote      bool
	}{
		"killed":  {func(s *kerneltest.Sim, id string) event.Outcome { return s.Kill(id) }, 1, false},
		"revoked": {func(s *kerneltest.Sim, id string) event.Outcome { return s.Revoke(id) }, 0, true},
	} {
		s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = work })
		id := tearing(s, busy, `{"kind":"WRITE","payload":{"key":"left","value":true}}`)
		s.Pass(10)
		require.Equal(t, lifecycle.Completing, s.StateOf(id), "the work of the event is spent")
		require.NotZero(t, s.Row(id).Execution.Place)
		require.Empty(t, test.then(s, id).Refusal, name)
		require.Equal(t, test.incomplete, s.Count(bus.TeardownFailed), name)
		s.Settle()
		require.Equal(t, lifecycle.Terminated, s.StateOf(id))
		require.Equal(t, test.wrote, s.State().Memory.Get(numberOf(s, id), "left") != nil, name)
		s.Check()
	}
}

// A teardown is checked with the definition, like the program.
func TestTeardownIsChecked(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxProgramBytes = 200 })
	for rule, program := range map[string]string{
		"max_program_bytes": giving(`"` + strings.Repeat("x", 200) + `"`), "": `{"kind":"JUMP"}`,
	} {
		refusal := s.Command(event.AgentDefine, event.Define{Teardown: kerneltest.JSON(t, program)}).Refusal
		require.Equal(t, failure.InvalidProgram, refusal.Code)
		require.True(t, strings.HasPrefix(refusal.Field, "teardown"), refusal.Field)
		require.Contains(t, refusal.Rule, rule)
	}
}
