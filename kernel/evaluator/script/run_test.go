package script

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// testContext is what test scripts run in unless a test says otherwise.
var testContext = evaluator.Context{
	AgentID: "018f4e5c-0000-7000-8000-000000000001", AgentName: "tester", TickSeq: 3,
	Env: rawOf(map[string]any{"region": "eu"}),
}

// rawOf makes a value of what JSON makes of v.
func rawOf(v any) value.Raw {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	raw, problem := value.FromJSON(text, 1<<20)
	if problem != nil {
		panic(problem.String())
	}
	return raw
}

func rawJSON(t testing.TB, text string) value.Raw {
	raw, problem := value.FromJSON([]byte(text), 1<<20)
	require.Nil(t, problem, text)
	return raw
}

func compileSource(t testing.TB, src string) evaluator.Program {
	p, refusal := New().Compile(value.AppendString(nil, src))
	require.Nil(t, refusal, "%s\n%+v", src, refusal)
	return p
}

// mode is how the answers to calls reach a script.
type mode int

const (
	resumed   mode = iota // each call ends the run, as in the kernel
	straight              // calls are answered at once
	forgetful             // each call is asked for twice: its answer was lost once
)

// world answers a test script's calls.
type world struct {
	ctx         evaluator.Context
	answer      func(evaluator.Call) evaluator.Answer
	escalations []value.Raw // one after the other, before the answer to a delegate
}

// outcome is what a script did, and how it ended.
type outcome struct {
	trace []string
	last  evaluator.Result
	steps uint64 // of all runs together
	pass  uint64 // of the last run
	runs  int
}

func (o outcome) show() string {
	lines := append([]string(nil), o.trace...)
	switch {
	case o.last.Kind == evaluator.Failed:
		lines = append(lines, "fails "+string(o.last.Failure.Code)+": "+o.last.Failure.Message)
	case o.last.Again != nil:
		lines = append(lines, "again "+string(o.last.Again.AppendJSON(nil)))
	default:
		lines = append(lines, "gives "+string(o.last.Value.AppendJSON(nil)))
	}
	return strings.Join(lines, "\n")
}

// apart is what a script did with its calls and its emits apart: in a straight
// pass what was emitted shows only when it is over.
func (o outcome) apart() []string {
	var emits, others []string
	for line := range strings.Lines(o.show()) {
		if strings.HasPrefix(line, "emit ") {
			emits = append(emits, line)
			continue
		}
		others = append(others, line)
	}
	return append(others, emits...)
}

func echo(c evaluator.Call) evaluator.Answer { return evaluator.Answer{OK: true, Value: c.Args} }

// run takes a tick to its end.
func (w world) run(t testing.TB, p evaluator.Program, how mode) outcome {
	var o outcome
	if w.answer == nil {
		w.answer = echo
	}
	answerAll := func(calls []evaluator.Call) []evaluator.Answer {
		answers := make([]evaluator.Answer, len(calls))
		for i, c := range calls {
			line := "-> " + c.Tool + " " + string(c.Args.AppendJSON(nil))
			if len(calls) > 1 {
				line = "|" + line
			}
			o.trace = append(o.trace, line)
			answers[i] = w.answer(c)
		}
		return answers
	}
	running := p.Start(w.ctx).(*tick)
	if how == straight {
		running.answer = answerAll
	}
	asked := 0
	for {
		before := running.total
		o.last = running.Step()
		o.runs++
		o.pass = running.total - before
		o.steps += o.pass
		for _, emitted := range o.last.Emits {
			o.trace = append(o.trace, "emit "+string(emitted.AppendJSON(nil)))
		}
		var delivery *evaluator.Delivery
		switch o.last.Kind {
		case evaluator.NeedsDecision:
			d := o.last.Decision
			o.trace = append(o.trace, "decided "+string(rawOf([]any{d.Escalation, d.Approve, d.Reason}).AppendJSON(nil)))
			delivery = &evaluator.Delivery{}
		case evaluator.NeedsTool:
			delivery = &evaluator.Delivery{}
			if how == forgetful {
				if asked++; asked%2 == 1 {
					delivery = nil
				}
			}
		default:
			return o
		}
		if delivery != nil {
			pending := running.pendingCalls(t, p, o.last)
			if running.main.decides && running.handler == nil && len(w.escalations) > 0 {
				delivery.Escalation, w.escalations = w.escalations[0], w.escalations[1:]
			} else {
				delivery.Answers = answerAll(pending)
			}
		}
		next, fail := p.Resume(w.ctx, running.AppendCheckpoint(nil), delivery)
		require.Nil(t, fail)
		running = next.(*tick)
	}
}

// pendingCalls are the calls that a tick waits for: those of its last result,
// or, after a decision, those that it would ask for again.
func (t *tick) pendingCalls(tb testing.TB, p evaluator.Program, last evaluator.Result) []evaluator.Call {
	if last.Kind == evaluator.NeedsTool {
		return last.Calls
	}
	again, fail := p.Resume(t.ctx, t.AppendCheckpoint(nil), nil)
	require.Nil(tb, fail)
	result := again.Step()
	require.Equal(tb, evaluator.NeedsTool, result.Kind)
	return result.Calls
}
