package evaluator_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
)

// Every kind refuses a payload that is no map, and a field that it does not
// know; parts of payloads do too.
func TestUnknownFields(t *testing.T) {
	for _, kind := range everyKind {
		refusal := refusalOf(t, map[string]any{"kind": kind, "payload": 7})
		require.NotNil(t, refusal, kind)
		assert.Equal(t, "program.payload", refusal.Field, kind)
		assert.Equal(t, "must be a map, not an integer", refusal.Rule, kind)

		refusal = refusalOf(t, instruction(kind, map[string]any{"what is this": 1}))
		require.NotNil(t, refusal, kind)
		assert.Equal(t, `program.payload["what is this"]`, refusal.Field, kind)
		assert.Equal(t, "unknown field", refusal.Rule, kind)
	}
	odd := map[string]any{"odd": 1}
	child := []any{map[string]any{"program": literalOf(0)}}
	for field, program := range map[string]any{
		"catch[0].odd":       instruction("TRY", map[string]any{"do": literalOf(0), "catch": []any{odd}}),
		"calls[0].odd":       instruction("PARALLEL", map[string]any{"calls": []any{odd, odd}}),
		"children[0].odd":    instruction("DELEGATE", map[string]any{"children": []any{odd}}),
		"children.odd":       instruction("DELEGATE", map[string]any{"children": odd}),
		"children.child.odd": instruction("DELEGATE", map[string]any{"children": map[string]any{"over": []any{}, "as": "x", "child": odd}}),
		"on_escalation.odd":  instruction("DELEGATE", map[string]any{"children": child, "on_escalation": odd}),
	} {
		refusal := refusalOf(t, program)
		require.NotNil(t, refusal, field)
		assert.Equal(t, "program.payload."+field, refusal.Field)
		assert.Equal(t, "unknown field", refusal.Rule, field)
	}
	for _, flag := range []string{"handle", "detach", "fail_fast"} {
		refusal := refusalOf(t, instruction("DELEGATE", map[string]any{"children": child, flag: "${True}"}))
		require.NotNil(t, refusal, flag)
		assert.Equal(t, "program.payload."+flag, refusal.Field)
	}
}

// What is wrong in the expressions of any field is found when compiling, with
// the field's path.
func TestExpressionsOfEveryField(t *testing.T) {
	const broken = "${1 +}"
	child := map[string]any{"program": literalOf(0)}
	for field, program := range map[string]any{
		"while":      instruction("LOOP", map[string]any{"max": 1, "while": broken, "do": literalOf(0)}),
		"default":    instruction("READ", map[string]any{"key": "k", "default": broken}),
		"key":        instruction("WRITE", map[string]any{"key": broken, "value": 1}),
		"namespace":  instruction("SHARE", map[string]any{"key": "k", "value": 1, "namespace": broken}),
		"ms":         instruction("WAIT", map[string]any{"ms": broken}),
		"timeout_ms": instruction("RECEIVE", map[string]any{"timeout_ms": broken}),
		"value":      instruction("EMIT", map[string]any{"value": broken}),
		"calls[1].args": instruction("PARALLEL", map[string]any{"calls": []any{
			map[string]any{"tool": "t"}, map[string]any{"tool": "t", "args": broken},
		}}),
		"children.over": instruction("DELEGATE", map[string]any{"children": map[string]any{"over": broken, "as": "x", "child": child}}),
		"children[0].input": instruction("DELEGATE", map[string]any{"children": []any{
			map[string]any{"program": literalOf(0), "input": broken},
		}}),
	} {
		refusal := refusalOf(t, program)
		require.NotNil(t, refusal, field)
		assert.Equal(t, "program.payload."+field, refusal.Field)
	}
}

func TestNamesOfResults(t *testing.T) {
	for kind, name := range map[evaluator.ResultKind]string{
		evaluator.PureValue: "PURE_VALUE", evaluator.NextInstruction: "NEXT_INSTRUCTION", evaluator.NeedsTool: "NEEDS_TOOL",
		evaluator.Failed: "FAILURE", evaluator.NeedsDecision: "NEEDS_DECISION", 99: "UNKNOWN_RESULT",
	} {
		assert.Equal(t, name, kind.String())
	}
}
