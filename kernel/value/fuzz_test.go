package value_test

import (
	"encoding/json"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// FuzzCheck: whatever Check accepts, another implementation decodes and encodes
// back to the same bytes; whatever the bytes are, reading them is safe.
func FuzzCheck(f *testing.F) {
	for _, src := range []string{`null`, `[1,-1,0.5,1e300]`, `{"a":{"b":[]},"cc":"é"}`, `"\ud83d\ude00"`} {
		raw, _ := value.FromJSON([]byte(src), noLimit)
		f.Add([]byte(raw))
	}
	f.Add([]byte{0x9f, 0x00, 0xff})
	f.Add([]byte{0xfb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0})
	strict, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		IntDec: cbor.IntDecConvertSignedOrFail, DefaultMapType: mapType, MaxNestedLevels: 65,
		MaxArrayElements: 1 << 20, MaxMapPairs: 1 << 20,
	}.DecMode()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, b []byte) {
		readEverything(b)
		if value.Check(b, noLimit) != nil {
			return
		}
		var v any
		require.NoError(t, strict.Unmarshal(b, &v))
		require.Equal(t, b, oracle(t, v))
		require.Equal(t, v, value.Raw(b).ToGo())
		require.Equal(t, value.Raw(b), fromGo(t, v))
		again, problem := value.FromJSON(value.Raw(b).AppendJSON(nil), len(b))
		require.Nil(t, problem)
		require.Equal(t, value.Raw(b), again)
		require.LessOrEqual(t, value.Raw(b).Depth(), value.MaxDepth)
	})
}

// FuzzFromJSON: whatever is accepted is JSON for the standard library too, and
// canonical; the bound on size holds.
func FuzzFromJSON(f *testing.F) {
	for _, src := range []string{
		`null`, ` [1, -1.50e1, "x\n\u00e9\ud83d\ude00", {"b":1,"a":{}}] `, `{"a":1,"a":2}`, `"\ud800"`,
		`9007199254740993`, `1e999`, `[[[[[[]]]]]]`, `{"":{"":""}}`,
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		raw, problem := value.FromJSON(src, 1000)
		if problem != nil {
			require.NotEmpty(t, problem.Rule)
			require.Nil(t, raw)
			return
		}
		require.True(t, json.Valid(src))
		require.Nil(t, value.Check(raw, 1000))
		again, problem := value.FromJSON(raw.AppendJSON(nil), 1000)
		require.Nil(t, problem)
		require.Equal(t, raw, again)
	})
}
