package evaluator_test

import (
	"github.com/stretchr/testify/require"
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

// inner and outer are the kinds without and with instructions inside.
var (
	inner = []string{
		"LITERAL", "LET", "CALL", "CALL", "FAIL", "READ", "WRITE", "SHARE", "WAIT", "RECEIVE", "EMIT", "PARALLEL", "DELEGATE",
	}
	outer = []string{
		"LET", "LET do", "SEQ", "SEQ", "SEQ", "SEQ", "BRANCH", "MAP", "MAP", "CALL", "LITERAL", "LOOP", "LOOP", "TRY", "TRY", "TRY",
		"DELEGATE do", "READ", "EMIT", "PARALLEL",
	}
)

// program draws an instruction nested at most depth deep.
func program(depth int) *rapid.Generator[map[string]any] { return programIn(depth, false) }

// programIn draws one that may stand in on_escalation, where no RETURN does.
func programIn(depth int, handler bool) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		kinds := inner
		if depth > 1 {
			kinds = outer
		}
		if !handler {
			kinds = append(append([]string(nil), kinds...), "RETURN")
			if depth > 1 {
				kinds = append(kinds, "RETURN do")
			}
		}
		inside := func(label string) map[string]any { return programIn(depth-1, handler).Draw(t, label) }
		name := rapid.SampledFrom(variableNames)
		condition := rapid.SampledFrom([]any{true, false, "${a == 1}", "${b != None}", "${a}"})
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
			return instruction("BRANCH", map[string]any{"if": condition.Draw(t, "if"), "then": inside("then"), "else": inside("else")})
		case "MAP":
			payload := map[string]any{"over": list().Draw(t, "over"), "as": name.Draw(t, "as"), "do": inside("do")}
			if index := name.Draw(t, "index"); index != payload["as"] {
				payload["index"] = index
			}
			return instruction("MAP", payload)
		case "LOOP":
			payload := map[string]any{"max": rapid.IntRange(1, 3).Draw(t, "max"), "do": inside("do")}
			if rapid.Bool().Draw(t, "indexed") {
				payload["index"] = name.Draw(t, "index")
			}
			if rapid.Bool().Draw(t, "conditional") {
				payload["while"] = condition.Draw(t, "while")
			}
			return instruction("LOOP", payload)
		case "TRY":
			clause := map[string]any{"do": inside("clause")}
			if rapid.Bool().Draw(t, "named") {
				clause["as"] = name.Draw(t, "as")
			}
			if rapid.Bool().Draw(t, "coded") {
				clause["codes"] = []any{"X", "TOOL_FAILED", "VALUE_TOO_LARGE"}
			}
			return instruction("TRY", map[string]any{"do": inside("do"), "catch": []any{clause}})
		case "DELEGATE do":
			body := programIn(depth-1, true).Draw(t, "handler")
			payload := delegation().Draw(t, "payload")
			payload["on_escalation"] = map[string]any{"as": name.Draw(t, "as"), "do": body}
			return instruction("DELEGATE", payload)
		case "RETURN do":
			return instruction("RETURN", map[string]any{"do": inside("do")})
		case "FAIL":
			return instruction("FAIL", map[string]any{"message": "gave up", "code": "X"})
		case "LITERAL", "EMIT", "RETURN":
			return instruction(kind, map[string]any{"value": data().Draw(t, "value")})
		default:
			return asking(kind).Draw(t, "asking")
		}
	})
}

// asking draws an instruction that leaves the tick.
func asking(kind string) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		key := rapid.SampledFrom([]any{"k", "k/${a}", "${agent.name}", "${a}"})
		payload := map[string]any{"handle": rapid.Bool().Draw(t, "handle")}
		switch kind {
		case "CALL":
			payload["tool"], payload["args"] = "tool", data().Draw(t, "args")
		case "READ":
			payload["key"], payload["default"] = key.Draw(t, "key"), data().Draw(t, "default")
		case "WRITE":
			payload["key"], payload["value"] = key.Draw(t, "key"), data().Draw(t, "value")
		case "SHARE":
			payload["namespace"], payload["key"], payload["value"] = "n", key.Draw(t, "key"), data().Draw(t, "value")
		case "WAIT":
			return instruction(kind, map[string]any{"ms": 5})
		case "RECEIVE":
			payload["timeout_ms"] = rapid.SampledFrom([]any{1, "${7}", "${a}"}).Draw(t, "timeout")
		case "PARALLEL":
			var calls []any
			for range rapid.IntRange(2, 4).Draw(t, "calls") {
				calls = append(calls, map[string]any{"tool": "tool", "args": data().Draw(t, "args"), "handle": rapid.Bool().Draw(t, "handled")})
			}
			payload = map[string]any{"calls": calls}
		case "DELEGATE":
			payload = delegation().Draw(t, "payload")
			payload["detach"] = rapid.Bool().Draw(t, "detach")
		}
		return instruction(kind, payload)
	})
}

// delegation draws the payload of a DELEGATE.
func delegation() *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		child := map[string]any{"program": literalOf("${nobody}"), "input": data().Draw(t, "input")}
		payload := map[string]any{"handle": rapid.Bool().Draw(t, "handle"), "children": []any{child, child}}
		if rapid.Bool().Draw(t, "each") {
			as := rapid.SampledFrom(variableNames).Draw(t, "as")
			payload["children"] = map[string]any{"over": list().Draw(t, "over"), "as": as, "child": child}
		}
		return payload
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
	case n%2 == 1 && call.Tool != "memory.read":
		return evaluator.Answer{OK: true, Value: value.AppendInt(nil, int64(n))}
	}
	return echo(n, call)
}

// moodyWorld has moody answers, and children that ask for something twice.
func moodyWorld(t require.TestingT, ctx evaluator.Context) world {
	return world{ctx: ctx, answers: moody, escalations: []value.Raw{
		rawGo(t, map[string]any{"escalation": 0, "args": []any{1}}),
		rawGo(t, map[string]any{"escalation": int64(1) << 40, "args": "long enough to be remembered"}),
	}}
}
