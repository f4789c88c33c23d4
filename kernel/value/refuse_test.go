package value_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// EX-10: what is rejected where JSON enters, with the path and the rule.
func TestFromJSONRefuses(t *testing.T) {
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	for _, c := range []struct{ src, path, rule string }{
		{``, "", "not JSON at line 1, column 1: expected a value"},
		{`  `, "", "not JSON at line 1, column 3: expected a value"},
		{"{\n \"a\": x}", "a", "not JSON at line 2, column 7: expected a value"},
		{`nul`, "", "not JSON at line 1, column 1: expected a value"},
		{`NaN`, "", "not JSON at line 1, column 1: expected a value"},
		{`Infinity`, "", "not JSON at line 1, column 1: expected a value"},
		{`1 2`, "", "not JSON at line 1, column 3: expected nothing after the value"},
		{`{} {}`, "", "not JSON at line 1, column 4: expected nothing after the value"},
		{"\xef\xbb\xbf1", "", "not JSON at line 1, column 1: expected a value"},
		{`[1,]`, "[1]", "not JSON at line 1, column 4: expected a value"},
		{`[1 2]`, "", "not JSON at line 1, column 4: expected a comma or ]"},
		{`[1`, "", "not JSON at line 1, column 3: expected a comma or ]"},
		{`{"a":1,}`, "", "not JSON at line 1, column 8: expected a key in double quotes"},
		{`{"a" 1}`, "", "not JSON at line 1, column 6: expected a colon"},
		{`{"a":1 "b":2}`, "", "not JSON at line 1, column 8: expected a comma or }"},
		{`{a:1}`, "", "not JSON at line 1, column 2: expected a key in double quotes"},
		{`{"a":{"x":1,"y":2,"x":3}}`, "a.x", "the key is repeated"},
		{`{"a":1,"\u0061":2}`, "a", "the key is repeated"},
		{`{"b b":[{"c":1e999}]}`, `["b b"][0].c`, "a number is finite"},
		{`[9007199254740993]`, "[0]", "an integer is at most 2^53 away from zero"},
		{`[-9007199254740993]`, "[0]", "an integer is at most 2^53 away from zero"},
		{`123456789012345678901234567890`, "", "an integer is at most 2^53 away from zero"},
		{`01`, "", "not JSON at line 1, column 2: expected nothing after the value"},
		{`-`, "", "not JSON at line 1, column 2: expected a digit"},
		{`1.`, "", "not JSON at line 1, column 3: expected a digit"},
		{`1e+`, "", "not JSON at line 1, column 4: expected a digit"},
		{`.5`, "", "not JSON at line 1, column 1: expected a value"},
		{`+1`, "", "not JSON at line 1, column 1: expected a value"},
		{"\"a\nb\"", "", "not JSON at line 1, column 3: expected control characters in text to be escaped"},
		{`"abc`, "", "not JSON at line 1, column 5: expected a closing quote"},
		{`"\`, "", "not JSON at line 1, column 3: expected an escape sequence"},
		{`"\x"`, "", "not JSON at line 1, column 3: expected an escape sequence"},
		{`"\u12"`, "", "not JSON at line 1, column 4: expected four hexadecimal digits"},
		{`"\u12g4"`, "", "not JSON at line 1, column 4: expected four hexadecimal digits"},
		{`"\ud83d\u12"`, "", "not JSON at line 1, column 10: expected four hexadecimal digits"},
		{`{"k":"\ud800"}`, "k", "text is not valid UTF-8"},
		{`"\udc00\ud800"`, "", "text is not valid UTF-8"},
		{`"\ud800\u0041"`, "", "text is not valid UTF-8"},
		{"\"\xff\"", "", "text is not valid UTF-8"},
		{"\"\xed\xa0\x80\"", "", "text is not valid UTF-8"},
		{"{\"\xc3\":1}", "", "text is not valid UTF-8"},
		{deep, strings.Repeat("[0]", 64), "lists and maps are nested deeper than 64"},
	} {
		raw, problem := value.FromJSON([]byte(c.src), noLimit)
		if assert.NotNil(t, problem, c.src) {
			assert.Nil(t, raw, c.src)
			assert.Equal(t, value.Problem{Path: c.path, Rule: c.rule}, *problem, c.src)
		}
	}
}

// The bound is on the canonical form: JSON may be longer.
func TestFromJSONSize(t *testing.T) {
	src := []byte(`[ "abcdef" , 100000 ]`)
	raw, problem := value.FromJSON(src, 13)
	require.Nil(t, problem)
	require.Len(t, raw, 13)
	for limit := -1; limit < 13; limit++ {
		_, problem = value.FromJSON(src, limit)
		require.NotNil(t, problem, limit)
		require.Contains(t, problem.Rule, "the value is larger than")
	}
}

// EX-10: what is rejected where bytes enter.
func TestCheckRefuses(t *testing.T) {
	deep := strings.Repeat("81", 65) + "80"
	for _, c := range []struct{ hex, path, rule string }{
		{"", "", "the bytes end inside a value"},
		{"18", "", "the bytes end inside a value"},
		{"1b00000000", "", "the bytes end inside a value"},
		{"6261", "", "the bytes end inside a value"},
		{"8201", "", "the bytes end inside a value"},
		{"8282", "", "the bytes end inside a value"},
		{"a16161", "a", "the bytes end inside a value"},
		{"a161", "", "the bytes end inside a value"},
		{"9b7fffffffffffffff00", "", "the bytes end inside a value"},
		{"0000", "", "bytes follow the value"},
		{"1c", "", "the initial byte is reserved"},
		{"fc", "", "the initial byte is reserved"},
		{"9f00ff", "", "a length is definite"},
		{"7f6161ff", "", "a length is definite"},
		{"ff", "", "a length is definite"},
		{"1817", "", "a number or length is not in its shortest form"},
		{"1900ff", "", "a number or length is not in its shortest form"},
		{"1a0000ffff", "", "a number or length is not in its shortest form"},
		{"1b00000000ffffffff", "", "a number or length is not in its shortest form"},
		{"780161", "", "a number or length is not in its shortest form"},
		{"980100", "", "a number or length is not in its shortest form"},
		{"1b0020000000000001", "", "an integer is at most 2^53 away from zero"},
		{"3b0020000000000000", "", "an integer is at most 2^53 away from zero"},
		{"4161", "", "a value is null, a boolean, a number, text, a list or a map"},
		{"c000", "", "a value is null, a boolean, a number, text, a list or a map"},
		{"f7", "", "the only simple values are true, false and null"},
		{"e0", "", "the only simple values are true, false and null"},
		{"f818", "", "the only simple values are true, false and null"},
		{"f97e00", "", "a number is finite"},
		{"f97c00", "", "a number is finite"},
		{"fa7f800000", "", "a number is finite"},
		{"fbfff0000000000000", "", "a number is finite"},
		{"f90000", "", "an integral number is encoded as an integer"},
		{"f98000", "", "an integral number is encoded as an integer"},
		{"fb3ff0000000000000", "", "an integral number is encoded as an integer"},
		{"fa3fc00000", "", "a number is in its shortest form that is exact"},
		{"fb3ff8000000000000", "", "a number is in its shortest form that is exact"},
		{"fb3ff0000020000000", "", "a number is in its shortest form that is exact"},
		{"61ff", "", "text is not valid UTF-8"},
		{"a161ff00", "", "text is not valid UTF-8"},
		{"a10000", "", "a map's key is text with its length in shortest form"},
		{"a178016100", "", "a map's key is text with its length in shortest form"},
		{"a2616100616100", "a", "the key is repeated"},
		{"a2616200616100", "a", "a map's keys are in canonical order"},
		{"a262616100616200", "b", "a map's keys are in canonical order"},
		{"81a161788163ffffff", "[0].x[0]", "text is not valid UTF-8"},
		{deep, strings.Repeat("[0]", 64), "lists and maps are nested deeper than 64"},
	} {
		b, err := hex.DecodeString(c.hex)
		require.NoError(t, err)
		problem := value.Check(b, noLimit)
		if assert.NotNil(t, problem, c.hex) {
			assert.Equal(t, value.Problem{Path: c.path, Rule: c.rule}, *problem, c.hex)
		}
	}
	assert.Nil(t, value.Check(value.EmptyList, 1))
	assert.Equal(t, "the value is larger than 0 bytes", value.Check(value.EmptyList, 0).String())
}

// EX-10: what is rejected where Go data enters.
func TestFromGoRefuses(t *testing.T) {
	cyclic := []any{nil}
	cyclic[0] = cyclic
	for _, c := range []struct {
		v    any
		path string
		rule string
	}{
		{math.NaN(), "", "a number is finite"},
		{[]any{math.Inf(-1)}, "[0]", "a number is finite"},
		{map[string]any{"a": int64(1)<<53 + 1}, "a", "an integer is at most 2^53 away from zero"},
		{uint64(math.MaxUint64), "", "an integer is at most 2^53 away from zero"},
		{"\xff", "", "text is not valid UTF-8"},
		{map[string]any{"\xff": 1}, "", "text is not valid UTF-8"},
		{map[any]any{1: 2}, "", "a value is null, a boolean, a number, text, a list, or a map with text keys"},
		{[]any{struct{}{}}, "[0]", "a value is null, a boolean, a number, text, a list, or a map with text keys"},
		{cyclic, strings.Repeat("[0]", 64), "lists and maps are nested deeper than 64"},
	} {
		_, problem := value.FromGo(c.v)
		if assert.NotNil(t, problem, c.rule) {
			assert.Equal(t, value.Problem{Path: c.path, Rule: c.rule}, *problem)
		}
	}
}

func TestPathIsBounded(t *testing.T) {
	key := strings.Repeat("\x01", 5000)
	var v any = math.NaN()
	for range 30 {
		v = map[string]any{key: v}
	}
	_, problem := value.FromGo(v)
	require.NotNil(t, problem)
	assert.LessOrEqual(t, len(problem.Path), 512)
	assert.True(t, strings.HasPrefix(problem.Path, `["\u0001\u0001`), problem.Path)
}

func TestAppendRefusesNoValues(t *testing.T) {
	assert.Panics(t, func() { value.AppendInt(nil, value.MaxInt+1) })
	assert.Panics(t, func() { value.AppendInt(nil, math.MinInt64) })
	assert.Panics(t, func() { value.AppendFloat(nil, math.NaN()) })
	assert.Panics(t, func() { value.AppendFloat(nil, math.Inf(1)) })
}

// RFC 8949, appendix A, and the edges of each width.
func TestFloatVectors(t *testing.T) {
	for f, want := range map[float64]string{
		1.5: "f93e00", -1.5: "f9be00", 0.00006103515625: "f90400", 0x1p-24: "f90001", -0x1p-24: "f98001",
		0x1.ff8p-15: "f903ff", 0x1.ffcp-15: "fa387fe000", 0x1.ff8p-1: "f93bfe", 2047.5: "fa44fff000", 1023.5: "f963ff",
		0x1.8p-24: "fa33c00000", 0x1p-25: "fa33000000", 0x1p-149: "fa00000001", 0x1p-150: "fb3690000000000000",
		3.4028234663852886e+38: "fa7f7fffff", 1.1: "fb3ff199999999999a", -4.1: "fbc010666666666666",
		1.0e+300: "fb7e37e43c8800759c", 5e-324: "fb0000000000000001",
		0x1p53: "1b0020000000000000", -0x1p53: "3b001fffffffffffff", 0x1p53 + 2: "fb4340000000000001",
		0x1p54: "fa5a800000", 65504: "19ffe0", math.Copysign(0, -1): "00",
	} {
		raw := value.AppendFloat(nil, f)
		assert.Equal(t, want, hex.EncodeToString(raw), "%g", f)
		assert.Nil(t, value.Check(raw, 9), "%g", f)
		back, ok := value.Raw(raw).Float()
		assert.True(t, ok && back == f, "%g", f)
	}
}
