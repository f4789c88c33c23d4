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

// std is std/1.
func std(require.TestingT) evaluator.Evaluator { return evaluator.Std() }

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

// crossing is how a run gets over a place where it waits. asked is what the
// tick has just asked for, nil where it waits on after a decision.
type crossing func(t require.TestingT, p evaluator.Program, ctx evaluator.Context, tick evaluator.Tick,
	asked []evaluator.Call, d *evaluator.Delivery) evaluator.Tick

// straight hands the live tick what it waits for.
func straight(t require.TestingT, _ evaluator.Program, _ evaluator.Context, tick evaluator.Tick,
	_ []evaluator.Call, d *evaluator.Delivery,
) evaluator.Tick {
	require.True(t, evaluator.Continue(tick, d))
	return tick
}

// resuming goes through a checkpoint, as the kernel does.
func resuming(t require.TestingT, p evaluator.Program, ctx evaluator.Context, tick evaluator.Tick,
	_ []evaluator.Call, d *evaluator.Delivery,
) evaluator.Tick {
	next, fail := p.Resume(ctx, tick.AppendCheckpoint(nil), d)
	require.Nil(t, fail, "%+v", fail)
	require.Equal(t, evaluator.Store(tick), evaluator.Store(next), "what is remembered is counted right")
	return next
}

// recovering restores the tick, sees it ask again (FA-1), and only then
// answers. After a decision the variables may be others than when it asked.
func recovering(t require.TestingT, p evaluator.Program, ctx evaluator.Context, tick evaluator.Tick,
	asked []evaluator.Call, d *evaluator.Delivery,
) evaluator.Tick {
	if asked == nil {
		return resuming(t, p, ctx, tick, asked, d)
	}
	checkpoint := tick.AppendCheckpoint(nil)
	again, fail := p.Resume(ctx, checkpoint, nil)
	require.Nil(t, fail, "%+v", fail)
	require.Equal(t, tick.At(), again.At())
	r := again.Step()
	require.Equal(t, evaluator.NeedsTool, r.Kind, "%+v", r)
	require.Equal(t, asked, r.Calls)
	require.Equal(t, checkpoint, again.AppendCheckpoint(nil))
	return resuming(t, p, ctx, again, asked, d)
}

// run runs a program to its end.
func run(t require.TestingT, p evaluator.Program, ctx evaluator.Context, answers tools, cross crossing) outcome {
	return world{ctx: ctx, answers: answers}.run(t, p, cross)
}

// world is what is around a run. Each DELEGATE that has a handler sees all the
// escalations before it is answered.
type world struct {
	ctx         evaluator.Context
	answers     tools
	escalations []value.Raw
}

// waiting is a request that has no answer yet.
type waiting struct {
	calls     []evaluator.Call
	escalated int
}

func (w world) run(t require.TestingT, p evaluator.Program, cross crossing) outcome {
	var o outcome
	var open []waiting // a handler's requests are inside its DELEGATE's
	tick := p.Start(w.ctx)
	for ; o.steps < maxTestSteps; o.steps++ {
		at := tick.At()
		r := tick.Step()
		o.trace = append(o.trace, fmt.Sprint(at.Node, " ", at.Kind))
		for _, emitted := range r.Emits {
			require.Nil(t, value.Check(emitted, evaluator.DefaultMaxValueBytes))
			o.trace = append(o.trace, "emit "+string(emitted.AppendJSON(nil)))
		}
		switch r.Kind {
		case evaluator.NextInstruction:
			continue
		case evaluator.NeedsTool:
			for _, call := range r.Calls {
				require.Nil(t, value.Check(call.Args, evaluator.DefaultMaxValueBytes))
				o.trace = append(o.trace, showCall(call))
			}
			open = append(open, waiting{calls: r.Calls})
		case evaluator.NeedsDecision:
			d := r.Decision
			o.trace = append(o.trace, strings.TrimSpace(fmt.Sprint("decided ", d.Escalation, " ", d.Approve, " ", d.Reason)))
		default:
			r.Work = 0 // a restored tick reads its values again
			o.last = r
			return o
		}
		limit := int(w.ctx.MaxCheckpointBytes)
		if limit == 0 {
			limit = evaluator.DefaultMaxCheckpointBytes
		}
		require.LessOrEqual(t, len(tick.AppendCheckpoint(nil)), limit)
		d := w.deliver(&o, &open)
		tick = cross(t, p, w.ctx, tick, r.Calls, d)
	}
	o.last = evaluator.Result{}
	return o
}

// deliver gives the innermost request what comes next for it.
func (w world) deliver(o *outcome, open *[]waiting) *evaluator.Delivery {
	top := &(*open)[len(*open)-1]
	if _, handled := top.calls[0].Args.Get("on_escalation"); handled && top.calls[0].Tool == "agent.delegate" && top.escalated < len(w.escalations) {
		top.escalated++
		return &evaluator.Delivery{Escalation: w.escalations[top.escalated-1]}
	}
	var d evaluator.Delivery
	for _, call := range top.calls {
		d.Answers = append(d.Answers, w.answers(o.resumed, call))
		o.resumed++
	}
	*open = (*open)[:len(*open)-1]
	return &d
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

// echo answers every call with its arguments, which is also what is stored.
func echo(_ int, call evaluator.Call) evaluator.Answer {
	v := call.Args
	if call.Tool == "memory.read" || call.Tool == "shared.read" {
		v = value.AppendMapHeader(nil, 3)
		v = append(value.AppendString(v, "found"), value.True...)
		v = append(value.AppendString(v, "value"), call.Args...)
		v = value.AppendInt(value.AppendString(v, "version"), 1)
	}
	return evaluator.Answer{OK: true, Value: v}
}

func delivering(answers ...evaluator.Answer) *evaluator.Delivery {
	return &evaluator.Delivery{Answers: answers}
}
