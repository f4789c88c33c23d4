package script

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// FuzzCompile: any text is either a script or refused with a place and a rule;
// a script runs to an end without a panic, the same however it is suspended.
func FuzzCompile(f *testing.F) {
	for _, src := range goldenScripts(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		raw := value.Raw(value.AppendString(nil, strings.ToValidUTF8(src, "?")))
		p, refusal := New().Compile(raw)
		if refusal != nil {
			require.Nil(t, p)
			require.Equal(t, failure.InvalidProgram, refusal.Code)
			require.NotEmpty(t, refusal.Rule)
			require.NotContains(t, refusal.Rule, "panicked")
			return
		}
		w := world{ctx: testContext, answer: moody}
		o := w.run(t, p, resumed)
		require.LessOrEqual(t, o.pass, uint64(MaxSteps)+100)
		if o.last.Kind == evaluator.Failed {
			require.NotContains(t, []failure.Code{failure.EvalPanic, failure.ReplayDivergence}, o.last.Failure.Code)
			return // which of two bounds is met first may differ
		}
		require.Equal(t, o.apart(), w.run(t, p, straight).apart())
	})
}

// FuzzResume: any bytes are either a checkpoint, which is written the same
// again, or refused.
func FuzzResume(f *testing.F) {
	p := compileSource(f, `
def main(input):
    xs = [call("a", n).value for n in range(3)]
    xs += gather([("b",), ("c",)])
    return delegate([{"program": "x"}], decide=lambda asked: call("d").ok)
`)
	tick := p.Start(testContext)
	for r := tick.Step(); r.Kind == evaluator.NeedsTool; r = tick.Step() {
		checkpoint := tick.AppendCheckpoint(nil)
		f.Add(checkpoint, uint8(len(r.Calls)))
		d := &evaluator.Delivery{}
		for _, c := range r.Calls {
			d.Answers = append(d.Answers, echo(c))
		}
		if r.Calls[0].Tool == "agent.delegate" {
			d = &evaluator.Delivery{Escalation: rawOf(map[string]any{"escalation": 1})}
		}
		if r.Calls[0].Tool == "d" {
			break
		}
		next, fail := p.Resume(testContext, checkpoint, d)
		require.Nil(f, fail)
		tick = next
	}
	f.Fuzz(func(t *testing.T, checkpoint []byte, answers uint8) {
		var d *evaluator.Delivery
		if answers > 0 {
			d = &evaluator.Delivery{}
			for range min(answers, MaxParallel) {
				d.Answers = append(d.Answers, evaluator.Answer{OK: true, Value: value.Null})
			}
		}
		tick, fail := p.Resume(testContext, checkpoint, d)
		if fail != nil {
			require.Equal(t, failure.CheckpointInvalid, fail.Code)
			return
		}
		if d == nil {
			require.Equal(t, checkpoint, tick.AppendCheckpoint(nil))
		}
		if r := tick.Step(); r.Kind == evaluator.Failed {
			require.NotEqual(t, failure.EvalPanic, r.Failure.Code)
		}
	})
}
