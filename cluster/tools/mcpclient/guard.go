package mcpclient

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// guard stands between the protocol and a program's pipes: it bounds what comes, and
// marks what went.
type guard struct {
	mcp.Connection
	in      *bounded
	why     atomic.Pointer[Failure] // of a connection that ended; nil before
	heard   atomic.Uint64           // messages that came
	unasked int                     // since the last answer
}

// guarded is the way to a program: its pipes, and the guard at them.
type guarded struct {
	process *process
	guard   *guard
}

func (g *guarded) Connect(ctx context.Context) (mcp.Connection, error) {
	in := &bounded{from: reader{g.process}}
	transport := mcp.IOTransport{Reader: in, Writer: g.process, MaxLineLength: -1} // bounded is stricter
	connection, err := transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	g.guard.Connection, g.guard.in = connection, in
	return g.guard, nil
}

// Read is called by one goroutine.
func (g *guard) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := g.Connection.Read(ctx)
	if err == nil {
		g.in.since.Store(0)
		g.heard.Add(1)
		err = g.count(message)
	}
	switch {
	case err == nil:
		return message, nil
	case errors.Is(err, errFlood):
		g.why.CompareAndSwap(nil, failed(Flooded, textFlooded))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrClosed), ctx.Err() != nil:
		g.why.CompareAndSwap(nil, failed(Lost, textLost))
	default:
		g.why.CompareAndSwap(nil, failed(Garbled, textGarbled))
	}
	return nil, err
}

// count bounds what nobody asked for: each such message costs work, and none is needed.
func (g *guard) count(message jsonrpc.Message) error {
	if _, asked := message.(*jsonrpc.Response); asked {
		g.unasked = 0
		return nil
	}
	g.unasked++
	if g.unasked > maxUnasked {
		return errFlood
	}
	return nil
}

// Write marks a call as sent, unless nothing of it was. What cannot be written to is
// over.
func (g *guard) Write(ctx context.Context, message jsonrpc.Message) error {
	err := g.Connection.Write(ctx, message)
	if err != nil && errors.Is(err, ctx.Err()) {
		return err // it was not begun with
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.Method == "tools/call" && !errors.Is(err, errUnwritten) {
		markOf(ctx).sent.Store(true)
	}
	if err != nil {
		g.why.CompareAndSwap(nil, failed(Lost, textLost))
	}
	return err
}

// bounded reads a program's stdout: so much between one message and the next.
type bounded struct {
	from  io.ReadCloser
	since atomic.Int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.since.Load() > maxMessage {
		return 0, errFlood
	}
	n, err := b.from.Read(p)
	b.since.Add(int64(n))
	return n, err
}

func (b *bounded) Close() error { return b.from.Close() }
