package expr

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// data draws a Go value of the JSON data model.
func data(t *rapid.T, depth int) any {
	kinds := 6
	if depth > 0 {
		kinds = 8
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Int64Range(-value.MaxInt, value.MaxInt).Draw(t, "int")
	case 3:
		return int64(rapid.IntRange(-30, 300).Draw(t, "small"))
	case 4:
		f := rapid.Float64().Draw(t, "float")
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0.5
		}
		return f
	case 5:
		return rapid.String().Draw(t, "text")
	case 6:
		list := []any{}
		for range rapid.IntRange(0, 5).Draw(t, "items") {
			list = append(list, data(t, depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 5).Draw(t, "members") {
		m[rapid.String().Draw(t, "key")] = data(t, depth-1)
	}
	return m
}

// EX-10: what was stored comes back as the same bytes, and a value knows its
// size and its JSON without being encoded.
func TestRawRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, problem := value.FromGo(data(t, 4))
		require.Nil(t, problem)
		v := FromRaw(raw)
		back, f := AppendRaw([]byte("before"), v, MaxValueBytes)
		require.Nil(t, f)
		require.Equal(t, "before"+string(raw), string(back))
		s := shapeOf(v)
		require.Equal(t, len(raw), int(s.size))
		require.Equal(t, raw.Depth(), int(s.depth))
		require.False(t, s.wide)
		w := writer{m: NewMeter(math.MaxUint32, math.MaxUint32)}
		w.json(v)
		require.Equal(t, string(raw.AppendJSON(nil)), string(w.buf))
		require.True(t, same(v, FromRaw(raw)))
	})
}

// EX-10: size and integers are checked where a value leaves.
func TestAppendRawRefuses(t *testing.T) {
	huge := starlark.MakeBigInt(new(big.Int).Lsh(big.NewInt(1), 60))
	list, f := newList([]starlark.Value{huge})
	require.Nil(t, f)
	for _, c := range []struct {
		name string
		v    starlark.Value
		max  uint32
		code failure.Code
	}{
		{"integer beyond 2^53", huge, 100, failure.ValueTooLarge},
		{"one inside a list", list, 100, failure.ValueTooLarge},
		{"too many bytes", starlark.String("abc"), 3, failure.ValueTooLarge},
		{"list of too many bytes", fromJSON(t, `[1,2,3]`), 3, failure.ValueTooLarge},
		{"not UTF-8", starlark.String("a\xff"), 100, failure.EvalFailure},
		{"NaN", starlark.Float(math.NaN()), 100, failure.EvalFailure},
		{"infinity", starlark.Float(math.Inf(-1)), 100, failure.EvalFailure},
		{"no data", starlark.NewBuiltin("f", nil), 100, failure.EvalFailure},
		{"a set", starlark.NewSet(0), 100, failure.EvalFailure},
	} {
		dst, f := AppendRaw([]byte("as it was"), c.v, c.max)
		require.NotNil(t, f, c.name)
		assert.Equal(t, c.code, f.Code, c.name)
		assert.Equal(t, "as it was", string(dst), c.name)
	}
	dst, f := AppendRaw(nil, starlark.String("abc"), 4)
	require.Nil(t, f)
	assert.Equal(t, "\x63abc", string(dst))
}

// Bytes that are no value cannot be here: FromRaw does not guess.
func TestFromRawPanics(t *testing.T) {
	for _, raw := range []string{"", "\x82\x01", "\x01\x02", "\xff", "\xa1\x01\x02", "\x61", strings.Repeat("\x81", 66) + "\x01", "\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "\x5a\x00\x00\x00\x00"} {
		assert.Panics(t, func() { FromRaw(value.Raw(raw)) }, "%x", raw)
	}
}

