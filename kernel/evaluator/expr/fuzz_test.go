package expr

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const fuzzInput = `{"n":3,"x":1.5,"s":"häl lo, World","xs":[3,1,2,"a",null,[true]],"o":{"name":"Ann","a":{"b":[1,2]}},"empty":{}}`

// seeds are the golden corpus and the bombs, those of them that are not long.
func seeds(f *testing.F, all func(src string)) {
	add := func(src string) {
		if len(src) <= 2*MaxSource {
			all(src)
		}
	}
	for _, bomb := range bombs {
		add(bomb.src)
	}
	for _, name := range []string{"arithmetic", "text", "format", "access", "lists", "refusals", "limits"} {
		corpus, err := os.ReadFile("testdata/golden/" + name + ".txt")
		require.NoError(f, err)
		for _, part := range strings.Split(string(corpus), "\neval\n") {
			src, _, _ := strings.Cut(part, "\n----")
			if strings.HasPrefix(src, "input ") {
				_, src, _ = strings.Cut(src, "\n")
			}
			add(src)
		}
	}
}

// FuzzExpr: whatever the source, compiling and evaluating end without a panic,
// within the budget, twice in the same way, and what leaves is canonical
// (EX-10, EX-11, EV-13).
func FuzzExpr(f *testing.F) {
	seeds(f, func(src string) { f.Add(src) })
	env := names{"input": fromJSON(f, fuzzInput), "x": fromJSON(f, `[1,{"a":"b"}]`), "s": starlark.String("text")}
	f.Fuzz(func(t *testing.T, src string) {
		e, refused := Compile(src)
		if refused != nil {
			_, again := Compile(src)
			require.Equal(t, refused, again)
			checkMessage(t, refused.Rule)
			return
		}
		once, twice := NewMeter(DefaultSteps, DefaultBytes), NewMeter(DefaultSteps, DefaultBytes)
		v, fail := e.Eval(env, once)
		w, failAgain := e.Eval(env, twice)
		checkOutcome(t, v, fail)
		require.Equal(t, fail, failAgain)
		require.Equal(t, *once, *twice)
		require.LessOrEqual(t, once.Steps(), uint32(DefaultSteps))
		require.LessOrEqual(t, once.Bytes(), uint32(DefaultBytes))
		if fail == nil {
			require.True(t, same(v, w))
		}
	})
}

// FuzzTemplate does the same with a text around the expressions.
func FuzzTemplate(f *testing.F) {
	f.Add("plain", "")
	f.Add("a ${input.n} b", "${x}")
	f.Add("$${x} $$${x} ${'}'} ${{'a':1}}", "${")
	f.Add("${", "${\"}")
	seeds(f, func(src string) { f.Add("${"+src+"}", "x${ "+src+" }y") })
	env := names{"input": fromJSON(f, fuzzInput)}
	f.Fuzz(func(t *testing.T, one, other string) {
		raw, problem := value.FromGo(map[string]any{"a": []any{one, 1}, other: other})
		if problem != nil {
			return
		}
		template, refused := CompileTemplate(raw, "payload")
		if refused != nil {
			checkMessage(t, refused.Rule)
			require.True(t, strings.HasPrefix(refused.Field, "payload"), refused.Field)
			return
		}
		m := NewMeter(DefaultSteps, DefaultBytes)
		v, fail := template.Eval(env, m)
		checkOutcome(t, v, fail)
		if template.Constant() {
			require.Nil(t, fail)
			again, _ := template.Eval(nil, m)
			require.Same(t, v, again)
		}
		if !strings.Contains(one+other, "${") {
			require.True(t, template.Constant())
			require.Equal(t, FromRaw(raw), v)
		}
	})
}

func checkMessage(t *testing.T, message string) {
	require.NotEmpty(t, message)
	require.LessOrEqual(t, len(message), failure.MaxMessage)
	require.True(t, utf8.ValidString(message), "%q", message)
	for i := range len(message) {
		require.GreaterOrEqual(t, message[i], byte(' '), "%q", message)
	}
}

// checkOutcome checks a value where it leaves, or the failure instead.
func checkOutcome(t *testing.T, v starlark.Value, f *failure.Failure) {
	if f != nil {
		require.Nil(t, v)
		require.Contains(t, []failure.Code{failure.EvalFailure, failure.ValueTooLarge, failure.WorkExceeded}, f.Code, f.Message)
		checkMessage(t, f.Message)
		return
	}
	raw, f := AppendRaw(nil, v, MaxValueBytes)
	require.Nil(t, f)
	require.Nil(t, value.Check(raw, MaxValueBytes))
	require.Equal(t, int(shapeOf(v).size), len(raw))
	back := FromRaw(raw)
	require.Equal(t, shapeOf(v), shapeOf(back))
	require.True(t, same(v, back))
}
