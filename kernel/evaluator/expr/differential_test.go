package expr

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// TestAgreesWithStarlark evaluates random expressions here and with Starlark's
// own interpreter: where the languages are the same, so are the answers, and
// what fails there fails here. The generator stays clear of the documented
// differences.
func TestAgreesWithStarlark(t *testing.T) {
	foreign := starlark.StringDict{
		"n":  starlark.MakeInt(7),
		"z":  starlark.MakeInt(0),
		"s":  starlark.String("hello, World"),
		"e":  starlark.String(""),
		"xs": starlark.NewList([]starlark.Value{starlark.MakeInt(3), starlark.MakeInt(-1), starlark.MakeInt(2)}),
		"ts": starlark.NewList([]starlark.Value{starlark.String("b"), starlark.String("a,b"), starlark.String("")}),
	}
	d := starlark.NewDict(2)
	require.NoError(t, d.SetKey(starlark.String("k"), starlark.MakeInt(1)))
	require.NoError(t, d.SetKey(starlark.String("hello"), starlark.MakeInt(-5)))
	foreign["d"] = d
	env := names{}
	for name, v := range foreign {
		owned, f := Own(v)
		require.Nil(t, f)
		env[name] = owned
	}
	foreign.Freeze()

	agreed := 0
	rapid.Check(t, func(t *rapid.T) {
		g := sources{t}
		src := g.any(4)
		want, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "x", src, foreign)
		var wantRaw []byte
		if err == nil {
			owned, f := Own(want)
			if f == nil {
				wantRaw, f = AppendRaw(nil, owned, MaxValueBytes)
			}
			if f != nil {
				return // beyond the model: nothing to compare
			}
		}
		e, refused := Compile(src)
		require.Nil(t, refused, "%s: %+v", src, refused)
		got, f := e.Eval(env, NewMeter(DefaultSteps, DefaultBytes))
		if err != nil {
			if f == nil && !allowed(src, err) {
				t.Fatalf("%s: Starlark fails with %v, here it is %v", src, err, got)
			}
			return
		}
		if f != nil && f.Code != failure.EvalFailure {
			return // beyond a bound that Starlark does not have
		}
		require.Nil(t, f, "%s: %+v, Starlark says %v", src, f, want)
		gotRaw, f := AppendRaw(nil, got, MaxValueBytes)
		require.Nil(t, f)
		require.Equal(t, wantRaw, gotRaw, "%s: here %v, Starlark %v", src, got, want)
		agreed++
	})
	require.Positive(t, agreed)
}

// allowed tells whether Starlark may fail where this language does not: an
// integral float is an integer here, and the interpreter takes only 32 bits in
// places where any integer makes sense.
func allowed(src string, err error) bool {
	return strings.Contains(src, "/") || strings.Contains(err.Error(), "out of range") || strings.Contains(err.Error(), "too large")
}

// sources draws source text by the kind of its value.
type sources struct{ t *rapid.T }

func (g sources) pick(forms ...string) string { return rapid.SampledFrom(forms).Draw(g.t, "form") }

