package evaluator_test

import (
	"runtime"
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
	"comparing what is shared": {letOf("x", "${[[[[0]*9]*9]*9]*9}"), literalOf("${x == json_decode(json_encode(x))}"), ""},
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
				next, fail := p.Resume(testContext, tick.AppendCheckpoint(nil), &evaluator.Answer{OK: true, Value: last.Call.Args})
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
