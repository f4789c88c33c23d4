package solo

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/httpapi"
)

// Serve starts the API of every node on a port of its own, and gives their base
// URLs. The servers end with the test.
func (g *Group) Serve(t testing.TB, options httpapi.Options) []string {
	t.Helper()
	urls := make([]string, len(g.Nodes))
	for i := range g.Nodes {
		urls[i], _ = g.ServeNode(t, i, options)
	}
	return urls
}

// ServeNode starts one node's API, and gives what stops it.
func (g *Group) ServeNode(t testing.TB, node int, options httpapi.Options) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url = "http://" + l.Addr().String()
	g.Nodes[node].Listens(url)
	server := httpapi.New(g.Nodes[node], options)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, server.Shutdown(ctx))
		require.NoError(t, <-served)
	}
	t.Cleanup(stop)
	return url, stop
}
