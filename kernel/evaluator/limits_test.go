package evaluator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func literalOf(v any) map[string]any { return instruction("LITERAL", map[string]any{"value": v}) }

func letOf(name string, v any) map[string]any {
	return instruction("LET", map[string]any{"name": name, "value": v})
}

func seqOf(steps ...any) map[string]any {
	return instruction("SEQ", map[string]any{"steps": steps})
}

func refusalOf(t *testing.T, program any) *failure.Refusal {
	_, refusal := std(t).Compile(rawGo(t, program))
	return refusal
}

func TestLimitOfNodes(t *testing.T) {
	steps := make([]any, evaluator.MaxNodes-1)
	for i := range steps {
		steps[i] = literalOf(0)
	}
	require.Nil(t, refusalOf(t, seqOf(steps...)))
	refusal := refusalOf(t, seqOf(append(steps, literalOf(0))...))
	require.NotNil(t, refusal)
	assert.Equal(t, "program.payload.steps[4095]", refusal.Field)
	assert.Equal(t, "a program has at most 4096 instructions", refusal.Rule)
}

func TestLimitOfNesting(t *testing.T) {
	nested := func(levels int) any {
		p := literalOf(0)
		for range levels - 1 {
			p = instruction("LET", map[string]any{"name": "x", "do": p})
		}
		return p
	}
	require.Nil(t, refusalOf(t, nested(evaluator.MaxNesting)))
	refusal := refusalOf(t, nested(evaluator.MaxNesting+1))
	require.NotNil(t, refusal)
	assert.Equal(t, "program"+strings.Repeat(".payload.do", evaluator.MaxNesting), refusal.Field)
	assert.Equal(t, "instructions are nested deeper than 24", refusal.Rule)
}

func TestLimitOfVariables(t *testing.T) {
	steps := make([]any, evaluator.MaxVariables)
	for i := range steps {
		steps[i] = letOf(fmt.Sprint("v", i), i)
	}
	require.Nil(t, refusalOf(t, seqOf(append(steps, letOf("v0", 1))...)))
	refusal := refusalOf(t, seqOf(append(steps, letOf("one_more", 1))...))
	require.NotNil(t, refusal)
	assert.Equal(t, "program.payload.steps[256].payload.name", refusal.Field)
	assert.Equal(t, "a program has at most 256 variables", refusal.Rule)
	name := strings.Repeat("n", evaluator.MaxNameBytes)
	require.Nil(t, refusalOf(t, letOf(name, 1)))
	require.NotNil(t, refusalOf(t, letOf(name+"n", 1)))
}

func TestLimitOfProgram(t *testing.T) {
	fits := strings.Repeat("x", evaluator.MaxProgramBytes-100)
	require.Nil(t, refusalOf(t, literalOf(fits)))
	refusal := refusalOf(t, literalOf(fits+strings.Repeat("x", 100)))
	require.NotNil(t, refusal)
	assert.Equal(t, "program: the value is larger than 262144 bytes\n", showRefusal(refusal))
	_, refusal = std(t).Compile(value.Raw{0xff})
	require.NotNil(t, refusal)
	assert.Equal(t, "program: a length is definite\n", showRefusal(refusal))
	_, refusal = std(t).Compile(value.Raw{0xa1, 0x61, 'k', 0x18, 1})
	require.NotNil(t, refusal)
	assert.Equal(t, "program.k: a number or length is not in its shortest form\n", showRefusal(refusal))
	_, refusal = std(t).Compile(nil)
	require.NotNil(t, refusal)
}

func TestLimitOfTool(t *testing.T) {
	tool := strings.Repeat("t", evaluator.MaxToolBytes)
	require.Nil(t, refusalOf(t, instruction("CALL", map[string]any{"tool": tool})))
	refusal := refusalOf(t, instruction("CALL", map[string]any{"tool": tool + "t"}))
	require.NotNil(t, refusal)
	assert.Equal(t, "program.payload.tool", refusal.Field)
}

