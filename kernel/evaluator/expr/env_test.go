package expr

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// names is an environment for tests.
type names map[string]starlark.Value

func (n names) Lookup(name string) (starlark.Value, bool) {
	v, ok := n[name]
	return v, ok
}

// rawJSON reads JSON into a stored value.
func rawJSON(t testing.TB, src string) value.Raw {
	t.Helper()
	raw, problem := value.FromJSON([]byte(src), 1<<20)
	require.Nil(t, problem, "%v", problem)
	return raw
}

// fromJSON reads JSON into a value for expressions.
func fromJSON(t testing.TB, src string) starlark.Value {
	t.Helper()
	return FromRaw(rawJSON(t, src))
}

// compiled compiles an expression that must compile.
func compiled(t testing.TB, src string) *Expr {
	t.Helper()
	e, refused := Compile(src)
	require.Nil(t, refused, "%s: %+v", src, refused)
	return e
}

// jsonOf is a value as JSON, by way of its stored form.
func jsonOf(t testing.TB, v starlark.Value) string {
	t.Helper()
	raw, f := AppendRaw(nil, v, 1<<20)
	require.Nil(t, f, "%+v", f)
	require.Nil(t, value.Check(raw, 1<<20))
	return string(value.Raw(raw).AppendJSON(nil))
}
