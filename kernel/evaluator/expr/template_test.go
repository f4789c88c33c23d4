package expr

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Data without expressions is the same value every time, at no cost.
func TestConstantTemplates(t *testing.T) {
	for src, constant := range map[string]bool{
		`1`: true, `"x"`: true, `{"a":["$${x}",{"b":null}]}`: true, `{"${a}":1}`: true, `"$"`: true,
		`"${1}"`: false, `["a",{"b":"x${1}"}]`: false,
	} {
		template, refused := CompileTemplate(rawJSON(t, src), "payload")
		require.Nil(t, refused, src)
		assert.Equal(t, constant, template.Constant(), src)
	}
	template, refused := CompileTemplate(rawJSON(t, `{"a":["$${x}",{"b":null}]}`), "")
	require.Nil(t, refused)
	m := NewMeter(1, 0)
	v, f := template.Eval(nil, m)
	require.Nil(t, f)
	assert.Equal(t, `{"a":["${x}",{"b":null}]}`, jsonOf(t, v))
	assert.Equal(t, uint32(1), m.Work())
}

// A large constant may stand in a program; with an expression in it, the value
// is built and bounded.
func TestTemplateSize(t *testing.T) {
	text := strings.Repeat("a", 70_000)
	template, refused := CompileTemplate(rawJSON(t, `["`+text+`"]`), "")
	require.Nil(t, refused)
	_, f := template.Eval(nil, NewMeter(DefaultSteps, DefaultBytes))
	require.Nil(t, f)
	for _, src := range []string{`["` + text + `","${1}"]`, `"` + text + `${1}"`, `{"a":"` + text + `","b":"${1}"}`} {
		template, refused = CompileTemplate(rawJSON(t, src), "")
		require.Nil(t, refused)
		_, f = template.Eval(nil, NewMeter(DefaultSteps, DefaultBytes))
		require.NotNil(t, f)
		assert.Equal(t, failure.ValueTooLarge, f.Code)
	}
}

// A failure names the text that the expression stands in, unless that would
// push the reason out of the message.
func TestTemplatePaths(t *testing.T) {
	deep := strings.Repeat(`{"a_rather_long_key":`, 8) + `"${x}"` + strings.Repeat("}", 8)
	for src, want := range map[string]string{
		`"${x}"`:             `unknown name "x"`,
		`{"a":["${x}"]}`:     `a[0]: unknown name "x"`,
		`[[{"b c":"${x}"}]]`: `[0][0]["b c"]: unknown name "x"`,
		deep:                 `unknown name "x"`,
	} {
		template, refused := CompileTemplate(rawJSON(t, src), "")
		require.Nil(t, refused)
		_, f := template.Eval(names{}, NewMeter(DefaultSteps, DefaultBytes))
		require.NotNil(t, f)
		assert.Equal(t, want, f.Message)
		assert.Equal(t, [2]uint32{1, 1}, [2]uint32{f.Line, f.Column})
	}
}

// Expressions are evaluated in the order of the data, each once.
func TestTemplateOrder(t *testing.T) {
	template, refused := CompileTemplate(rawJSON(t, `{"bb":"${a}","a":["${b}","${c}x${d}"]}`), "")
	require.Nil(t, refused)
	var asked []string
	_, f := template.Eval(lookup(func(name string) (starlark.Value, bool) {
		asked = append(asked, name)
		return starlark.None, true
	}), NewMeter(DefaultSteps, DefaultBytes))
	require.Nil(t, f)
	assert.Equal(t, []string{"b", "c", "d", "a"}, asked)
}
