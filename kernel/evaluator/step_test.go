package evaluator_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// EX-11: a panic in an evaluator is EVAL_PANIC, PERMANENT, in our own words.
func TestPanicIsAFailure(t *testing.T) {
	tick := evaluator.BrokenProgram().Start(testContext)
	assert.Equal(t, evaluator.Position{Kind: "UNKNOWN_KIND"}, tick.At())
	r := tick.Step()
	require.Equal(t, evaluator.Failed, r.Kind)
	assert.Equal(t, failure.EvalPanic, r.Failure.Code)
	assert.Equal(t, failure.Permanent, r.Failure.Class())
	assert.Equal(t, "evaluating the instruction panicked", r.Failure.Message)

	_, fail := evaluator.Resumable().Resume(testContext, []byte{0x83, 2, 0, 0x80}, nil)
	require.NotNil(t, fail)
	assert.Equal(t, failure.CheckpointInvalid, fail.Code)
}

// A tick that has ended does nothing more.
func TestEndedTick(t *testing.T) {
	tick := compile(t, `{kind: RETURN, payload: {value: 1}}`).Start(testContext)
	require.Equal(t, evaluator.PureValue, tick.Step().Kind)
	r := tick.Step()
	require.Equal(t, evaluator.Failed, r.Kind)
	assert.Equal(t, failure.InvalidState, r.Failure.Code)
}

// EX-1: what a tick was given and what it gave are never changed by what runs
// after it, whoever shares them.
func TestValuesStayAsTheyWere(t *testing.T) {
	p := compile(t, `
kind: SEQ
payload:
  steps:
    - {kind: LET, payload: {name: x, value: "${input.list}"}}
    - {kind: LET, payload: {name: y, value: "${x + [1]}"}}
    - {kind: CALL, payload: {tool: t, args: {x: "${x}", y: "${y}"}}}
    - {kind: MAP, payload: {over: "${y}", as: x, do: {kind: LITERAL, payload: {value: ["${x}", "${input}"]}}}}
`)
	ctx := testContext
	ctx.Input = rawYAML(t, `{list: [{a: 1}, text]}`)
	before := append(value.Raw(nil), ctx.Input...)
	var args, argsBefore value.Raw
	o := run(t, p, ctx, func(n int, call evaluator.Call) evaluator.Answer {
		args, argsBefore = call.Args, append(value.Raw(nil), call.Args...)
		return echo(n, call)
	}, straight)
	require.Equal(t, evaluator.PureValue, o.last.Kind, o.show())
	result := append(value.Raw(nil), o.last.Value...)
	run(t, p, ctx, echo, recovering)
	assert.Equal(t, before, ctx.Input)
	assert.Equal(t, argsBefore, args)
	assert.Equal(t, result, o.last.Value)
}

// Work counts what expressions and values cost beyond the step (EV-12).
func TestWork(t *testing.T) {
	work := func(src string) uint32 {
		ctx := testContext
		ctx.Input = rawGo(t, make([]any, 6400))
		tick := compile(t, src).Start(ctx)
		return tick.Step().Work
	}
	assert.Zero(t, work(`{kind: LITERAL, payload: {value: 1}}`))
	small := work(`{kind: LITERAL, payload: {value: "${1 + 2}"}}`)
	assert.Positive(t, small)
	assert.Less(t, small, uint32(10))
	assert.Greater(t, work(`{kind: LITERAL, payload: {value: "${input}"}}`), uint32(2*6400/64))
	assert.Greater(t, work(`{kind: LITERAL, payload: {value: "${[x for x in range(100)]}"}}`), uint32(100))
}

// A loop without end is the caller's to stop (EX-6): every Step returns.
func TestWorkOfOneStepIsBounded(t *testing.T) {
	tick := compile(t, `{kind: LITERAL, payload: {value: "${[0 for x in range(1000) for y in range(1000)]}"}}`).Start(testContext)
	r := tick.Step()
	require.Equal(t, evaluator.Failed, r.Kind)
	assert.Contains(t, []failure.Code{failure.WorkExceeded, failure.ValueTooLarge}, r.Failure.Code)
	assert.Less(t, r.Work, uint32(50_000))
}

