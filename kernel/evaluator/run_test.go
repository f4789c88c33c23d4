package evaluator_test

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// maxTestSteps ends a run that does not end by itself.
const maxTestSteps = 500

var testContext = evaluator.Context{
	AgentID: "0190b0c0-0000-7000-8000-000000000001", AgentName: "tester", TickSeq: 3, BusSeqAt: 77,
}

// std is std/1 as users find it.
func std(t require.TestingT) evaluator.Evaluator {
	e, ok := evaluator.Lookup("std/1")
	require.True(t, ok)
	return e
}

func rawYAML(t require.TestingT, src string) value.Raw {
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(src), &v), src)
	return rawGo(t, v)
}

func rawGo(t require.TestingT, v any) value.Raw {
	raw, problem := value.FromGo(v)
	require.Nil(t, problem)
	return raw
}

func compile(t require.TestingT, src string) evaluator.Program {
	p, refusal := std(t).Compile(rawYAML(t, src))
	require.Nil(t, refusal, "%+v\n%s", refusal, src)
	return p
}

// outcome is all that a run shows to its caller.
type outcome struct {
	trace   []string // positions and calls
	last    evaluator.Result
	steps   int
	resumed int
}

// tools answers the nth call, counted from 0.
type tools func(n int, call evaluator.Call) evaluator.Answer

// crossing is how a run gets over a call.
type crossing func(t require.TestingT, p evaluator.Program, ctx evaluator.Context, tick evaluator.Tick,
	call evaluator.Call, answer evaluator.Answer) evaluator.Tick

// straight hands the live tick its answer.
func straight(_ require.TestingT, _ evaluator.Program, _ evaluator.Context, tick evaluator.Tick,
	_ evaluator.Call, answer evaluator.Answer,
) evaluator.Tick {
	evaluator.Continue(tick, &answer)
	return tick
}

// resuming goes through a checkpoint, as the kernel does.
func resuming(t require.TestingT, p evaluator.Program, ctx evaluator.Context, tick evaluator.Tick,
	_ evaluator.Call, answer evaluator.Answer,
) evaluator.Tick {
	next, fail := p.Resume(ctx, tick.AppendCheckpoint(nil), &answer)
	require.Nil(t, fail, "%+v", fail)
	require.Equal(t, evaluator.Store(tick), evaluator.Store(next), "what is remembered is counted right")
	return next
}

// recovering restores the tick, sees it ask again (FA-1), and only then
// answers.
func recovering(t require.TestingT, p evaluator.Program, ctx evaluator.Context, tick evaluator.Tick,
	call evaluator.Call, answer evaluator.Answer,
) evaluator.Tick {
	checkpoint := tick.AppendCheckpoint(nil)
	again, fail := p.Resume(ctx, checkpoint, nil)
	require.Nil(t, fail, "%+v", fail)
	require.Equal(t, tick.At(), again.At())
	r := again.Step()
	require.Equal(t, evaluator.NeedsTool, r.Kind, "%+v", r)
	require.Equal(t, call, *r.Call)
	require.Equal(t, checkpoint, again.AppendCheckpoint(nil))
	return resuming(t, p, ctx, again, call, answer)
}

// run runs a program to its end.
func run(t require.TestingT, p evaluator.Program, ctx evaluator.Context, answers tools, cross crossing) outcome {
	var o outcome
	tick := p.Start(ctx)
	for ; o.steps < maxTestSteps; o.steps++ {
		at := tick.At()
		r := tick.Step()
		o.trace = append(o.trace, fmt.Sprint(at.Node, " ", at.Kind))
		switch r.Kind {
		case evaluator.NextInstruction:
			continue
		case evaluator.NeedsTool:
			o.trace = append(o.trace, showCall(*r.Call))
			limit := max(int(ctx.MaxCheckpointBytes), 1)
			if ctx.MaxCheckpointBytes == 0 {
				limit = evaluator.DefaultMaxCheckpointBytes
			}
			require.LessOrEqual(t, len(tick.AppendCheckpoint(nil)), limit)
			tick = cross(t, p, ctx, tick, *r.Call, answers(o.resumed, *r.Call))
			o.resumed++
			continue
		}
		r.Work = 0 // a restored tick reads its values again
		o.last = r
		return o
	}
	o.last = evaluator.Result{}
	return o
}

func showCall(c evaluator.Call) string {
	s := "-> " + c.Tool + " " + string(c.Args.AppendJSON(nil))
	if c.TimeoutMillis != 0 {
		s += fmt.Sprint(" within ", c.TimeoutMillis)
	}
	return s
}

// show writes an outcome as transcripts have it.
func (o outcome) show() string {
	lines := append([]string(nil), o.trace...)
	switch {
	case o.last.Kind == evaluator.Failed:
		lines = append(lines, "failure "+showFailure(o.last.Failure))
	case o.last.Value == nil:
		lines = append(lines, "… and so on")
	default:
		lines = append(lines, "value "+string(o.last.Value.AppendJSON(nil)))
	}
	return strings.Join(lines, "\n") + "\n"
}

func showFailure(f *failure.Failure) string {
	s := fmt.Sprint(f.Code, " at ", f.Node)
	if f.Line > 0 {
		s += fmt.Sprint(" line ", f.Line, " column ", f.Column)
	}
	return s + ": " + f.Message
}

// echo answers every call with its arguments.
func echo(_ int, call evaluator.Call) evaluator.Answer {
	return evaluator.Answer{OK: true, Value: call.Args}
}
