package kernel_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// scripted is a definition of script/1.
func scripted(source string) event.Define {
	return event.Define{Evaluator: "script/1", Program: value.AppendString(nil, source), Grants: kerneltest.Everything()}
}

// emittedIn are the values that the newest block publishes.
func emittedIn(s *kerneltest.Sim) (texts []string) {
	for _, r := range s.Last() {
		if b, ok := r.Content.(*execution.EmittedBody); ok {
			texts = append(texts, string(b.Value.AppendJSON(nil)))
		}
	}
	return texts
}

// stepsIn are the instructions that the newest block's steps name.
func stepsIn(s *kerneltest.Sim) (nodes []uint32) {
	for _, r := range s.Last() {
		if b, ok := r.Content.(execution.StepBody); ok {
			nodes = append(nodes, b.Node)
		}
	}
	return nodes
}

// SC-1, SC-2: a script waits at its calls and goes on over what they came to; a
// step of a script is a run to the next call, and names how many came before.
func TestScripts(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := s.Start(scripted(`
def main(input):
    emit("begun")
    first = call("echo", {"n": input})
    emit(first.value)
    second = call("echo", first.value.n + 1)
    at = call("clock.now")
    return [second.ok, second.code, second.message, at.ok]
`), 1)
	assert.Equal(t, lifecycle.Waiting, s.StateOf(id))
	assert.Equal(t, []string{`"begun"`}, emittedIn(s))
	assert.Equal(t, []uint32{0}, stepsIn(s))
	s.Answer(true, map[string]any{"n": 41})
	assert.Equal(t, []string{`{"n":41}`}, emittedIn(s), "what was emitted before is not emitted again")
	assert.Equal(t, []uint32{1}, stepsIn(s))
	s.Answer(false, nil)
	assert.Equal(t, []uint32{2, 3}, stepsIn(s), "a tool of the kernel is answered in the same event")
	assert.Equal(t, lifecycle.Terminated, s.StateOf(id))
	done := kerneltest.Find[*execution.CompletedBody](s, bus.TickCompleted)
	assert.Equal(t, `[false,"TOOL_FAILED",`, string(done.Value.AppendJSON(nil))[:len(`[false,"TOOL_FAILED",`)])
	assert.Equal(t, uint32(4), done.Steps)
}

// SC-2: max_steps_per_tick and max_calls_per_tick bound scripts as they bound
// any program.
func TestScriptsAreBoundedPerTick(t *testing.T) {
	const loop = "def main(input):\n    for i in range(100):\n        call('clock.now')\n"
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxStepsPerTick = 5 })
	s.Start(scripted(loop), nil)
	assert.Equal(t, failure.TickOverflow, kerneltest.Find[*execution.FailedBody](s, bus.TickFailed).Failure.Code)
	s = kerneltest.New(t, 1, func(c *config.Config) { c.MaxCallsPerTick = 5 })
	s.Start(scripted(loop), nil)
	assert.Equal(t, failure.CallOverflow, kerneltest.Find[*execution.FailedBody](s, bus.TickFailed).Failure.Code)
}

// SC-3: a failure tells file, line and the call stack; a script that is none is
// refused in the same way.
func TestScriptsTellWhere(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(scripted("def parse(x):\n    return x['nope']\n\ndef main(input):\n    return parse({})\n"), nil)
	f := kerneltest.Find[*execution.FailedBody](s, bus.TickFailed).Failure
	assert.Equal(t, failure.EvalFailure, f.Code)
	assert.Equal(t, [2]uint32{2, 13}, [2]uint32{f.Line, f.Column})
	assert.Contains(t, f.Message, "(script:2:13 in parse, called at script:5:17 in main)")

	define := scripted("")
	define.Program = kerneltest.Value(t, map[string]any{"file": "pay.star", "source": "def main(input):\n    return undefined\n"})
	out := s.Command(event.AgentStart, event.Start{Define: define})
	assert.Equal(t, failure.InvalidProgram, out.Refusal.Code)
	assert.Contains(t, out.Refusal.Rule, `pay.star:2:12: nothing is named "undefined"`)
}

// SC-4: again ends the tick and queues the program once more, with the state as
// its input, behind what was submitted meanwhile; until then a task agent is not
// done.
func TestAgain(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := s.Start(scripted(`
def main(input):
    emit(input)
    if input == "other":
        return "other"
    call("echo")
    if input < 3:
        again(input + 1)
    return input
`), 1)
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Input: kerneltest.Value(t, "other")})
	s.Answer(true, nil)
	assert.Equal(t, []string{`"other"`, "2"}, emittedIn(s))
	assert.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Answer(true, nil)
	assert.Equal(t, []string{"3"}, emittedIn(s))
	assert.True(t, kerneltest.Find[*execution.CompletedBody](s, bus.TickCompleted).Again)
	s.Answer(true, nil)
	assert.Equal(t, lifecycle.Terminated, s.StateOf(id))
	assert.False(t, kerneltest.Find[*execution.CompletedBody](s, bus.TickCompleted).Again)
	assert.Equal(t, uint64(4), s.Row(id).Execution.LastTick)
}

