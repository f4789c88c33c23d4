package expr

import (
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// lookup is an environment that is a function.
type lookup func(name string) (starlark.Value, bool)

func (l lookup) Lookup(name string) (starlark.Value, bool) { return l(name) }

// EX-11: a panic is EVAL_PANIC, in our words, and the meter stays usable.
func TestPanicIsAFailure(t *testing.T) {
	e := compiled(t, "[x for x in [1, 2]][0] + bad")
	m := NewMeter(DefaultSteps, DefaultBytes)
	v, f := e.Eval(lookup(func(string) (starlark.Value, bool) { panic("secret of the runtime") }), m)
	require.NotNil(t, f)
	assert.Nil(t, v)
	assert.Equal(t, failure.EvalPanic, f.Code)
	assert.NotContains(t, f.Message, "secret")
	v, f = e.Eval(names{"bad": starlark.MakeInt(1)}, m)
	require.Nil(t, f)
	assert.Equal(t, starlark.MakeInt(2), v)
}

// An environment may evaluate with the same meter; the loop variables of the
// expression around it are still its own.
func TestNestedEvaluation(t *testing.T) {
	inner := compiled(t, "[y * 10 for y in [1, 2, 3]][2]")
	outer := compiled(t, "[x + a + x for x in [1, 2]]")
	m := NewMeter(DefaultSteps, DefaultBytes)
	v, f := outer.Eval(lookup(func(string) (starlark.Value, bool) {
		v, f := inner.Eval(nil, m)
		return v, f == nil
	}), m)
	require.Nil(t, f)
	assert.Equal(t, "[32,34]", jsonOf(t, v))
}

// Env promises values of this package; what is none is named.
func TestEnvironmentOfForeignValues(t *testing.T) {
	for _, v := range []starlark.Value{starlark.NewList(nil), starlark.NewDict(0), starlark.Tuple{}, starlark.NewBuiltin("f", nil), starlark.Float(math.Inf(1))} {
		_, f := compiled(t, "x").Eval(names{"x": v}, NewMeter(10, 10))
		require.NotNil(t, f)
		assert.Equal(t, failure.EvalFailure, f.Code)
	}
	v, f := compiled(t, "x").Eval(names{"x": starlark.Float(3)}, NewMeter(10, 10))
	require.Nil(t, f)
	assert.Equal(t, starlark.MakeInt(3), v)
}

// Evaluations that share a meter share the budget.
func TestMeterIsShared(t *testing.T) {
	e := compiled(t, "[1, 2, 3]")
	m := NewMeter(12, 1000)
	for range 2 {
		_, f := e.Eval(nil, m)
		require.Nil(t, f)
	}
	assert.Equal(t, uint32(10), m.Steps())
	assert.Equal(t, uint32(192), m.Bytes())
	assert.Equal(t, uint32(10+192/64), m.Work())
	_, f := e.Eval(nil, m)
	require.NotNil(t, f)
	assert.Equal(t, failure.WorkExceeded, f.Code)
	assert.Equal(t, uint32(12), m.Steps())
	m.Reset()
	assert.Zero(t, m.Work())
	_, f = e.Eval(nil, m)
	require.Nil(t, f)

	unlimited := NewMeter(math.MaxUint32, math.MaxUint32)
	require.Nil(t, unlimited.work(math.MaxUint32))
	require.Nil(t, unlimited.alloc(math.MaxUint32))
	require.NotNil(t, unlimited.alloc(math.MaxUint64))
	assert.Equal(t, uint32(math.MaxUint32), unlimited.Work())
}

// A compiled expression is shared by kernels that know nothing of each other.
func TestExprIsShared(t *testing.T) {
	e := compiled(t, `{str(x) + k: [y for y in sorted(v) if y > x] for x in range(20) for k, v in input.items()}`)
	env := names{"input": fromJSON(t, `{"a":[3,1,2],"b":[30,10,20]}`)}
	results := make([]string, 8)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			for range 20 {
				v, f := e.Eval(env, NewMeter(DefaultSteps, DefaultBytes))
				if f != nil {
					results[i] = f.Message
					return
				}
				results[i] = v.String()
			}
		})
	}
	group.Wait()
	for _, result := range results {
		assert.Equal(t, results[0], result)
		assert.Contains(t, result, `"0a":[1,2,3]`)
	}
}

