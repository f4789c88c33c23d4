package mcpserver

import (
	"context"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/transport/client"
)

// Options of a server.
type Options struct {
	Version  string // that clients are told
	ReadOnly bool   // only tools that change nothing

	// Panicked, when set, is told of a panic in a tool; the MCP client is told
	// nothing but that there was one.
	Panicked func(tool string, cause any, stack []byte)
}

// Server offers a cluster to MCP clients. It is safe for concurrent use.
type Server struct {
	kernel  *client.Client
	options Options
	mcp     *mcp.Server
}

// New makes a server. Nothing is asked of the cluster yet.
func New(kernel *client.Client, options Options) *Server {
	s := &Server{kernel: kernel, options: options}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "omni", Title: "Omni Kernel", Version: options.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		// The list of tools never changes: nobody has to listen for that.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range catalog() {
		if t.reads || !options.ReadOnly {
			s.mcp.AddTool(t.Tool, s.handler(t))
		}
	}
	return s
}

const instructions = `Omni Kernel runs agents on a replicated log. Start one with agent_start, look at it with agent_get,
wait for it with agent_wait. An agent that is WAITING for an escalation needs a decision: escalation_list shows who asks for what,
and only a person should have it approved. A result with isError has a code; definite false means that the call may have taken effect:
look before you repeat it, or repeat it with the same idempotency_key. Lists are pages: pass what next says to get the following one.`

// handler runs one tool.
func (s *Server) handler(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
		defer func() {
			if cause := recover(); cause != nil {
				if s.options.Panicked != nil {
					s.options.Panicked(t.Name, cause, debug.Stack())
				}
				result = refused(&refusal{Code: codeInternal, Message: "the tool failed inside; what it did is not known", Hint: lookFirst})
			}
		}()
		ctx, cancel := whileAsked(ctx)
		defer cancel()
		answer, err := t.call(ctx, s.kernel, request.Params.Arguments)
		if err != nil {
			return refused(refusalOf(err)), nil
		}
		return answered(answer), nil
	}
}
