package value_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/value"
)

var mapType = reflect.TypeFor[map[string]any]()

const noLimit = 1 << 20

// goValue draws a value of the data model as Go data, at most depth lists and
// maps deep.
func goValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 5
		if depth > 0 {
			kinds = 7
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Int64Range(-value.MaxInt, value.MaxInt).Draw(t, "int")
		case 3:
			return goFloat().Draw(t, "float")
		case 4:
			return rapid.String().Draw(t, "text")
		case 5:
			return rapid.SliceOfN(goValue(depth-1), 0, 30).Draw(t, "list")
		default:
			return rapid.MapOfN(rapid.String(), goValue(depth-1), 0, 30).Draw(t, "map")
		}
	})
}

// goFloat draws finite floats, among them many that fit in 32 and in 16 bits.
func goFloat() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64(),
		rapid.Map(rapid.Float32(), func(f float32) float64 { return float64(f) }),
		rapid.Map(rapid.IntRange(-2048, 2047), func(n int) float64 { return float64(n) / 64 }),
		rapid.Map(rapid.IntRange(-1023, 1023), func(n int) float64 { return float64(n) * 0x1p-24 }),
		rapid.Map(rapid.Int64(), func(n int64) float64 { return float64(n) }),
	).Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) })
}

// oracle encodes with another implementation of core deterministic CBOR. The
// model's own rule, that integral floats are integers, is applied first.
func oracle(t require.TestingT, v any) []byte {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	require.NoError(t, err)
	b, err := mode.Marshal(integers(v))
	require.NoError(t, err)
	return b
}

func integers(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= float64(value.MaxInt) {
			return int64(v)
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = integers(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = integers(v[k])
		}
		return out
	}
	return v
}

func fromGo(t require.TestingT, v any) value.Raw {
	raw, problem := value.FromGo(v)
	require.Nil(t, problem)
	return raw
}

func fromJSON(t testing.TB, src string) value.Raw {
	t.Helper()
	raw, problem := value.FromJSON([]byte(src), noLimit)
	require.Nil(t, problem, src)
	return raw
}