// Starlark's own containers are copied into ours, within the bounds.
func TestOwn(t *testing.T) {
	dict := starlark.NewDict(2)
	require.NoError(t, dict.SetKey(starlark.String("bb"), starlark.Tuple{starlark.Float(2), starlark.None}))
	require.NoError(t, dict.SetKey(starlark.String("a"), starlark.NewList([]starlark.Value{starlark.True, starlark.Float(0.5)})))
	v, f := Own(dict)
	require.Nil(t, f)
	assert.Equal(t, `{"a":[true,0.5],"bb":[2,null]}`, jsonOf(t, v))
	again, f := Own(v)
	require.Nil(t, f)
	assert.Same(t, v, again)

	cyclic := starlark.NewList(nil)
	require.NoError(t, cyclic.Append(cyclic))
	shared := starlark.Value(starlark.None)
	for range 60 {
		shared = starlark.Tuple{shared, shared}
	}
	byNumber := starlark.NewDict(1)
	require.NoError(t, byNumber.SetKey(starlark.MakeInt(1), starlark.None))
	long := starlark.NewList(make([]starlark.Value, MaxValueBytes+1))
	for _, c := range []struct {
		name string
		v    starlark.Value
		code failure.Code
	}{
		{"cyclic", cyclic, failure.ValueTooLarge},
		{"shared 2^60 times", shared, failure.ValueTooLarge},
		{"too long", long, failure.ValueTooLarge},
		{"keys that are no text", byNumber, failure.EvalFailure},
		{"function inside", starlark.Tuple{starlark.NewBuiltin("f", nil)}, failure.EvalFailure},
		{"NaN inside", starlark.Tuple{starlark.Float(math.NaN())}, failure.EvalFailure},
		{"bytes", starlark.Bytes("x"), failure.EvalFailure},
	} {
		_, f := Own(c.v)
		require.NotNil(t, f, c.name)
		assert.Equal(t, c.code, f.Code, c.name)
	}
}

// What evaluators build themselves obeys the same bounds.
func TestNewListAndMap(t *testing.T) {
	list, f := NewList([]starlark.Value{starlark.Float(2), starlark.Tuple{starlark.None}})
	require.Nil(t, f)
	assert.Equal(t, `[2,[null]]`, jsonOf(t, list))
	assert.Equal(t, 2, list.Len())
	assert.Equal(t, starlark.MakeInt(2), list.Index(0))

	d, f := NewMap([]string{"bb", "a", "bb", "c"}, []starlark.Value{starlark.None, starlark.MakeInt(1), starlark.True, list})
	require.Nil(t, f)
	assert.Equal(t, `{"a":1,"c":[2,[null]],"bb":true}`, jsonOf(t, d))
	v, ok := d.Member("bb")
	assert.True(t, ok)
	assert.Equal(t, starlark.True, v)
	_, ok = d.Member("b")
	assert.False(t, ok)

	text := starlark.String(strings.Repeat("a", 40_000))
	_, f = NewList([]starlark.Value{text, text})
	require.NotNil(t, f)
	assert.Equal(t, failure.ValueTooLarge, f.Code)
	_, f = NewMap([]string{"a", "b"}, []starlark.Value{text, text})
	require.NotNil(t, f)
	assert.Equal(t, failure.ValueTooLarge, f.Code)
	_, f = NewMap([]string{"\xff"}, []starlark.Value{text})
	require.NotNil(t, f)
	assert.Equal(t, failure.EvalFailure, f.Code)
	deep := starlark.Value(starlark.None)
	for depth := range value.MaxDepth + 1 {
		next, f := NewList([]starlark.Value{deep})
		if depth == value.MaxDepth {
			require.NotNil(t, f)
			assert.Equal(t, failure.ValueTooLarge, f.Code)
			break
		}
		require.Nil(t, f, "%d", depth)
		deep = next
	}
}

// The types work where Starlark's interfaces are asked for, and never change.
func TestStarlarkInterfaces(t *testing.T) {
	v := fromJSON(t, `{"b":[1,2],"aa":null}`)
	var keys []starlark.Value
	for key := range starlark.Elements(v.(starlark.Iterable)) {
		keys = append(keys, key)
	}
	assert.Equal(t, []starlark.Value{starlark.String("b"), starlark.String("aa")}, keys)
	found, ok, err := v.(starlark.Mapping).Get(starlark.String("b"))
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "[1,2]", found.String())
	_, ok, err = v.(starlark.Mapping).Get(starlark.MakeInt(1))
	require.NoError(t, err)
	assert.False(t, ok)
	assert.Equal(t, `{"b":[1,2],"aa":null}`, v.String())
	assert.Equal(t, "dict", v.Type())
	assert.Equal(t, "list", found.Type())
	for _, v := range []starlark.Value{v, found} {
		v.Freeze()
		assert.True(t, bool(v.Truth()))
		_, err := v.Hash()
		assert.Error(t, err)
	}
	var items []starlark.Value
	for item := range starlark.Elements(found.(starlark.Iterable)) {
		items = append(items, item)
	}
	assert.Len(t, items, 2)
}