// fill replaces I, T, B, L, S, D in a form by expressions of these kinds:
// integer, text, boolean, list of integers, list of text, map.
func (g sources) fill(depth int, forms ...string) string {
	var b strings.Builder
	for _, c := range g.pick(forms...) {
		switch c {
		case 'I':
			b.WriteString(g.integer(depth - 1))
		case 'T':
			b.WriteString(g.text(depth - 1))
		case 'B':
			b.WriteString(g.boolean(depth - 1))
		case 'L':
			b.WriteString(g.ints(depth - 1))
		case 'S':
			b.WriteString(g.texts(depth - 1))
		case 'D':
			b.WriteString(g.dict(depth - 1))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (g sources) any(depth int) string {
	return g.fill(depth, "I", "T", "B", "L", "S", "D", "(I / I)", "(I / I) * I", "(I / I) // I", "(I / I) % I", "I + T", "L + I", "T - T",
		"L < S", "D.get(T)", "D[T]", "[[i, j] for i, j in enumerate(L, I)]", "[[a, b] for a, b in zip(L, S)]", "[[k, v] for k, v in sorted(D.items())]",
		"[[x, y] for x in L for y in S if x < len(y)]", "None", "(I, T)", "T.partition(T)", "T.rpartition(T)")
}

func (g sources) integer(depth int) string {
	if depth <= 0 {
		return g.pick("n", "z", "1", "2", "-3", "0", strconv.FormatInt(rapid.Int64().Draw(g.t, "int"), 10))
	}
	return g.fill(depth, "(I + I)", "(I - I)", "(I * I)", "(I // I)", "(I % I)", "(I & I)", "(I | I)", "(I ^ I)", "(-I)", "(~I)",
		"(I << (I & 63))", "(I >> (I & 63))", "len(T)", "len(L)", "len(D)", "(I if B else I)", "(I and I)", "(I or I)", "abs(I)", "int(I)",
		"L[I]", "max(L)", "min(I, I)", "T.find(T)", "T.rfind(T)", "T.count(T)", "T.index(T)", "L.index(I)", "D[T]", "D.get(T, I)", "int(str(I))", "int(B)", "I")
}

func (g sources) text(depth int) string {
	if depth <= 0 {
		return g.pick("s", "e", "'a'", "'b,a'", "' x  y '", "'Ab c'", "'k'", "'l'", "'line\\nend\\n'", "'{'")
	}
	return g.fill(depth, "(T + T)", "(T * (I & 3))", "T[I]", "T[I:I]", "T[::-1]", "T[I:]", "T[:I:2]", "T.upper()", "T.lower()", "T.title()", "T.capitalize()",
		"T.strip()", "T.lstrip('h, ')", "T.rstrip('a')", "T.replace(T, T)", "T.replace(T, T, I & 3)", "T.join(S)", "str(I)", "S[I]", "(T if B else T)", "(T or T)",
		"T.removeprefix(T)", "T.removesuffix(T)", "('%s=%d' % (T, I))", "('%s' % T)", "'{}-{}'.format(T, I)", "'{1}{0}'.format(I, T)", "'{a}'.format(a=T)", "('%x' % I)", "('%o' % I)", "T")
}

func (g sources) boolean(depth int) string {
	if depth <= 0 {
		return g.pick("True", "False")
	}
	return g.fill(depth, "(I < I)", "(I == I)", "(I >= I)", "(T < T)", "(T == T)", "(T != T)", "(L == L)", "(L < L)", "(S <= S)", "(I in L)", "(T in S)", "(T in T)", "(T in D)",
		"(not B)", "(B and B)", "(B or B)", "(I == T)", "(B == B)", "(D == D)", "T.startswith(T)", "T.endswith(T)", "any(L)", "all(S)", "bool(T)", "(T.isalpha() and B)", "T.isdigit()", "T.isspace()", "T.islower()", "T.isupper()", "T.isalnum()", "(I not in L)")
}

func (g sources) ints(depth int) string {
	if depth <= 0 {
		return g.pick("xs", "[]", "[1, 2, 3]", "[0]")
	}
	return g.fill(depth, "(L + L)", "(L * (I & 3))", "[I, I]", "L[I:I]", "L[::-1]", "L[I::2]", "sorted(L)", "sorted(L, reverse=B)", "list(reversed(L))", "[x for x in L if x < I]", "[x + I for x in L]", "[x * y for x in L for y in L]",
		"list(range(I & 7))", "list(range(I & 7, I & 15, 3))", "[len(t) for t in S]", "[v for v in sorted(D.values())]", "L")
}

func (g sources) texts(depth int) string {
	if depth <= 0 {
		return g.pick("ts", "[]", "['x', 'y']")
	}
	return g.fill(depth, "(S + S)", "[T, T]", "T.split(T)", "T.split()", "T.split(None, I & 3)", "T.split(',', I & 3)", "T.splitlines()", "sorted(S)", "[t + T for t in S]", "[t for t in S if t]", "sorted(D.keys())", "S[I:]", "[str(x) for x in L]", "S")
}

func (g sources) dict(depth int) string {
	if depth <= 0 {
		return g.pick("d", "{}", "{'k': 2}")
	}
	return g.fill(depth, "{T: I}", "{T: I, T: I}", "(D | D)", "{t: len(t) for t in S}", "{k: v + I for k, v in D.items()}", "dict([[t, I] for t in S])", "D")
}