// Lists of parts are bounded where they stand.
func TestLimitOfParts(t *testing.T) {
	many := func(n int, part any) []any {
		list := make([]any, n)
		for i := range list {
			list[i] = part
		}
		return list
	}
	clause := map[string]any{"do": literalOf(0)}
	child := map[string]any{"program": literalOf(0)}
	for what, c := range map[string]struct {
		fits, over any
		field      string
	}{
		"rounds": {loopOf(evaluator.MaxRounds, literalOf(0)), loopOf(evaluator.MaxRounds+1, literalOf(0)), ".max"},
		"clauses": {
			instruction("TRY", map[string]any{"do": literalOf(0), "catch": many(evaluator.MaxClauses, clause)}),
			instruction("TRY", map[string]any{"do": literalOf(0), "catch": many(evaluator.MaxClauses+1, clause)}), ".catch",
		},
		"codes": {tryCodes(many(evaluator.MaxCodes, "X")), tryCodes(many(evaluator.MaxCodes+1, "X")), ".catch[0].codes"},
		"a code": {
			tryCodes([]any{strings.Repeat("X", evaluator.MaxCodeBytes)}), tryCodes([]any{strings.Repeat("X", evaluator.MaxCodeBytes+1)}),
			".catch[0].codes[0]",
		},
		"calls": {parallelOf(many(evaluator.MaxParallel, 0)...), parallelOf(many(evaluator.MaxParallel+1, 0)...), ".calls"},
		"children": {
			instruction("DELEGATE", map[string]any{"children": many(evaluator.MaxChildren, child)}),
			instruction("DELEGATE", map[string]any{"children": many(evaluator.MaxChildren+1, child)}), ".children",
		},
		"generations": {
			generations(evaluator.MaxGenerations), generations(evaluator.MaxGenerations + 1),
			strings.Repeat(".children[0].program.payload", evaluator.MaxGenerations-1) + ".children[0].program",
		},
	} {
		require.Nil(t, refusalOf(t, c.fits), what)
		refusal := refusalOf(t, c.over)
		require.NotNil(t, refusal, what)
		assert.Equal(t, "program.payload"+c.field, refusal.Field, what)
	}
}

func tryCodes(codes []any) any {
	return instruction("TRY", map[string]any{"do": literalOf(0), "catch": []any{map[string]any{"codes": codes, "do": literalOf(0)}}})
}

// generations nests a program n deep in programs of parents.
func generations(n int) any {
	p := literalOf(0)
	for range n - 1 {
		p = instruction("DELEGATE", map[string]any{"children": []any{map[string]any{"program": p}}})
	}
	return p
}

// A thousand children fit into one request where they have little of their own.
func TestManyChildren(t *testing.T) {
	p := compile(t, `
kind: DELEGATE
payload:
  children:
    over: "${list(range(1000))}"
    as: n
    child:
      name: "worker-${n}"
      input: {item: "${n}"}
      grants: [{effect: ALLOW, action: tool.call, resource: http.request/GET/api.example.com/**}]
      program:
        kind: SEQ
        payload:
          steps:
            - {kind: LET, payload: {name: r, do: {kind: CALL, payload: {tool: http.request, args: {url: "https://api.example.com/${input.item}"}}}}}
            - {kind: RETURN, payload: {value: "${r.body}"}}
`)
	tick := p.Start(testContext)
	r := tick.Step()
	require.Equal(t, evaluator.NeedsTool, r.Kind, "%+v", r.Failure)
	children, _ := r.Calls[0].Args.Get("children")
	assert.Equal(t, uint64(1000), children.Len())
	assert.Positive(t, r.Work)
}

