package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// frail is a node that fails over some questions and orders.
type frail struct{ *solo.Node }

func (frail) Lifecycle() nodestate.Snapshot { panic("planted") }

func (frail) Order(context.Context, cluster.Order) (cluster.Ordered, error) { panic("planted") }

// NO-1: a request's panic is told, and hurts nobody else. Who reads is told that it
// failed; who ordered something finds the connection broken, and the outcome unknown.
func TestRequestsMayPanic(t *testing.T) {
	var told atomic.Int32
	g := solo.New(t, 1, solo.Setup{})
	server := httptest.NewServer(httpapi.New(frail{g.Nodes[0]}, httpapi.Options{Panicked: func(cause any) {
		assert.Equal(t, "planted", cause)
		told.Add(1)
	}}).Handler())
	defer server.Close()
	d := &door{t, g, server.URL}
	e := refuses(t, d.send(http.MethodGet, "/v1/node", ""), http.StatusInternalServerError, "INTERNAL", "")
	assert.NotContains(t, e.Message, "planted", "what it was is for the node's own log")
	assert.Equal(t, int32(1), told.Load())

	response, err := http.Post(d.url+"/v1/node/pause", "application/json", strings.NewReader(`{}`))
	if err == nil {
		_ = response.Body.Close()
	}
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, int32(2), told.Load())
	d.start(literal)
}