// A handled answer has four members, whatever else the answer carried.
func TestEnvelope(t *testing.T) {
	p := compile(t, `{kind: CALL, payload: {tool: t, handle: true}}`)
	seven := rawGo(t, 7)
	for _, c := range []struct {
		answer evaluator.Answer
		want   string
	}{
		{evaluator.Answer{OK: true, Value: seven, Code: "X", Message: "x"}, `{"ok":true,"code":"","value":7,"message":""}`},
		{evaluator.Answer{OK: true}, `{"ok":true,"code":"","value":null,"message":""}`},
		{evaluator.Answer{Value: seven, Code: "X", Message: "x"}, `{"ok":false,"code":"X","value":null,"message":"x"}`},
	} {
		o := run(t, p, testContext, func(int, evaluator.Call) evaluator.Answer { return c.answer }, resuming)
		require.Equal(t, evaluator.PureValue, o.last.Kind, o.show())
		assert.Equal(t, c.want, string(o.last.Value.AppendJSON(nil)))
		assert.Nil(t, value.Check(o.last.Value, 1000))
	}
}

// Values that are read again are work (EV-12), and only in the step that reads.
func TestWorkOfReading(t *testing.T) {
	ctx := testContext
	ctx.Input = rawGo(t, make([]any, 6400))
	tick := compile(t, `
kind: SEQ
payload:
  steps:
    - {kind: LITERAL, payload: {value: "${len(input)}"}}
    - {kind: LITERAL, payload: {value: "${len(input)}"}}
    - {kind: LITERAL, payload: {value: 1}}
`).Start(ctx)
	require.Zero(t, tick.Step().Work)
	first, second := tick.Step().Work, tick.Step().Work
	assert.Equal(t, uint32(6400/64), first-second)
	assert.Less(t, second, uint32(10))
	assert.Zero(t, tick.Step().Work)
}

// One compiled program serves all ticks that run it, at once too.
func TestProgramIsShared(t *testing.T) {
	p := compile(t, nestedCalls)
	want := run(t, p, testContext, echo, resuming)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 20 {
				assert.Equal(t, want, run(t, p, testContext, echo, resuming))
			}
		})
	}
	wait.Wait()
}

// What is published is work by its bytes (EV-12), and stands beside whatever
// the step comes to.
func TestEmit(t *testing.T) {
	ctx := testContext
	ctx.MaxValueBytes = 7000
	ctx.Input = rawGo(t, make([]any, 6400))
	tick := compile(t, `{kind: EMIT, payload: {value: "${input}"}}`).Start(ctx)
	r := tick.Step()
	require.Equal(t, evaluator.PureValue, r.Kind)
	assert.Equal(t, []value.Raw{ctx.Input}, r.Emits)
	assert.Greater(t, r.Work, uint32(3*6400/64))

	constant := compileGo(t, instruction("EMIT", map[string]any{"value": strings.Repeat("x", 6400)}))
	assert.GreaterOrEqual(t, constant.Start(ctx).Step().Work, uint32(6400/64))

	tick = compile(t, `{kind: MAP, payload: {over: [1, 2], as: x, do: {kind: EMIT, payload: {value: "${input[:4000]}"}}}}`).Start(ctx)
	require.Equal(t, evaluator.NextInstruction, tick.Step().Kind)
	r = tick.Step()
	require.Equal(t, evaluator.NextInstruction, r.Kind)
	assert.Equal(t, uint64(4000), r.Emits[0].Len())
	r = tick.Step()
	require.Equal(t, evaluator.Failed, r.Kind, "the list of results is too large")
	assert.Equal(t, uint64(4000), r.Emits[0].Len())
}