// EX-10: a value behaves the same before and after it was stored.
func TestOrderDoesNotDependOnHistory(t *testing.T) {
	made, f := compiled(t, `{"bb": 1, "c": 2, "a": 3} | {"aa": 4}`).Eval(nil, NewMeter(DefaultSteps, DefaultBytes))
	require.Nil(t, f)
	raw, f := AppendRaw(nil, made, MaxValueBytes)
	require.Nil(t, f)
	keys := compiled(t, "[x.keys(), x.values(), x.items(), [k for k in x], list(x), str(x)]")
	before, f := keys.Eval(names{"x": made}, NewMeter(DefaultSteps, DefaultBytes))
	require.Nil(t, f)
	after, f := keys.Eval(names{"x": FromRaw(raw)}, NewMeter(DefaultSteps, DefaultBytes))
	require.Nil(t, f)
	assert.Equal(t, jsonOf(t, before), jsonOf(t, after))
	assert.Contains(t, jsonOf(t, after), `["a","c","aa","bb"]`)
}

// Values from outside may be larger than what an expression builds.
func TestLargeInputPassesThrough(t *testing.T) {
	text := strings.Repeat("a", 100_000)
	env := names{"input": fromJSON(t, `{"text":"`+text+`","list":["`+text+`",7]}`)}
	for src, want := range map[string]failure.Code{
		"input": "", "input.text": "", "input.list[1]": "", "len(input.text)": "", "input.text[5]": "", "input.text == input.list[0]": "",
		"input.text + 'a'": failure.ValueTooLarge, "[input.text]": failure.ValueTooLarge, "input | {}": failure.ValueTooLarge,
		"input.text.upper()": failure.ValueTooLarge, "str(input)": failure.ValueTooLarge, "input.list[:]": failure.ValueTooLarge, "input.text[1:]": failure.ValueTooLarge,
	} {
		_, f := compiled(t, src).Eval(env, NewMeter(DefaultSteps, DefaultBytes))
		code := failure.Code("")
		if f != nil {
			code = f.Code
		}
		assert.Equal(t, want, code, src)
	}
}

// What cannot be written into the golden files: sources by their bytes.
func TestCompileRefusesBytes(t *testing.T) {
	for src, rule := range map[string]string{
		"":                              "the expression is empty (line 1, column 1)",
		" \t\r\n":                       "the expression is empty (line 1, column 1)",
		"1 + \xff":                      "the expression is not valid UTF-8 (line 1, column 1)",
		"1 +\x00 2":                     "there is a control character in the expression (line 1, column 4)",
		"1 + \x7f":                      "there is a control character in the expression (line 1, column 5)",
		"\ufeff1":                       "outside of text, an expression is ASCII (line 1, column 1)",
		"a\u00a0+ b":                    "outside of text, an expression is ASCII (line 1, column 2)",
		strings.Repeat("a", 4097):       "an expression has at most 4096 bytes of source (line 1, column 1)",
		"'ä\\\n' +\r\n  b\rc":           `the expression cannot be read near "c" (line 4, column 1)`,
		"(1,\n 2 3)":                    `the expression cannot be read near "3)" (line 2, column 4)`,
		"1 " + strings.Repeat("'ä'", 9): `the expression cannot be read near "'ä''ä''ä''ä''ä'" (line 1, column 3)`,
	} {
		_, refused := Compile(src)
		require.NotNil(t, refused, "%q", src)
		assert.Equal(t, failure.Refusal{Code: failure.InvalidProgram, Rule: rule, Hint: refused.Hint}, *refused, "%q", src)
	}
	for _, src := range []string{strings.Repeat("a", 4096), "'" + strings.Repeat("a", 4094) + "'", "\t\n 1 \r\n", "'\x01'", "'é' + \"日本\""} {
		_, refused := Compile(src)
		assert.Nil(t, refused, "%q", src)
	}
}

