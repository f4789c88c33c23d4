package value_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/value"
)

func TestScalars(t *testing.T) {
	raw := fromJSON(t, `{"n":null,"t":true,"f":false,"i":-7,"x":1.5,"s":"é","l":[1,2],"m":{"a":1}}`)
	get := func(key string) value.Raw {
		member, ok := raw.Get(key)
		require.True(t, ok, key)
		return member
	}
	for key, kind := range map[string]value.Kind{
		"n": value.NullKind, "t": value.BoolKind, "f": value.BoolKind, "i": value.IntKind,
		"x": value.FloatKind, "s": value.StringKind, "l": value.ListKind, "m": value.MapKind,
	} {
		member := get(key)
		assert.Equal(t, kind, member.Kind(), key)
		_, isBool := member.Bool()
		assert.Equal(t, kind == value.BoolKind, isBool, key)
		_, isInt := member.Int()
		assert.Equal(t, kind == value.IntKind, isInt, key)
		_, isNumber := member.Float()
		assert.Equal(t, kind == value.IntKind || kind == value.FloatKind, isNumber, key)
		_, isText := member.Text()
		assert.Equal(t, kind == value.StringKind, isText, key)
	}
	b, _ := get("t").Bool()
	i, _ := get("i").Int()
	f, _ := get("i").Float()
	x, _ := get("x").Float()
	s, _ := get("s").Text()
	assert.Equal(t, []any{true, int64(-7), -7.0, 1.5, "é"}, []any{b, i, f, x, s})
	assert.Equal(t, uint64(8), raw.Len())
	assert.Equal(t, uint64(2), get("l").Len())
	assert.Zero(t, get("s").Len())
	for _, absent := range []string{"", "a", "zz"} {
		_, ok := raw.Get(absent)
		assert.False(t, ok, absent)
	}
	_, ok := get("l").Get("a")
	assert.False(t, ok)
	assert.Equal(t, value.Invalid, value.Raw(nil).Kind())
}

// A Reader's way through a list is the same as ToGo's.
func TestReader(t *testing.T) {
	rd := value.NewReader(fromJSON(t, `[null,true,-1,0.5,"x",[1],{"k":[{}]}]`))
	n, ok := rd.ReadListHeader()
	require.True(t, ok)
	require.Equal(t, uint64(7), n)
	assert.False(t, func() bool { _, ok := rd.ReadInt(); return ok }())
	assert.True(t, rd.ReadNull())
	assert.False(t, rd.ReadNull())
	b, ok := rd.ReadBool()
	assert.True(t, b && ok)
	i, ok := rd.ReadInt()
	assert.True(t, i == -1 && ok)
	f, ok := rd.ReadFloat()
	assert.True(t, f == 0.5 && ok)
	s, ok := rd.ReadString()
	assert.True(t, s == "x" && ok)
	assert.Equal(t, []any{int64(1)}, rd.Skip().ToGo())
	assert.Equal(t, value.MapKind, rd.Kind())
	assert.False(t, rd.Empty())
	assert.Equal(t, map[string]any{"k": []any{map[string]any{}}}, rd.Skip().ToGo())
	assert.True(t, rd.Empty())
	assert.Nil(t, rd.Skip())
}

// Every member is found, and it is the right one.
func TestGetFindsEveryMember(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOf(rapid.String(), goValue(2)).Draw(t, "map")
		raw := fromGo(t, members)
		for key, member := range members {
			got, ok := raw.Get(key)
			require.True(t, ok, key)
			require.Equal(t, fromGo(t, member), got)
		}
		absent := rapid.String().Draw(t, "absent")
		_, ok := raw.Get(absent)
		_, want := members[absent]
		require.Equal(t, want, ok)
	})
}

func TestDepth(t *testing.T) {
	for src, want := range map[string]int{
		`1`: 0, `"x"`: 0, `[]`: 1, `{}`: 1, `[1,[],2]`: 2, `[[],{"a":[[]]},3]`: 4, `[[[]],[]]`: 3,
	} {
		assert.Equal(t, want, fromJSON(t, src).Depth(), src)
	}
	var nested value.Raw
	for range value.MaxDepth + 10 {
		nested = append(nested, 0x81)
	}
	nested = append(nested, 0x80)
	assert.Equal(t, value.MaxDepth+1, nested.Depth())
	assert.Equal(t, value.MaxDepth, nested[11:].Depth())
}

// The order of keys is the order of their encoded bytes.
func TestSortKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.String()).Draw(t, "keys")
		value.SortKeys(keys)
		require.True(t, slices.IsSortedFunc(keys, func(a, b string) int {
			return slices.Compare(value.AppendString(nil, a), value.AppendString(nil, b))
		}))
	})
}

// Nothing that reads panics or runs away on bytes that are no value.
func TestReadingGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { readEverything(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })
}

func readEverything(b []byte) {
	raw := value.Raw(b)
	raw.ToGo()
	raw.AppendJSON(nil)
	raw.Get("key")
	raw.Len()
	raw.Depth()
	rd := value.NewReader(raw)
	for !rd.Empty() && rd.Skip() != nil {
	}
}

// Deeply nested headers that promise more than there is are given up at once:
// the number of steps does not grow with a power of the length.
func TestReadingPromises(t *testing.T) {
	start := []byte{0xb8, 0x98, 0x81}
	for _, b := range start {
		readEverything(bytes.Repeat([]byte{b}, 100_000))
	}
}
