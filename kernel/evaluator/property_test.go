package evaluator_test

import (
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
	calls := 0
	check := func(t *rapid.T) {
		body := program(rapid.IntRange(1, 5).Draw(t, "depth")).Draw(t, "program")
		raw := rawGo(t, bound(body))
		ctx := testContext
		ctx.Input = rawGo(t, map[string]any{"list": []any{1, []any{2.5}, "three"}})
		first, refusal := std(t).Compile(raw)
		require.Nil(t, refusal)
		second, refusal := std(t).Compile(raw)
		require.Nil(t, refusal)

		o := run(t, first, ctx, moody, straight)
		require.Equal(t, o, run(t, first, ctx, moody, straight), "the same program twice")
		require.Equal(t, o, run(t, second, ctx, moody, straight), "compiled twice")
		require.Equal(t, o, run(t, first, ctx, moody, resuming), "through checkpoints")
		require.Equal(t, o, run(t, second, ctx, moody, recovering), "through recoveries")

		calls += o.resumed
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
	for _, code := range []failure.Code{failure.EvalFailure, failure.ProgramFailed, failure.ToolFailed} {
		require.Positive(t, ended[string(code)], "%v", ended)
	}
	require.Greater(t, calls, 500)
}

// EX-8: a checkpoint that was changed in any byte is refused, or is the
// checkpoint of another store; it never panics.
func TestChangedCheckpoints(t *testing.T) {
	p := compile(t, nestedCalls)
	checkpoint := checkpointOf(t, p, testContext, 3)
	rapid.Check(t, func(t *rapid.T) {
		changed := append([]byte(nil), checkpoint...)
		at := rapid.IntRange(0, len(changed)-1).Draw(t, "at")
		changed[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		if rapid.Bool().Draw(t, "cut") {
			changed = changed[:at]
		}
		resumeAnything(t, p, changed)
	})
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
	tick, fail = p.Resume(testContext, checkpoint, &answer)
	require.Nil(t, fail)
	for range 100 {
		r := tick.Step()
		if r.Kind == evaluator.Failed {
			require.NotEqual(t, failure.EvalPanic, r.Failure.Code)
		}
		if r.Kind != evaluator.NextInstruction {
			return
		}
	}
}