// VALUE_TOO_LARGE where a value leaves: exactly the bound passes (EX-10).
func TestLimitOfValues(t *testing.T) {
	const bound = 1000
	ctx := testContext
	ctx.MaxValueBytes = bound
	text := strings.Repeat("x", bound-3) // a text of this length has a head of 3 bytes
	ctx.Input = rawGo(t, map[string]any{"fits": text, "over": text + "x"})
	atLimit := rawGo(t, text)
	require.Len(t, atLimit, bound)

	for what, c := range map[string]struct {
		program any
		answer  evaluator.Answer
		code    failure.Code
	}{
		"a result":         {literalOf("${input.fits}"), evaluator.Answer{}, ""},
		"a result, more":   {literalOf("${input.over}"), evaluator.Answer{}, failure.ValueTooLarge},
		"a constant":       {literalOf(text), evaluator.Answer{}, ""},
		"a constant, more": {literalOf(text + "x"), evaluator.Answer{}, failure.ValueTooLarge},
		"in a list":        {literalOf([]any{"${input.fits}"}), evaluator.Answer{}, failure.ValueTooLarge},
		"arguments":        {instruction("CALL", map[string]any{"tool": "t", "args": "${input.fits}"}), evaluator.Answer{OK: true}, ""},
		"arguments, more":  {instruction("CALL", map[string]any{"tool": "t", "args": "${input.over}"}), evaluator.Answer{}, failure.ValueTooLarge},
		"an answer":        {instruction("CALL", map[string]any{"tool": "t"}), evaluator.Answer{OK: true, Value: atLimit}, ""},
		"an answer, more":  {instruction("CALL", map[string]any{"tool": "t"}), evaluator.Answer{OK: true, Value: rawGo(t, text+"x")}, failure.ValueTooLarge},
		"an answer that is dropped": {seqOf(instruction("CALL", map[string]any{"tool": "t"}), literalOf(1)),
			evaluator.Answer{OK: true, Value: rawGo(t, text+"x")}, failure.ValueTooLarge},
		"a handled answer out": {instruction("CALL", map[string]any{"tool": "t", "handle": true}), evaluator.Answer{OK: true, Value: atLimit}, failure.ValueTooLarge},
		"a handled answer in": {seqOf(
			instruction("LET", map[string]any{"name": "r", "do": instruction("CALL", map[string]any{"tool": "t", "handle": true})}),
			literalOf("${r.value}")), evaluator.Answer{OK: true, Value: atLimit}, ""},
		"arguments together":       {parallelOf("${input.fits[:490]}", "${input.fits[:490]}"), evaluator.Answer{OK: true}, ""},
		"arguments together, more": {parallelOf("${input.fits[:500]}", "${input.fits[:500]}"), evaluator.Answer{}, failure.ValueTooLarge},
		"answers together":         {parallelOf(1, 2), evaluator.Answer{OK: true, Value: rawGo(t, text[:490])}, ""},
		"answers together, more": {
			seqOf(parallelOf(1, 2), literalOf(1)), evaluator.Answer{OK: true, Value: rawGo(t, text[:500])}, failure.ValueTooLarge,
		},
		"what is written":         {instruction("WRITE", map[string]any{"key": "k", "value": "${input.fits[:900]}"}), evaluator.Answer{OK: true}, ""},
		"what is written, more":   {instruction("WRITE", map[string]any{"key": "k", "value": "${input.fits}"}), evaluator.Answer{}, failure.ValueTooLarge},
		"what is published":       {instruction("EMIT", map[string]any{"value": "${input.fits}"}), evaluator.Answer{}, ""},
		"what is published, more": {instruction("EMIT", map[string]any{"value": "${input.over}"}), evaluator.Answer{}, failure.ValueTooLarge},
		"children":                {childrenOf([]any{1}, "${input.fits[:800]}"), evaluator.Answer{OK: true}, ""},
		"children, more":          {childrenOf([]any{1}, "${input.fits}"), evaluator.Answer{}, failure.ValueTooLarge},
		"a program of a child":    {instruction("DELEGATE", map[string]any{"children": []any{map[string]any{"program": literalOf(text)}}}), evaluator.Answer{}, failure.ValueTooLarge},
		"results of a MAP": {instruction("MAP", map[string]any{"over": []any{1, 2}, "as": "x", "do": literalOf(strings.Repeat("y", bound/2-3))}),
			evaluator.Answer{}, failure.ValueTooLarge},
	} {
		p, refusal := std(t).Compile(rawGo(t, c.program))
		require.Nil(t, refusal, what)
		o := run(t, p, ctx, func(int, evaluator.Call) evaluator.Answer { return c.answer }, resuming)
		if c.code == "" {
			assert.Equal(t, evaluator.PureValue, o.last.Kind, "%s: %s", what, o.show())
			continue
		}
		if assert.Equal(t, evaluator.Failed, o.last.Kind, "%s: %s", what, o.show()) {
			assert.Equal(t, c.code, o.last.Failure.Code, what)
		}
	}
}