// SC-4: what is submitted and goes on anew keeps its program; when it is over
// the program is given back.
func TestAgainHoldsItsProgram(t *testing.T) {
	s := kerneltest.New(t, 1)
	define := scripted("def main(input):\n    return 'own'\n")
	define.Mode = "service"
	id := s.Start(define, nil)
	bodies := bodiesHeld(s)
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Input: kerneltest.Value(t, 0), Program: value.AppendString(nil,
		"def main(input):\n    if input < 20:\n        again(input + 1)\n    return 'far'\n")})
	assert.Equal(t, `"far"`, string(s.Row(id).Execution.Result.Value.AppendJSON(nil)))
	assert.Equal(t, uint64(22), s.Row(id).Execution.LastTick)
	assert.Equal(t, bodies, bodiesHeld(s))
}

// bodiesHeld counts the bodies that are held.
func bodiesHeld(s *kerneltest.Sim) (n int) {
	tables := s.State().Interned
	tables.All(func(*interning.Entry, uint32) bool { n++; return true })
	return n
}

// SC-4: a task of a run is done when its script is, however often it began anew.
func TestAgainInARun(t *testing.T) {
	s := kerneltest.New(t, 1)
	b := event.PlanRun{Start: true, Tasks: []event.RunTask{
		{Name: "a", Program: value.AppendString(nil, "def main(input):\n    n = input if type(input) == 'int' else 0\n    if n < 3:\n        again(n + 1)\n    return 'a' + str(n)\n")},
		{Name: "b", Program: value.AppendString(nil, "def main(input):\n    return 'b'\n")},
	}}
	b.Agent.Evaluator = "script/1"
	id := plannedWith(s, b)
	assert.Equal(t, `"a3"`, resultOf(s, id, 0))
	assert.Equal(t, `"b"`, resultOf(s, id, 1))
	assert.Equal(t, 2, s.Count(bus.RunTaskCompleted))
}

// SC-5: a script's function decides what its children may do, asking for more
// where it has to.
func TestScriptsDecide(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := s.Start(scripted(`
CHILD = {
    "evaluator": "script/1",
    "program": "def main(input):\n    return call('echo', input).code",
    "grants": [{"effect": "ESCALATE", "action": "tool.call", "resource": "echo"}],
}

def main(input):
    def decide(asked):
        limit = recall("limit", default=5).value
        return {"approve": asked.args < limit, "reason": "the limit is %d" % limit}
    done = delegate([CHILD | {"input": n} for n in [3, 7]], decide=decide)
    return done.value
`), nil)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	s.Answer(true, nil)
	s.Settle()
	assert.Equal(t, lifecycle.Terminated, s.StateOf(id))
	var approved []bool
	for _, r := range s.All() {
		if b, ok := r.Content.(*execution.PendingBody); ok && b.Decision != nil {
			assert.Equal(t, "the limit is 5", b.Decision.Reason)
			approved = append(approved, b.Decision.Approve)
		}
	}
	assert.ElementsMatch(t, []bool{true, false}, approved)
}

// EX-11: one script must not exhaust every replica.
func TestScriptsAreBounded(t *testing.T) {
	for source, code := range map[string]failure.Code{
		"    return [0] * 1000000000":                                    failure.ValueTooLarge,
		"    for i in range(1000000000):\n        pass":                  failure.WorkExceeded,
		"    x = 'x'\n    for i in range(1000):\n        x = x + x":      failure.ValueTooLarge,
		"    return main(input)":                                         failure.EvalFailure,
		"    return [x for x in range(1000000000) if x > 1000000000000]": failure.WorkExceeded,
	} {
		s := kerneltest.New(t, 1)
		s.Start(scripted("def main(input):\n"+source+"\n"), nil)
		assert.Equal(t, code, kerneltest.Find[*execution.FailedBody](s, bus.TickFailed).Failure.Code, source)
	}
	s := kerneltest.New(t, 1)
	sum := "1"
	for i := range 300 {
		sum += "+" + strconv.Itoa(i)
	}
	out := s.Command(event.AgentStart, event.Start{Define: scripted("def main(input):\n    return " + sum + "\n")})
	assert.Equal(t, failure.InvalidProgram, out.Refusal.Code)
}
