package mcpserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxMessageBytes = 1 << 20 // of one message, either transport
	maxUnanswered   = 32      // requests that one stdio client may have open
	lastAnswers     = 5 * time.Second
)

// Stdio serves one client over a pair of streams, a message a line, until the context
// ends or the client closes its side. Neither is an error.
func (s *Server) Stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := s.mcp.Run(ctx, &paced{&mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxMessageBytes}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// paced is a transport that stops reading while its client has as many requests open
// as it may: the library runs each in a goroutine of its own, at once.
type paced struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (p *paced) Connect(ctx context.Context) (mcp.Connection, error) {
	connection, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &pacedConnection{Connection: connection, open: make(chan struct{}, maxUnanswered), closed: make(chan struct{})}, nil
}

type pacedConnection struct {
	mcp.Connection
	open   chan struct{} // one for each request without an answer
	once   sync.Once
	closed chan struct{}
}

// Read implements mcp.Connection.
func (p *pacedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := p.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		p.drain(ctx)
	}
	if request, ok := message.(*jsonrpc.Request); err == nil && ok && request.IsCall() {
		return message, p.begin(ctx)
	}
	return message, err
}

func (p *pacedConnection) begin(ctx context.Context) error {
	select {
	case p.open <- struct{}{}:
		return nil
	case <-p.closed:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drain gives the last answers time to be written: a client that has no more to ask may
// have closed its side already.
func (p *pacedConnection) drain(ctx context.Context) {
	brief, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	for range cap(p.open) {
		if p.begin(brief) != nil {
			return
		}
	}
}

// Write implements mcp.Connection.
func (p *pacedConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	if _, ok := message.(*jsonrpc.Response); ok {
		defer func() { <-p.open }()
	}
	return p.Connection.Write(ctx, message)
}

// Close implements mcp.Connection.
func (p *pacedConnection) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Connection.Close()
}
