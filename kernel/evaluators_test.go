package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// wordEvaluator is an instruction set of a user of the Go packages: a program
// is one word, which says what its only step does.
type wordEvaluator struct{ name string }

func lookupWords(name string) (evaluator.Evaluator, bool) {
	if name == "word/1" || name == "word/2" {
		return wordEvaluator{name}, true
	}
	return registry.Lookup(name)
}

// breakable offers the word unreachable, which works once it is not broken.
func breakable(broken *bool) func(string) (evaluator.Evaluator, bool) {
	return func(name string) (evaluator.Evaluator, bool) {
		found, ok := lookupWords(name)
		if words, is := found.(wordEvaluator); is {
			return breakableEvaluator{words, broken}, ok
		}
		return found, ok
	}
}

type breakableEvaluator struct {
	wordEvaluator
	broken *bool
}

func (e breakableEvaluator) Compile(program value.Raw) (evaluator.Program, *failure.Refusal) {
	p, refusal := e.wordEvaluator.Compile(program)
	if refusal != nil {
		return nil, refusal
	}
	return breakableProgram{p.(wordProgram), e.broken}, nil
}

type breakableProgram struct {
	wordProgram
	broken *bool
}

func (p breakableProgram) Start(ctx evaluator.Context) evaluator.Tick {
	if p.word == "unreachable" && !*p.broken {
		return wordTick{p.name, "name"}
	}
	return p.wordProgram.Start(ctx)
}

func (e wordEvaluator) Name() string { return e.name }

func (e wordEvaluator) Compile(program value.Raw) (evaluator.Program, *failure.Refusal) {
	word, ok := program.Text()
	if !ok {
		return nil, &failure.Refusal{Code: failure.InvalidProgram, Field: "program", Rule: "must be a word"}
	}
	return wordProgram{e.name, word}, nil
}

type wordProgram struct{ name, word string }

func (p wordProgram) Start(evaluator.Context) evaluator.Tick {
	if p.word == "panic in start" {
		panic("a bug")
	}
	return wordTick(p)
}

func (p wordProgram) Resume(evaluator.Context, []byte, *evaluator.Delivery) (evaluator.Tick, *failure.Failure) {
	switch p.word {
	case "call, then panic":
		panic("a bug")
	case "delegate, then breach":
		return wordTick{p.name, "breach"}, nil
	}
	return wordTick{p.name, "name"}, nil
}

// oneKid asks for a child that nobody waits for, and that calls a tool.
var oneKid, _ = value.FromJSON([]byte(`{"detach":true,"children":[{"name":"kid","program":`+callEcho+`,"grants":[`+allowEcho+`]}]}`), 4096)

type wordTick struct{ name, word string }

func (t wordTick) At() evaluator.Position             { return evaluator.Position{Kind: "WORD"} }
func (t wordTick) AppendCheckpoint(dst []byte) []byte { return append(dst, 1) }

func (t wordTick) Step() evaluator.Result {
	fail := func(code failure.Code) evaluator.Result {
		return evaluator.Result{Kind: evaluator.Failed, Failure: &failure.Failure{Code: code, Message: t.word}}
	}
	switch t.word {
	case "name":
		return evaluator.Result{Kind: evaluator.PureValue, Value: value.AppendString(nil, t.name)}
	case "call", "call, then panic":
		return evaluator.Result{Kind: evaluator.NeedsTool, Calls: []evaluator.Call{{Tool: "echo", Args: value.EmptyMap}}}
	case "delegate, then breach":
		return evaluator.Result{Kind: evaluator.NeedsTool, Calls: []evaluator.Call{{Tool: "agent.delegate", Args: oneKid}}}
	case "panic":
		panic("a bug")
	case "unreachable":
		return fail(failure.ToolUnreachable)
	case "breach":
		return fail(failure.InvariantBroken)
	case "unclassified":
		return fail(failure.InvalidState)
	case "no failure":
		return evaluator.Result{Kind: evaluator.Failed}
	}
	return fail(failure.ProgramFailed)
}

func words(t *testing.T) *kerneltest.Sim { return kerneltest.NewWith(t, 2, lookupWords) }

func wordAgent(s *kerneltest.Sim, name, word string) string {
	return s.Start(event.Define{Mode: "service", Evaluator: name, Program: kerneltest.Value(s.T, word)}, nil)
}

