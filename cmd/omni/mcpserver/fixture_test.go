package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far more than anything here takes.
const patience = time.Minute

// kernel is one node behind its real API, and a client of it.
func kernel(t *testing.T) *client.Client {
	t.Helper()
	g := solo.New(t, 1, solo.Setup{})
	c, err := client.New(g.Serve(t, httpapi.Options{Lookup: registry.Lookup}), client.Options{})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// peer is an MCP client that speaks with a server.
type peer struct {
	t       *testing.T
	session *mcp.ClientSession
}

// overStdio connects a client by a pair of pipes.
func overStdio(t *testing.T, s *Server) *peer {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Stdio(context.Background(), fromClient, toClient) }()
	p := connected(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer})
	t.Cleanup(func() {
		assert.NoError(t, toServer.Close())
		assert.NoError(t, <-ended)
	})
	return p
}

// served is a server's HTTP side, until the test ends.
func served(t *testing.T, s *Server, door Door) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener, door) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	return "http://" + listener.Addr().String() + Path
}

func overHTTP(t *testing.T, url string) *peer {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return connected(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}})
}

func connected(t *testing.T, transport mcp.Transport) *peer {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() }) // the other side may be gone
	return &peer{t, session}
}

// answer calls a tool.
func (p *peer) answer(name string, arguments any) (result map[string]any, failed bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	got, err := p.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(p.t, err, name)
	require.Len(p.t, got.Content, 1)
	require.NoError(p.t, json.Unmarshal([]byte(got.Content[0].(*mcp.TextContent).Text), &result))
	assert.Equal(p.t, result, got.StructuredContent, "the text says the same")
	return result, got.IsError
}

// call is a tool that does its work.
func (p *peer) call(name string, arguments any) map[string]any {
	p.t.Helper()
	result, failed := p.answer(name, arguments)
	require.False(p.t, failed, "%s: %v", name, result)
	return result
}

// refused is a tool that says why it does not.
func (p *peer) refused(name string, arguments any) map[string]any {
	p.t.Helper()
	result, failed := p.answer(name, arguments)
	require.True(p.t, failed, "%s: %v", name, result)
	return result
}

// a shortens what JSON objects are in Go.
type a = map[string]any

// echoes is an agent whose call waits for a decision.
func echoes(args any) a {
	return a{
		"program": a{"kind": "CALL", "payload": a{"tool": "echo", "args": "${input}", "handle": true}}, "input": args,
		"grants": []a{{"effect": "ESCALATE", "action": "tool.call", "resource": "echo"}}, "labels": a{"asks": "yes"},
	}
}
