package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// LI-1: a client that asks for more than its rate waits, with the leader, and
// each of its commands takes effect once.
func TestClientWaitsForItsRate(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	c := connect(t, client.Options{}, g.Serve(t, httpapi.Options{Rate: callers.Rate{Mode: callers.Enforce, PerSecond: 20, Burst: 2}})...)
	for range 10 {
		_, err := c.Define(within(t, time.Minute), event.Define{})
		require.NoError(t, err)
	}
	assert.Equal(t, uint64(11), g.Index())
}

// LI-1: when its time is over before there is room, nothing was done.
func TestRateIsADefiniteRefusal(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	c := connect(t, client.Options{}, g.Serve(t, httpapi.Options{Rate: callers.Rate{Mode: callers.Enforce, PerSecond: 1e-6, Burst: 2}})...)
	_, err := c.Define(within(t, time.Minute), event.Define{}) // and its session: two requests
	require.NoError(t, err)
	_, err = c.Define(within(t, time.Second), event.Define{})
	var said *api.Error
	require.ErrorAs(t, err, &said)
	assert.Equal(t, "RATE_LIMITED", said.Code)
	assert.True(t, client.Definite(err))
	assert.Equal(t, api.ExitRefused, client.ExitOf(err))
	assert.Equal(t, uint64(2), g.Index())
}
