package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

// NO-2, NO-4: the emergency stop through the API: it needs a reason, refuses
// work definitely and says what to do, takes what ends, and is told by status and
// readyz, whose node stays ready.
func TestEmergencyStop(t *testing.T) {
	d := newDoor(t)
	ready := func() api.Health {
		return decode[api.Health](t, d.send(http.MethodGet, "/readyz", ""), http.StatusOK)
	}
	told := func() *api.Stop {
		status := decode[api.Status](t, d.send(http.MethodGet, "/v1/cluster/status", ""), http.StatusOK)
		require.Equal(t, status.Stopped, status.Nodes[0].Stopped)
		return status.Stopped
	}
	agent := d.start(`{"kind":"RECEIVE","payload":{}},"grants":[{"effect":"ALLOW","action":"tool.*","resource":"**"}]`).AgentID
	refuses(t, d.post("/suspend", `{}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "reason")
	refuses(t, d.post("/suspend", ``), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "reason")
	refuses(t, d.post("/suspend", `{"why":"x"}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "why")
	refuses(t, d.post("/resume", ``), http.StatusConflict, "INVALID_STATE", "")
	require.Nil(t, ready().Stopped)
	require.Nil(t, told())

	done := decode[api.Done](t, d.post("/suspend", `{"reason":"smoke"}`), http.StatusOK)
	stop := told()
	require.NotNil(t, stop)
	assert.Equal(t, "smoke", stop.Reason)
	assert.Equal(t, "client", stop.By)
	assert.Positive(t, stop.SinceMillis)
	assert.Greater(t, done.BusSeq, uint64(0))
	assert.Equal(t, stop, ready().Stopped)
	e := refuses(t, d.post("/agents/start", `{"agent":{"program":`+echo+`}}`), http.StatusConflict, "KERNEL_SUSPENDED", "")
	assert.True(t, e.Definite)
	assert.Contains(t, e.Hint, "omni cluster resume")
	assert.NotZero(t, e.Index)
	refuses(t, d.post("/suspend", `{"reason":"again"}`), http.StatusConflict, "KERNEL_SUSPENDED", "")
	decode[api.Done](t, d.post("/agents/"+agent+"/kill", `{"reason":"with the rest"}`), http.StatusOK)

	decode[api.Done](t, d.post("/resume", `{"reason":"a toaster"}`), http.StatusOK)
	require.Nil(t, told())
	require.Nil(t, ready().Stopped)
	d.start(echo)
	var orders []api.Record
	for _, r := range decode[api.LogPage](t, d.get("/log?limit=1000"), http.StatusOK).Records {
		if r.Kind == "KERNEL_SUSPENDED" || r.Kind == "KERNEL_RESUMED" {
			orders = append(orders, r)
		}
	}
	require.Len(t, orders, 2)
	assert.Equal(t, stop.BusSeq, orders[0].BusSeq)
	assert.JSONEq(t, `{"by":"client","reason":"smoke"}`, string(orders[0].Body))
	assert.JSONEq(t, `{"by":"client","reason":"a toaster"}`, string(orders[1].Body))
}