// What a tick remembers is bounded at every step, calls or not.
func TestLimitOfStore(t *testing.T) {
	ctx := testContext
	ctx.MaxCheckpointBytes = 1000
	steps := []any{letOf("a", strings.Repeat("x", 400)), letOf("b", strings.Repeat("x", 400))}
	call := instruction("CALL", map[string]any{"tool": "t"})
	p := compileGo(t, seqOf(append(steps, call)...))
	o := run(t, p, ctx, echo, recovering)
	require.Equal(t, evaluator.PureValue, o.last.Kind, o.show())

	p = compileGo(t, seqOf(append(steps, letOf("a", strings.Repeat("x", 500)), call)...))
	o = run(t, p, ctx, echo, recovering)
	require.Equal(t, evaluator.PureValue, o.last.Kind, "rebinding gives room back: %s", o.show())

	p = compileGo(t, seqOf(append(steps, letOf("c", strings.Repeat("x", 300)), literalOf(1))...))
	o = run(t, p, ctx, echo, resuming)
	require.Equal(t, evaluator.Failed, o.last.Kind, o.show())
	assert.Equal(t, "VALUE_TOO_LARGE at 3: what the tick has to remember is larger than 1000 bytes", showFailure(o.last.Failure))

	mapped := instruction("MAP", map[string]any{"over": "${list(range(100))}", "as": "x", "do": literalOf("${'y' * 20}")})
	o = run(t, compileGo(t, mapped), ctx, echo, resuming)
	require.Equal(t, evaluator.Failed, o.last.Kind, o.show())
	assert.Equal(t, failure.ValueTooLarge, o.last.Failure.Code)
	assert.Equal(t, uint32(0), o.last.Failure.Node)

	// What does not fit is not bound, so that a TRY can go on.
	p = compileGo(t, seqOf(append(steps, tryOf(letOf("b", strings.Repeat("x", 700)), call), literalOf("${len(b)}"))...))
	o = run(t, p, ctx, echo, recovering)
	require.Equal(t, evaluator.PureValue, o.last.Kind, o.show())
	assert.Equal(t, rawGo(t, 400), o.last.Value)

	// A MAP that has ended gives its room back.
	small := instruction("MAP", map[string]any{"over": "${list(range(30))}", "as": "x", "do": literalOf("0123456789")})
	var again []any
	for range 10 {
		again = append(again, small)
	}
	o = run(t, compileGo(t, seqOf(again...)), ctx, echo, resuming)
	require.Equal(t, evaluator.PureValue, o.last.Kind, o.show())
}

// Whatever the bound is, no checkpoint exceeds it: run checks that at every
// call.
func TestCheckpointsKeepTheirBound(t *testing.T) {
	call := instruction("CALL", map[string]any{"tool": "t"})
	var many []any
	for i := range evaluator.MaxVariables {
		many = append(many, letOf(fmt.Sprint("v", i), i))
	}
	for what, c := range map[string]struct {
		program any
		most    int // where it fits
	}{
		"nothing to remember":    {call, 9},
		"many variables":         {seqOf(append(many, call)...), 2000},
		"running MAPs":           {rawYAML(t, nestedCalls).ToGo(), 300},
		"frames and a small one": {seqOf(nestedLoops(20, call), loopOf(1, literalOf(0))), 300},
		"every frame":            {rawYAML(t, everyFrame).ToGo(), 400},
	} {
		p := compileGo(t, c.program)
		for bound := 1; bound <= c.most; bound++ {
			ctx := testContext
			ctx.MaxCheckpointBytes = uint32(bound)
			w := moodyWorld(t, ctx)
			w.answers = echo
			o := w.run(t, p, resuming)
			if o.last.Kind == evaluator.Failed {
				require.Equal(t, failure.ValueTooLarge, o.last.Failure.Code, what)
			}
			require.False(t, bound == 1 && o.last.Kind != evaluator.Failed, what)
			require.False(t, bound == c.most && o.last.Kind == evaluator.Failed, "%s: %s", what, o.show())
		}
	}
}

func nestedLoops(n int, inside any) any {
	for range n {
		inside = loopOf(1, inside)
	}
	return inside
}