// Messages repeat names and keys of programs and inputs: bounded, and whatever
// they hold.
func TestMessagesQuote(t *testing.T) {
	name := strings.Repeat("n", 100)
	_, f := compiled(t, name).Eval(names{}, NewMeter(DefaultSteps, DefaultBytes))
	require.NotNil(t, f)
	assert.Equal(t, `unknown name "`+name[:64]+`…"`, f.Message)
	_, f = compiled(t, "{'"+strings.Repeat("é", 50)+"': 1, '\\n\\u0001\\t\\r\"': 2, 'c': 3, 'd': 4, 'e': 5, 'f': 6, 'g': 7}.x").Eval(nil, NewMeter(DefaultSteps, DefaultBytes))
	require.NotNil(t, f)
	assert.Equal(t, `the map has no member "x"; it has "c", "d", "e", "f", "g" …`, f.Message)
	_, f = compiled(t, "{'"+strings.Repeat("é", 50)+"': 1, '\\n\\u0001\\t\\r\"': 2}.x").Eval(nil, NewMeter(DefaultSteps, DefaultBytes))
	require.NotNil(t, f)
	assert.Equal(t, `the map has no member "x"; it has "\n\u0001\t\r\"", "`+strings.Repeat("é", 32)+`…"`, f.Message)
}

// The parser has a bound of its own. What lex lets through never reaches it,
// so that the bound is not part of the language.
func TestParserNeverGivesUp(t *testing.T) {
	for _, open := range []string{"(", "[", "{'a':", "len(", "x[", "[x for x in ", "[1 if 1 else "} {
		bracket := map[byte]string{'(': ")", '[': "]", '{': "}"}[open[strings.LastIndexAny(open, "([{")]]
		for _, prefix := range []string{"not ", "- ", "1 if 1 else "} {
			if strings.HasSuffix(open, "in ") && strings.HasSuffix(prefix, "else ") {
				continue // a loop is not over a choice without brackets
			}
			nested := strings.Count(open, "else") * MaxBrackets
			src := strings.Repeat(open, MaxBrackets) + strings.Repeat(prefix, MaxTreeDepth-nested) + "1" + strings.Repeat(bracket, MaxBrackets)
			_, p := lex(src, false)
			require.Nil(t, p, src)
			_, p = parse(src)
			require.Nil(t, p, "%s: %+v", src, p)
		}
	}
}

// The package comment lists all there is, and nothing of one name takes
// different arguments by kind.
func TestTables(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	documented := strings.Fields(strings.ReplaceAll(string(doc), "//", " "))
	for name := range functions {
		assert.Contains(t, documented, name)
		assert.NotContains(t, absent, name)
	}
	for name, method := range methods {
		assert.Contains(t, documented, name)
		assert.NotContains(t, changing, name)
		for _, f := range []*function{method.text, method.list, method.mapping} {
			if f != nil {
				assert.Equal(t, method.any().required, f.required, name)
				assert.Equal(t, len(method.any().params), len(f.params), name)
				assert.Equal(t, method.any().variadic, f.variadic, name)
			}
		}
	}
}

// EX-11 and the kernel's budget: the common expressions allocate nothing.
func TestAllocations(t *testing.T) {
	env := names{"input": fromJSON(t, `{"count":3,"name":"Ann","user":{"address":{"city":"Ulm"}}}`), "name": starlark.String("Ann")}
	m := NewMeter(DefaultSteps, DefaultBytes)
	for src, want := range map[string]float64{
		"name": 0, "1": 0, "input.user.address.city": 0, "input.count + 1": 0, "input.count > 2 and input.name == 'Ann'": 0,
		"'x' in input": 0, "len(input.name)": 1, "input.get('z', 1)": 1,
	} {
		e := compiled(t, src)
		got := testing.AllocsPerRun(100, func() {
			m.Reset()
			if _, f := e.Eval(env, m); f != nil {
				t.Fatal(f.Message)
			}
		})
		if strconv.IntSize == 64 { // elsewhere, integers are boxed
			assert.Equal(t, want, got, src)
		}
	}
}
