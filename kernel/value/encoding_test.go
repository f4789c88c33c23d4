package value_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// A value passes encoding/json as itself, and what is no value does not (EX-10).
func TestRawInJSON(t *testing.T) {
	type holder struct {
		Value value.Raw `json:"value,omitempty"`
	}
	for _, src := range []string{`{"value":{"a":[1,2.5,null,"x"]}}`, `{"value":null}`, `{}`} {
		var h holder
		require.NoError(t, json.Unmarshal([]byte(src), &h))
		text, err := json.Marshal(h)
		require.NoError(t, err)
		assert.JSONEq(t, src, string(text))
	}
	for _, src := range []string{`{"value":{"a":1,"a":2}}`, `{"value":9007199254740993}`} {
		assert.Error(t, json.Unmarshal([]byte(src), new(holder)), src)
	}
	text, err := json.Marshal([]value.Raw{nil})
	require.NoError(t, err)
	assert.Equal(t, "[null]", string(text))
}