// The overhead of MAPs is that of those that can run at once.
func TestMapsOneAfterTheOther(t *testing.T) {
	ctx := testContext
	ctx.MaxCheckpointBytes = 100
	var steps []any
	for range 50 {
		steps = append(steps, instruction("MAP", map[string]any{"over": []any{1, 2}, "as": "x", "do": literalOf(0)}))
	}
	o := run(t, compileGo(t, seqOf(steps...)), ctx, echo, resuming)
	require.Equal(t, evaluator.PureValue, o.last.Kind, o.show())
}

// A MAP ends as soon as its results are too large.
func TestResultsEndEarly(t *testing.T) {
	ctx := testContext
	ctx.MaxValueBytes = 1000
	mapped := instruction("MAP", map[string]any{"over": "${list(range(400))}", "as": "x", "do": literalOf(strings.Repeat("y", 98))})
	ctx.MaxCheckpointBytes = 1 << 20
	o := run(t, compileGo(t, mapped), ctx, echo, resuming)
	require.Equal(t, evaluator.Failed, o.last.Kind)
	assert.Equal(t, "VALUE_TOO_LARGE at 0: the list of results is larger than 1000 bytes", showFailure(o.last.Failure))
	assert.Len(t, o.trace, 12) // the MAP and 11 items of 100 bytes
}

// The budget of expressions is each instruction's own.
func TestBudgetIsPerStep(t *testing.T) {
	heavy := letOf("x", "${len([y for y in range(2000)])}")
	var steps []any
	for range 30 {
		steps = append(steps, heavy)
	}
	p := compileGo(t, seqOf(append(steps, literalOf("done"))...))
	require.Equal(t, evaluator.PureValue, run(t, p, testContext, echo, resuming).last.Kind)
	tick := p.Start(testContext)
	require.Zero(t, tick.Step().Work)
	first := tick.Step().Work
	require.Greater(t, first, uint32(2000))
	require.Equal(t, first, tick.Step().Work, "work is the step's own")
}

func compileGo(t *testing.T, program any) evaluator.Program {
	p, refusal := std(t).Compile(rawGo(t, program))
	require.Nil(t, refusal, "%+v", refusal)
	return p
}

// Wrapping cannot nest a value deeper than the model allows (EX-10).
func TestLimitOfDepth(t *testing.T) {
	deepest := value.Raw(append(append([]byte(nil), repeat(0x81, value.MaxDepth-1)...), 0x80))
	require.Equal(t, value.MaxDepth, deepest.Depth())
	ctx := testContext
	ctx.Input = deepest
	answer := func(int, evaluator.Call) evaluator.Answer { return evaluator.Answer{OK: true, Value: deepest} }
	call := map[string]any{"tool": "t"}
	handled := map[string]any{"tool": "t", "handle": true}
	for what, c := range map[string]struct {
		program any
		kind    evaluator.ResultKind
	}{
		"passed through":   {literalOf("${input}"), evaluator.PureValue},
		"answered":         {instruction("CALL", call), evaluator.PureValue},
		"wrapped":          {literalOf([]any{"${input}"}), evaluator.Failed},
		"handled":          {instruction("CALL", handled), evaluator.Failed},
		"in parallel":      {parallelOf(1, 2), evaluator.Failed},
		"written":          {instruction("WRITE", map[string]any{"key": "k", "value": "${input}"}), evaluator.Failed},
		"given to a child": {childrenOf([]any{1}, "${input}"), evaluator.Failed},
		"published":        {instruction("EMIT", map[string]any{"value": "${input}"}), evaluator.PureValue},
		"mapped":           {instruction("MAP", map[string]any{"over": []any{1}, "as": "x", "do": instruction("CALL", call)}), evaluator.Failed},
	} {
		o := run(t, compileGo(t, c.program), ctx, answer, resuming)
		if assert.Equal(t, c.kind, o.last.Kind, "%s: %s", what, o.show()) && c.kind == evaluator.Failed {
			assert.Equal(t, failure.ValueTooLarge, o.last.Failure.Code, what)
		}
	}
}

func repeat(b byte, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = b
	}
	return out
}
