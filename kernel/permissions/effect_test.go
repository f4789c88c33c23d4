package permissions

import (
	"encoding/json"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// PE-1: the wire forms of a grant are part of the API and of the event format.
func TestGrantWireForms(t *testing.T) {
	grant := Grant{Effect: Escalate, Action: "tool.call", Resource: "echo/**", NotAfterMillis: 1700000000000}

	asJSON, err := json.Marshal(grant)
	require.NoError(t, err)
	assert.Equal(t, `{"effect":"ESCALATE","action":"tool.call","resource":"echo/**","not_after_ms":1700000000000}`, string(asJSON))
	var fromJSON Grant
	require.NoError(t, json.Unmarshal(asJSON, &fromJSON))
	assert.Equal(t, grant, fromJSON)

	mode, err := cbor.CoreDetEncOptions().EncMode()
	require.NoError(t, err)
	asCBOR, err := mode.Marshal(grant)
	require.NoError(t, err)
	assert.Equal(t, "\xa4\x01\x03\x02\x69tool.call\x03\x67echo/**\x04\x1b\x00\x00\x01\x8b\xcf\xe5\x68\x00", string(asCBOR))
	var fromCBOR Grant
	require.NoError(t, cbor.Unmarshal(asCBOR, &fromCBOR))
	assert.Equal(t, grant, fromCBOR)
}

func TestEffectText(t *testing.T) {
	for effect, name := range map[Effect]string{Allow: "ALLOW", Deny: "DENY", Escalate: "ESCALATE"} {
		text, err := effect.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, name, string(text))
		assert.Equal(t, name, effect.String())
		var back Effect
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, effect, back)
	}
	for _, bad := range []string{"", "allow", "ALLOW ", "NO_EFFECT", "PERMIT"} {
		var effect Effect
		require.Error(t, effect.UnmarshalText([]byte(bad)), bad)
		assert.Zero(t, effect)
	}
	for _, bad := range []Effect{0, 4, 255} {
		_, err := bad.MarshalText()
		require.Error(t, err)
		assert.Equal(t, "NO_EFFECT", bad.String())
	}
}
