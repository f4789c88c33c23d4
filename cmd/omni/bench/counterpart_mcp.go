package bench

import (
	"context"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type nothing struct {
	N int `json:"n"`
}

// mcpCounterpart is a server of the Model Context Protocol, over HTTP, whose tool does
// nothing.
func mcpCounterpart(*Options, string) (*counterpart, error) {
	tools := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	mcp.AddTool(tools, &mcp.Tool{Name: "noop"}, func(_ context.Context, _ *mcp.CallToolRequest, in nothing) (*mcp.CallToolResult, nothing, error) {
		return nil, in, nil
	})
	server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil))
	asking := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := asking.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: server.URL}, nil)
	if err != nil {
		server.Close()
		return nil, err
	}
	return &counterpart{
		config: map[string]any{"url": server.URL, "tool": "noop", "private": true},
		args:   func(i int) any { return map[string]any{"n": i} },
		direct: func(ctx context.Context) error {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "noop", Arguments: nothing{}})
			return err
		},
		close: func() {
			_ = session.Close() // the server goes, whatever it says
			server.CloseClientConnections()
			server.Close()
		},
	}, nil
}
