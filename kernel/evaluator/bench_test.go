package evaluator_test

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
)

const threeSteps = `
kind: SEQ
payload:
  steps:
    - {kind: LET, payload: {name: x, value: "${input.n + 1}"}}
    - {kind: LET, payload: {name: y, value: {double: "${x * 2}"}}}
    - {kind: RETURN, payload: {value: "${y.double}"}}
`

const threeConstants = `
kind: SEQ
payload:
  steps:
    - {kind: LET, payload: {name: x, value: 1}}
    - {kind: LET, payload: {name: y, value: {double: 2}}}
    - {kind: RETURN, payload: {value: done}}
`

// oneTick runs a program that calls nothing.
func oneTick(p evaluator.Program, ctx evaluator.Context) evaluator.Result {
	tick := p.Start(ctx)
	for {
		if r := tick.Step(); r.Kind != evaluator.NextInstruction {
			return r
		}
	}
}

func benchmarkTick(b *testing.B, src string) {
	p := compile(b, src)
	ctx := testContext
	ctx.Input = rawYAML(b, `{n: 4}`)
	require.Equal(b, evaluator.PureValue, oneTick(p, ctx).Kind)
	b.ReportAllocs()
	for b.Loop() {
		oneTick(p, ctx)
	}
}

// A whole tick of SEQ, LET, LET, RETURN: the kernel's budget is 40 µs a tool
// step, so the evaluator must stay far below.
func BenchmarkThreeSteps(b *testing.B)     { benchmarkTick(b, threeSteps) }
func BenchmarkThreeConstants(b *testing.B) { benchmarkTick(b, threeConstants) }

// A tick that waits once: start, call, checkpoint, resume, answer, end.
func BenchmarkToolStep(b *testing.B) {
	p := compile(b, `
kind: SEQ
payload:
  steps:
    - {kind: LET, payload: {name: x, value: 1}}
    - {kind: LET, payload: {name: r, do: {kind: CALL, payload: {tool: echo, args: {x: "${x}"}}}}}
    - {kind: RETURN, payload: {value: "${r.x}"}}
`)
	b.ReportAllocs()
	var checkpoint []byte
	for b.Loop() {
		tick := p.Start(testContext)
		r := tick.Step()
		for r.Kind == evaluator.NextInstruction {
			r = tick.Step()
		}
		checkpoint = tick.AppendCheckpoint(checkpoint[:0])
		tick, _ = p.Resume(testContext, checkpoint, delivering(evaluator.Answer{OK: true, Value: r.Calls[0].Args}))
		for r.Kind != evaluator.PureValue {
			r = tick.Step()
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	raw := rawYAML(b, nestedCalls)
	b.ReportAllocs()
	for b.Loop() {
		std(b).Compile(raw)
	}
}

// Allocations are pinned, since they are not noisy. Where a word has 32 bits,
// every integer that an expression computes is allocated too.
func TestAllocationsOfATick(t *testing.T) {
	ctx := testContext
	ctx.Input = rawYAML(t, `{n: 4}`)
	for _, c := range []struct {
		program    string
		on64, on32 float64
	}{
		{threeConstants, 2, 2},
		{threeSteps, 10, 13},
	} {
		p, most := compile(t, c.program), c.on64
		if bits.UintSize == 32 {
			most = c.on32
		}
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { oneTick(p, ctx) }), most, c.program)
	}
}
