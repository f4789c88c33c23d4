package evaluator_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// bombs are programs that grow from step to step. What one expression can do is
// tested in package expr.
var bombs = map[string]struct {
	first, again any // again is run over and over
	code         failure.Code
}{
	"text that doubles":        {letOf("x", "0123456789"), letOf("x", "${x + x}"), failure.ValueTooLarge},
	"lists that double":        {letOf("x", []any{1}), letOf("x", []any{"${x}", "${x}"}), failure.ValueTooLarge},
	"lists that nest":          {letOf("x", []any{}), letOf("x", []any{"${x}"}), failure.ValueTooLarge},
	"maps that square":         {letOf("x", map[string]any{"k": 1}), letOf("x", "${{str(i): x for i in range(9)}}"), failure.ValueTooLarge},
	"integers that square":     {letOf("x", 3), letOf("x", "${x * x}"), failure.ValueTooLarge},
	"results that nest":        {letOf("x", []any{1, 1}), letDo("x", mapOf("${x}", "y", literalOf("${x}"))), failure.ValueTooLarge},
	"answers that wrap":        {letOf("x", "a"), letDo("x", instruction("CALL", map[string]any{"tool": "t", "args": "${x}", "handle": true})), failure.ValueTooLarge},
	"loops that double":        {letOf("x", "0123456789"), loopOf(100, letOf("x", "${x + x}")), failure.ValueTooLarge},
	"failures that are caught": {letOf("x", "0123456789"), tryOf(letOf("x", "${x + x}"), literalOf(0)), ""},
	"items that do not fit":    {letOf("x", "${['y' * 60000]}"), tryOf(mapOf("${x}", "a", mapOf("${x}", "b", mapOf("${x}", "c", mapOf("${x}", "d", literalOf("${x}"))))), literalOf(0)), ""},
	"calls that double":        {letOf("x", "a"), letDo("x", parallelOf("${x}", "${x}")), failure.ValueTooLarge},
	"calls that are many":      {letOf("x", "${'a' * 30000}"), letDo("x", parallelOf("${x}", "${x}", "${x}", "${x}", "${x}")), failure.ValueTooLarge},
	"children that are many":   {letOf("x", "${list(range(1000))}"), childrenOf("${x}", "${[0 for i in range(100)]}"), failure.WorkExceeded},
	"children that are large":  {letOf("x", "${list(range(1000))}"), childrenOf("${x}", "${x}"), failure.ValueTooLarge},
	"children of children":     {letOf("x", []any{1, 1}), letDo("x", childrenOf("${[x, x]}", "${y}")), failure.ValueTooLarge},
	"what is published":        {letOf("x", []any{1}), letDo("x", instruction("EMIT", map[string]any{"value": []any{"${x}", "${x}"}})), failure.ValueTooLarge},
	"comparing what is shared": {letOf("x", "${[[[[0]*9]*9]*9]*9}"), literalOf("${x == json_decode(json_encode(x))}"), ""},
}

func loopOf(most int, do any) map[string]any {
	return instruction("LOOP", map[string]any{"max": most, "do": do})
}

func tryOf(do, instead any) map[string]any {
	return instruction("TRY", map[string]any{"do": do, "catch": []any{map[string]any{"do": instead}}})
}

func parallelOf(args ...any) map[string]any {
	calls := make([]any, len(args))
	for i := range args {
		calls[i] = map[string]any{"tool": "t", "args": args[i]}
	}
	return instruction("PARALLEL", map[string]any{"calls": calls})
}

func childrenOf(over, input any) map[string]any {
	child := map[string]any{"input": input, "program": literalOf(0)}
	return instruction("DELEGATE", map[string]any{"children": map[string]any{"over": over, "as": "y", "child": child}})
}

func letDo(name string, do any) map[string]any {
	return instruction("LET", map[string]any{"name": name, "do": do})
}

func mapOf(over any, as string, do any) map[string]any {
	return instruction("MAP", map[string]any{"over": over, "as": as, "do": do})
}

// EX-11: what grows is stopped by a coded failure, and no step takes much memory
// on the way there.
func TestBombs(t *testing.T) {
	for what, bomb := range bombs {
		steps := []any{bomb.first}
		for range 100 {
			steps = append(steps, bomb.again)
		}
		p := compileGo(t, seqOf(steps...))
		tick := p.Start(testContext)
		var last evaluator.Result
		for range 3000 {
			before := allocated()
			last = tick.Step()
			require.Less(t, allocated()-before, uint64(8<<20), what)
			if last.Kind == evaluator.NeedsTool {
				var d evaluator.Delivery
				for _, call := range last.Calls {
					d.Answers = append(d.Answers, evaluator.Answer{OK: true, Value: call.Args})
				}
				next, fail := p.Resume(testContext, tick.AppendCheckpoint(nil), &d)
				require.Nil(t, fail)
				tick = next
				continue
			}
			if last.Kind != evaluator.NextInstruction {
				break
			}
		}
		if bomb.code == "" {
			assert.Equal(t, evaluator.PureValue, last.Kind, what)
		} else if assert.Equal(t, evaluator.Failed, last.Kind, what) {
			assert.Equal(t, bomb.code, last.Failure.Code, "%s: %s", what, last.Failure.Message)
		}
	}
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// EX-6: a LOOP takes steps, however little it does, and no memory: the bound on
// the steps of a tick ends it.
func TestLoopsTakeSteps(t *testing.T) {
	nested := any(literalOf(0))
	for range 20 {
		nested = loopOf(evaluator.MaxRounds, nested)
	}
	tick := compileGo(t, nested).Start(testContext)
	before := allocated()
	for range 100_000 {
		require.Equal(t, evaluator.NextInstruction, tick.Step().Kind)
	}
	require.Less(t, allocated()-before, uint64(1<<20))
}

// Programs of children inside each other are compiled once each: what a program
// costs to compile grows with its bytes.
func TestProgramsOfChildrenAreCompiledOnce(t *testing.T) {
	cost := func(generations int) uint64 {
		p := any(seqOf(letOf("x", strings.Repeat("${1}", 2000)), literalOf("${x}")))
		for range generations - 1 {
			p = instruction("DELEGATE", map[string]any{"children": []any{map[string]any{"program": p}}})
		}
		raw := rawGo(t, p)
		before := allocated()
		_, refusal := std(t).Compile(raw)
		require.Nil(t, refusal)
		return allocated() - before
	}
	once := cost(1)
	assert.Less(t, cost(evaluator.MaxGenerations), 2*once)
}
