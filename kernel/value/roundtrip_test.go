package value_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// EX-10: one value, one encoding, and it is the one that RFC 8949 gives.
func TestEncodingEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := goValue(4).Draw(t, "value")
		raw := fromGo(t, v)
		require.Equal(t, oracle(t, v), []byte(raw))
		require.Nil(t, value.Check(raw, len(raw)))
		require.Equal(t, integers(v), raw.ToGo())
	})
}

// EX-10: JSON -> Raw -> JSON -> Raw loses nothing.
func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := fromGo(t, goValue(4).Draw(t, "value"))
		src := raw.AppendJSON(nil)
		require.True(t, json.Valid(src), "%s", src)
		again, problem := value.FromJSON(src, len(raw))
		require.Nil(t, problem)
		require.Equal(t, raw, again)
	})
}

// The standard library's JSON, with its own order of keys and its own escapes,
// means the same value.
func TestForeignJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := goValue(4).Draw(t, "value")
		src, err := json.MarshalIndent(integers(v), " ", "\t")
		require.NoError(t, err)
		raw, problem := value.FromJSON(src, noLimit)
		if problem != nil {
			// encoding/json writes floats up to 1e21 without an exponent, and
			// as integers those are beyond the model.
			require.Contains(t, problem.Rule, "2^53")
			return
		}
		require.Equal(t, fromGo(t, v), raw)
	})
}

func TestCanonicalJSON(t *testing.T) {
	for src, want := range map[string]string{
		` { "bb" : 1 , "a":[ ] , "b":{} } `: `{"a":[],"b":{},"bb":1}`,
		`1.0`:                               `1`,
		`-0`:                                `0`,
		`-0.0e5`:                            `0`,
		`1e2`:                               `100`,
		`9007199254740992`:                  `9007199254740992`,
		`-9007199254740992`:                 `-9007199254740992`,
		`1e16`:                              `1e+16`,
		`6.022e23`:                          `6.022e+23`,
		`1e-7`:                              `1e-07`,
		`0.1`:                               `0.1`,
		`123456.789`:                        `123456.789`,
		`"\u0041\/\b\f\n\r\t\"\\\u00e9"`:    `"A/\u0008\u000c\n\r\t\"\\é"`,
		`"\ud83d\ude00"`:                    `"😀"`,
		`"\u0000"`:                          `"\u0000"`,
		`[null,true,false]`:                 `[null,true,false]`,
		strings.Repeat("[", 64) + strings.Repeat("]", 64): strings.Repeat("[", 64) + strings.Repeat("]", 64),
	} {
		assert.Equal(t, want, string(fromJSON(t, src).AppendJSON(nil)), src)
	}
}

// Lists and maps whose header takes 1, 2, 3 and 5 bytes.
func TestLongContainers(t *testing.T) {
	for _, n := range []int{23, 24, 255, 256, 65535, 65536} {
		items := make([]any, n)
		members := make(map[string]any, n)
		for i := range items {
			items[i] = nil
			members[strings.Repeat("k", i%3)+string(rune('a'+i%26))+strings.Repeat("v", i%100)+string(rune(0x100+i%0xd000))] = true
		}
		v := []any{strings.Repeat("x", n), items, members}
		raw := fromGo(t, v)
		require.Equal(t, oracle(t, v), []byte(raw))
		again, problem := value.FromJSON(raw.AppendJSON(nil), len(raw))
		require.Nil(t, problem)
		require.Equal(t, raw, again)
	}
}

// Raw stands in JSON documents of encoding/json as itself, read strictly.
func TestRawInsideDocuments(t *testing.T) {
	var doc struct{ A, B value.Raw }
	require.NoError(t, json.Unmarshal([]byte(`{"A":{"y":1.0,"x":[]}}`), &doc))
	out, err := json.Marshal(doc)
	require.NoError(t, err)
	assert.Equal(t, `{"A":{"x":[],"y":1},"B":null}`, string(out))
	err = json.Unmarshal([]byte(`{"A":{"k":{"x":1,"x":2}}}`), &doc)
	require.Error(t, err)
	assert.Contains(t, err.Error(), "k.x: the key is repeated")
}
