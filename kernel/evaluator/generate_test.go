package evaluator_test

import (
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// instruction builds one of any kind around what is inside it.
func instruction(kind string, payload map[string]any) map[string]any {
	return map[string]any{"kind": kind, "payload": payload}
}

var variableNames = []string{"a", "b", "c", "d"}

// data draws template data: much of it is fine whatever was bound before, some
// of it fails at run time.
func data() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.SampledFrom([]any{
			nil, true, false, 0, 1, -7, 2.5, 1e300, "", "text", "$${x}", "é",
			[]any{}, []any{1, "two", 3.5}, map[string]any{"k": []any{1}, "long key": "${a}", "": 0},
			"${a}", "${b}", "${c}", "${d}", "${[a, b]}", "${{'z': a, 'y': [b]}}", "text of ${a} and ${b}",
			"${a == b}", "${len(c)}", "${1 / 2 * 4}", "${input.list}", "${agent.name}", "${env}", "${a + b}", "${nobody}", "${c[5]}",
			[]any{"${a}", map[string]any{"inner": "${b}"}},
		}),
	)
}

// list draws what a MAP goes over, mostly a list.
func list() *rapid.Generator[any] {
	return rapid.SampledFrom([]any{
		[]any{}, []any{1}, []any{1, 2, 3}, []any{"${a}", []any{"x"}, map[string]any{"b": 1, "aa": 2}},
		"${input.list}", "${[a, b, c]}", "${c}",
	})
}

// program draws an instruction nested at most depth deep.
func program(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		kinds := []string{"LITERAL", "LET", "CALL", "CALL", "RETURN", "FAIL"}
		if depth > 1 {
			kinds = []string{"LET", "LET do", "SEQ", "SEQ", "SEQ", "BRANCH", "MAP", "MAP", "CALL", "RETURN do", "LITERAL", "RETURN"}
		}
		inside := func(label string) map[string]any { return program(depth-1).Draw(t, label) }
		name := rapid.SampledFrom(variableNames)
		switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
		case "LET":
			return instruction("LET", map[string]any{"name": name.Draw(t, "name"), "value": data().Draw(t, "value")})
		case "LET do":
			return instruction("LET", map[string]any{"name": name.Draw(t, "name"), "do": inside("do")})
		case "SEQ":
			var steps []any
			for range rapid.IntRange(1, 4).Draw(t, "steps") {
				steps = append(steps, inside("step"))
			}
			return instruction("SEQ", map[string]any{"steps": steps})
		case "BRANCH":
			condition := rapid.SampledFrom([]any{true, false, "${a == 1}", "${b != None}", "${a}"}).Draw(t, "if")
			return instruction("BRANCH", map[string]any{"if": condition, "then": inside("then"), "else": inside("else")})
		case "MAP":
			payload := map[string]any{"over": list().Draw(t, "over"), "as": name.Draw(t, "as"), "do": inside("do")}
			if index := name.Draw(t, "index"); index != payload["as"] {
				payload["index"] = index
			}
			return instruction("MAP", payload)
		case "CALL":
			return instruction("CALL", map[string]any{
				"tool": "tool", "args": data().Draw(t, "args"), "handle": rapid.Bool().Draw(t, "handle"),
			})
		case "RETURN do":
			return instruction("RETURN", map[string]any{"do": inside("do")})
		case "FAIL":
			return instruction("FAIL", map[string]any{"message": "gave up", "code": "X"})
		default:
			return instruction(kind, map[string]any{"value": data().Draw(t, "value")})
		}
	})
}

// bound puts LETs of all variables in front, so that most programs do not fail
// at their first name.
func bound(body map[string]any) map[string]any {
	var steps []any
	for i, name := range variableNames {
		steps = append(steps, instruction("LET", map[string]any{"name": name, "value": []any{i, "x"}}))
	}
	steps[0] = instruction("LET", map[string]any{"name": "a", "value": 1})
	return instruction("SEQ", map[string]any{"steps": append(steps, body)})
}

// moody answers most calls with their arguments and some with a failure.
func moody(n int, call evaluator.Call) evaluator.Answer {
	switch {
	case n%5 == 3:
		return evaluator.Answer{Code: failure.ToolFailed, Message: "not today"}
	case n%2 == 1:
		return evaluator.Answer{OK: true, Value: value.AppendInt(nil, int64(n))}
	}
	return echo(n, call)
}
