package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

func refusal(code string) func(event.Event) *cluster.Answer {
	return func(event.Event) *cluster.Answer { return &cluster.Answer{Verdict: cluster.Refused, Code: code} }
}

// EV-14: a node in safe mode is passed over, without a pause; elections beside
// it are waited for as ever.
func TestNodeInSafeModeIsPassedOver(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	c := connect(t, client.Options{}, g.Serve(t, httpapi.Options{})...)
	ctx := within(t, 20*time.Second)
	g.Lead(1)
	g.Nodes[0].Answer = refusal("SAFE_MODE")
	done, err := c.Define(ctx, event.Define{})
	require.NoError(t, err)
	assert.Equal(t, "n2", done.Node)

	asked := 0
	g.Nodes[1].Answer = func(e event.Event) *cluster.Answer {
		if asked++; asked <= 6 {
			return refusal("NO_LEADER")(e)
		}
		return nil
	}
	done, err = c.Define(ctx, event.Define{})
	require.NoError(t, err)
	assert.Equal(t, "n2", done.Node)
	assert.Len(t, agents(t, c), 2)
}

// EV-14: when every node is in safe mode, that is said at once: only people can
// change it. A command that may have taken effect before stays unknown (CL-2).
func TestAllNodesInSafeMode(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	c := connect(t, client.Options{}, urls...)
	g.Lead(0)
	p := newProxy(t, urls[0])
	alone := connect(t, client.Options{}, p.url)
	_, err := alone.Define(within(t, 20*time.Second), event.Define{})
	require.NoError(t, err)
	for _, n := range g.Nodes {
		n.Answer = refusal("SAFE_MODE")
	}
	began := time.Now()
	for _, options := range [][]client.Option{nil, {client.Node(urls[1])}} {
		_, err := c.Define(within(t, 20*time.Second), event.Define{}, options...)
		var said *api.Error
		require.ErrorAs(t, err, &said)
		assert.Equal(t, api.CodeSafeMode, said.Code)
		assert.Equal(t, api.ExitRefused, client.ExitOf(err))
	}
	assert.Less(t, time.Since(began), 5*time.Second)

	mute := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"code":"SAFE_MODE","definite":true,"message":"held"}`))
	}))
	t.Cleanup(mute.Close)
	reader := connect(t, client.Options{}, mute.URL)
	ctx := within(t, 20*time.Second)
	_, err = reader.Agents(ctx, api.AgentQuery{})
	assert.ErrorContains(t, err, "SAFE_MODE: held")
	_, err = reader.Export(ctx, 0, io.Discard)
	assert.ErrorContains(t, err, "SAFE_MODE: held")
	for _, err := range reader.Watch(ctx, api.WatchQuery{}) {
		assert.ErrorContains(t, err, "SAFE_MODE: held")
	}
	assert.Less(t, time.Since(began), 5*time.Second)

	p.drop.Store(1)
	_, err = alone.Define(within(t, 20*time.Second), event.Define{})
	var unknown *client.Unknown
	require.ErrorAs(t, err, &unknown)
}
