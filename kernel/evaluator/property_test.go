package evaluator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// EX-8, EX-3, FA-1, INV-20: a run shows the same positions, calls and end
// whether it keeps its ephemeral store or restores it at every call, whether it
// recovers there, and however often it is run.
func TestRunsAreEqual(t *testing.T) {
	ended := map[string]int{}
	seen := map[string]int{}
	calls, decisions := 0, 0
	check := func(t *rapid.T) {
		body := program(rapid.IntRange(1, 5).Draw(t, "depth")).Draw(t, "program")
		raw := rawGo(t, bound(body))
		ctx := testContext
		ctx.Input = rawGo(t, map[string]any{"list": []any{1, []any{2.5}, "three"}})
		ctx.MaxCheckpointBytes = rapid.SampledFrom([]uint32{0, 0, 0, 120, 200}).Draw(t, "checkpoint")
		ctx.MaxValueBytes = rapid.SampledFrom([]uint32{0, 0, 0, 400}).Draw(t, "value")
		w := moodyWorld(t, ctx)
		first, refusal := std(t).Compile(raw)
		require.Nil(t, refusal)
		second, refusal := std(t).Compile(raw)
		require.Nil(t, refusal)

		o := w.run(t, first, straight)
		require.Equal(t, o, w.run(t, first, straight), "the same program twice")
		require.Equal(t, o, w.run(t, second, straight), "compiled twice")
		require.Equal(t, o, w.run(t, first, resuming), "through checkpoints")
		require.Equal(t, o, w.run(t, second, recovering), "through recoveries")

		calls += o.resumed
		for _, line := range o.trace {
			seen[line[strings.Index(line, " ")+1:]]++
			if strings.HasPrefix(line, "decided") {
				decisions++
			}
		}
		end := o.last.Kind.String()
		if o.last.Kind == evaluator.Failed {
			end = string(o.last.Failure.Code)
			require.NotEqual(t, failure.EvalPanic, o.last.Failure.Code)
		}
		ended[end]++
	}
	for range 20 {
		rapid.Check(t, check)
	}
	// The programs are of use only if they get somewhere.
	require.Greater(t, ended["PURE_VALUE"], 200, "%v", ended)
	for _, code := range []failure.Code{
		failure.EvalFailure, failure.ProgramFailed, failure.ToolFailed, failure.LoopOverflow, failure.ValueTooLarge,
	} {
		require.Positive(t, ended[string(code)], "%v", ended)
	}
	require.Greater(t, calls, 500)
	require.Greater(t, decisions, 100)
	for _, kind := range everyKind {
		require.Greater(t, seen[kind], 50, kind)
	}
}

// EX-8: a checkpoint that was changed in any byte is refused, or is the
// checkpoint of another store; it never panics.
func TestChangedCheckpoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, nth := compile(t, nestedCalls), 3
		if rapid.Bool().Draw(t, "all frames") {
			p, nth = compile(t, everyFrame), rapid.IntRange(1, 6).Draw(t, "nth")
		}
		checkpoint := checkpointOf(t, p, testContext, nth)
		changed := append([]byte(nil), checkpoint...)
		at := rapid.IntRange(0, len(changed)-1).Draw(t, "at")
		changed[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		if rapid.Bool().Draw(t, "cut") {
			changed = changed[:at]
		}
		resumeAnything(t, p, changed)
	})
}

// everyKind lists the instructions.
var everyKind = []string{
	"LITERAL", "LET", "SEQ", "BRANCH", "MAP", "CALL", "RETURN", "FAIL", "LOOP", "TRY",
	"READ", "WRITE", "SHARE", "WAIT", "RECEIVE", "EMIT", "PARALLEL", "DELEGATE",
}

// resumeAnything resumes from bytes that may be anything. If they are accepted,
// the tick they describe has exactly that checkpoint, and runs.
func resumeAnything(t require.TestingT, p evaluator.Program, checkpoint []byte) {
	tick, fail := p.Resume(testContext, checkpoint, nil)
	if fail != nil {
		require.Equal(t, failure.CheckpointInvalid, fail.Code)
		require.Nil(t, tick)
		return
	}
	require.Equal(t, checkpoint, tick.AppendCheckpoint(nil))
	answer := evaluator.Answer{OK: true, Value: rawGo(t, 1)}
	deliveries := []*evaluator.Delivery{nil, delivering(answer)}
	switch tick.At().Kind {
	case "PARALLEL":
		deliveries[1] = delivering(answer, answer)
	case "DELEGATE":
		deliveries = append(deliveries, &evaluator.Delivery{Escalation: rawGo(t, map[string]any{"escalation": 3})})
	}
	for _, d := range deliveries {
		tick, fail = p.Resume(testContext, checkpoint, d)
		require.Nil(t, fail)
		for range 100 {
			r := tick.Step()
			if r.Kind == evaluator.Failed {
				require.NotEqual(t, failure.EvalPanic, r.Failure.Code)
			}
			if r.Kind == evaluator.NeedsTool || r.Kind == evaluator.NeedsDecision {
				_, fail := p.Resume(testContext, tick.AppendCheckpoint(nil), nil)
				require.Nil(t, fail)
			}
			if r.Kind != evaluator.NextInstruction {
				break
			}
		}
	}
}