// PE-3: what a child asks for reaches the handler within the bounds of values
// and a little more; beyond, it is declined without asking the handler.
func TestLargeEscalations(t *testing.T) {
	p := compile(t, `
kind: DELEGATE
payload:
  children: [{program: {kind: RETURN}}]
  on_escalation: {as: e, do: {kind: SEQ, payload: {steps: [{kind: WAIT, payload: {ms: 1}}, {kind: LITERAL, payload: {value: true}}]}}}
`)
	ctx := testContext
	ctx.MaxValueBytes = 1000
	ask := func(args any) evaluator.Delivery {
		return evaluator.Delivery{Escalation: rawGo(t, map[string]any{"escalation": 5, "args": args})}
	}
	step := func(d evaluator.Delivery) (evaluator.Tick, evaluator.Result) {
		tick, fail := p.Resume(ctx, checkpointOf(t, p, ctx, 1), &d)
		require.Nil(t, fail)
		return tick, tick.Step()
	}
	tick, r := step(ask(strings.Repeat("x", 2900)))
	require.Equal(t, evaluator.NextInstruction, r.Kind)
	require.Equal(t, evaluator.NextInstruction, tick.Step().Kind)
	require.Equal(t, evaluator.NeedsTool, tick.Step().Kind)
	_, fail := p.Resume(ctx, tick.AppendCheckpoint(nil), nil)
	require.Nil(t, fail, "what was delivered can be remembered")

	deepest := any([]any{})
	for range value.MaxDepth - 1 {
		deepest = []any{deepest}
	}
	for _, c := range []struct {
		delivery evaluator.Delivery
		reason   string
	}{
		{ask(strings.Repeat("x", 3100)), "VALUE_TOO_LARGE: what the child asks for is larger than 1000 bytes"},
		{evaluator.Delivery{Escalation: deep(rawGo(t, deepest))}, "VALUE_TOO_LARGE: lists and maps are nested deeper than 64"},
	} {
		tick, r := step(c.delivery)
		require.Equal(t, evaluator.NeedsDecision, r.Kind)
		assert.Equal(t, &evaluator.Decision{Escalation: 5, Reason: c.reason}, r.Decision)
		assert.Equal(t, checkpointOf(t, p, ctx, 1), tick.AppendCheckpoint(nil), "it waits as before")
	}
}

// deep is an escalation around arguments that are nested as deep as can be.
func deep(args value.Raw) value.Raw {
	raw := value.AppendMapHeader(nil, 2)
	raw = append(value.AppendString(raw, "args"), args...)
	return value.AppendInt(value.AppendString(raw, "escalation"), 5)
}

// The codes that no TRY catches: the tick's bounds, its authority, and a
// kernel that is wrong.
func TestWhatCannotBeCaught(t *testing.T) {
	p := compile(t, `{kind: TRY, payload: {do: {kind: CALL, payload: {tool: t}}, catch: [{as: e, do: {kind: LITERAL, payload: {value: "${e.code}"}}}]}}`)
	end := func(code failure.Code) evaluator.Result {
		return run(t, p, testContext, func(int, evaluator.Call) evaluator.Answer { return evaluator.Answer{Code: code} }, resuming).last
	}
	for _, code := range []failure.Code{
		"EVAL_PANIC", "CHECKPOINT_INVALID", "WORK_EXCEEDED", "TICK_OVERFLOW", "CALL_OVERFLOW", "INVALID_STATE", "KILLED",
		"TOKEN_REVOKED", "TOKEN_EXPIRED", "INVARIANT_BREACH",
	} {
		r := end(code)
		require.Equal(t, evaluator.Failed, r.Kind, code)
		assert.Equal(t, code, r.Failure.Code)
	}
	for _, code := range []failure.Code{
		"EVAL_FAILURE", "VALUE_TOO_LARGE", "PERMISSION_DENIED", "WAIT_TIMEOUT", "OUTCOME_UNKNOWN", "WITHDRAWN", "TOOL_UNKNOWN",
		"TOOL_TIMEOUT", "TOOL_FAILED", "PROGRAM_FAILED", "LOOP_OVERFLOW", "VERSION_CONFLICT", "MEMORY_FULL", "REJECTED", "MADE_UP",
	} {
		r := end(code)
		require.Equal(t, evaluator.PureValue, r.Kind, code)
		assert.Equal(t, rawGo(t, string(code)), r.Value)
	}
}