// EX-9: an evaluator is registered under a name and a version, and pinned by
// the agent's identity: two versions run beside each other, what is submitted
// later runs under the agent's own, and the same text under another evaluator
// is another program.
func TestEvaluatorsArePinned(t *testing.T) {
	s := words(t)
	one, two := wordAgent(s, "word/1", "name"), wordAgent(s, "word/2", "name")
	require.Equal(t, `"word/1"`, jsonOf(s, one))
	require.Equal(t, `"word/2"`, jsonOf(s, two))
	require.NotEqual(t, s.Row(one).Identity.Program, s.Row(two).Identity.Program)
	s.Must(event.AgentSubmit, event.Submit{Agent: two, Program: kerneltest.Value(t, "call")})
	s.Answer(true, nil)
	require.Equal(t, `"word/2"`, jsonOf(s, two))
	require.Equal(t, "std/1", s.Row(service(s, literal, nil)).Identity.Evaluator, "the default")

	unknown := s.Command(event.AgentDefine, event.Define{Evaluator: "word/3"})
	require.Equal(t, "evaluator", unknown.Refusal.Field)
	wrong := s.Command(event.AgentDefine, event.Define{Evaluator: "word/1", Program: kerneltest.JSON(t, literal)})
	require.Equal(t, failure.InvalidProgram, wrong.Refusal.Code)
	wrong = s.Command(event.AgentSubmit, event.Submit{Agent: one, Program: kerneltest.JSON(t, literal)})
	require.Equal(t, failure.InvalidProgram, wrong.Refusal.Code)
	s.Check()
}

// EX-9: a node whose binary lost an evaluator does not guess: the tick fails,
// nothing more is taken in for it, and everybody else goes on.
func TestEvaluatorThatIsGone(t *testing.T) {
	there := true
	lookup := func(name string) (evaluator.Evaluator, bool) {
		if !there && name == "word/1" {
			return nil, false
		}
		return lookupWords(name)
	}
	s := kerneltest.NewWith(t, 1, lookup)
	waiting, idle, other := wordAgent(s, "word/1", "call"), wordAgent(s, "word/1", "name"), wordAgent(s, "word/2", "name")
	there = false
	s.Replicas[0] = kerneltest.Restore(t, s.State(), lookup)
	s.Answer(true, nil)
	require.Equal(t, failure.CheckpointInvalid, codeOf(s, waiting))
	require.Equal(t, lifecycle.Faulted, s.StateOf(waiting))
	outcome := s.Command(event.AgentSubmit, event.Submit{Agent: idle, Program: kerneltest.Value(t, "new")})
	require.Equal(t, failure.InvalidProgram, outcome.Refusal.Code)
	s.Must(event.AgentSubmit, event.Submit{Agent: other})
	require.Equal(t, `"word/2"`, jsonOf(s, other))
}

// EX-11: a panic in an evaluator is that tick's failure, PERMANENT, wherever it
// comes; the kernel and the other agents go on.
func TestPanicInAnEvaluator(t *testing.T) {
	for _, word := range []string{"panic", "panic in start", "call, then panic"} {
		s := words(t)
		id := wordAgent(s, "word/1", word)
		if len(s.Pending) > 0 {
			s.Answer(true, nil)
		}
		require.Equal(t, failure.EvalPanic, codeOf(s, id), word)
		require.Equal(t, lifecycle.Faulted, s.StateOf(id))
		require.Equal(t, failure.Permanent, s.Row(id).Lifecycle.Fault)
		require.NotContains(t, s.Row(id).Execution.Result.Message, "a bug", "EV-13")
		require.Equal(t, "7", jsonOf(s, service(s, literal, nil)))
		s.Check()
	}
}

// LC-1, row 17: an INVARIANT_BREACH takes the agent past FAULTED to TERMINATED
// (SM-INV-06).
func TestBreachTerminates(t *testing.T) {
	s := words(t)
	id := wordAgent(s, "word/1", "breach")
	require.Equal(t, []string{"spawn", "activate", "breach"}, s.Path())
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.Equal(t, failure.InvariantBroken, codeOf(s, id))
	require.Equal(t, 1, s.Count(bus.QueueReleased))
	s.Check()
}

// EX-1: whatever an evaluator answers, a tick has one exit that says how the
// agent goes on.
func TestFailuresWithoutAClassEndTheTick(t *testing.T) {
	for _, word := range []string{"unclassified", "no failure"} {
		s := words(t)
		id := wordAgent(s, "word/1", word)
		require.Equal(t, failure.EvalFailure, codeOf(s, id), word)
		require.Equal(t, lifecycle.Faulted, s.StateOf(id))
		s.Check()
	}
}
