package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func TestNewCommand(t *testing.T) {
	for op, body := range map[api.Op]any{
		api.OpDefine: event.Define{}, api.OpStart: event.Start{}, api.OpTrigger: event.Trigger{},
		api.OpKill: event.Kill{}, api.OpSubmit: event.Submit{}, api.OpSend: event.Send{}, api.OpReclassify: event.Reclassify{},
		api.OpRevokeToken: event.RevokeToken{}, api.OpRevokeGrant: event.RevokeGrant{}, api.OpDecide: event.Decide{},
		api.OpPutShared: event.PutShared{}, api.OpDeleteShared: event.DeleteShared{},
	} {
		assert.Equal(t, op, api.NewCommand(body).Op)
		assert.Contains(t, api.Ops, op)
	}
	assert.Panics(t, func() { api.NewCommand(event.Leader{}) })
	submit := api.NewCommand(event.Submit{Agent: "a", Input: value.Raw(value.AppendInt(nil, 7))})
	assert.JSONEq(t, `{"agent":"a","input":7}`, string(submit.Body))
}

// An agent without a result has none; one whose result is null has null.
func TestResultNullIsNotAbsent(t *testing.T) {
	for want, result := range map[string]value.Raw{"null": value.Null, "": nil} {
		text, err := json.Marshal(api.Agent{Result: result})
		require.NoError(t, err)
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &fields))
		assert.Equal(t, want, string(fields["result"]))
	}
}
