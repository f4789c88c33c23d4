package mcpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where Serve answers.
const Path = "/mcp"

// Bounds of HTTP. A call waits at most maxWait for an agent, and a cluster a while.
const (
	maxConnections = 256
	maxRequests    = 64 // under way at once
	requestTime    = maxWait + 30*time.Second
	stopTime       = 2 * time.Second
)

// Serve answers HTTP requests on the listener until the context ends, which is no
// error. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener, door Door) error {
	var open atomic.Int64
	server := &http.Server{
		Handler: s.Handler(door), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: requestTime + 10*time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(connection net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				if open.Add(1) > maxConnections {
					_ = connection.Close()
				}
			case http.StateClosed, http.StateHijacked:
				open.Add(-1)
			}
		},
	}
	stopped := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(stopped)
		brief, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if server.Shutdown(brief) != nil {
			_ = server.Close()
		}
	})()
	err := server.Serve(listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return err
}

// Handler is the HTTP side: the door, bounds, and one MCP request for each POST. There
// are no sessions, so nothing is kept for a client between requests.
func (s *Server) Handler(door Door) http.Handler {
	streamable := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessageBytes, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the door is narrower
	})
	mux := http.NewServeMux()
	mux.Handle(Path, door.guard(bounded(noBatches(streamable))))
	return mux
}

// bounded turns requests away that are too many at once, and ends those that take too
// long.
func bounded(next http.Handler) http.Handler {
	places := make(chan struct{}, maxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			w.Header().Set("Retry-After", "1")
			turnAway(w, http.StatusServiceUnavailable, &refusal{Code: "TOO_MANY_REQUESTS", Message: "as many requests are under way as may be", Hint: "ask again later"})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), requestTime)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, askedKey{}, ctx)))
	})
}

// askedKey is the key of an HTTP request's own context: the library detaches the one
// that it hands to a tool.
type askedKey struct{}

// whileAsked is ctx, and ends with the HTTP request that it belongs to.
func whileAsked(ctx context.Context) (context.Context, context.CancelFunc) {
	asked, ok := ctx.Value(askedKey{}).(context.Context)
	if !ok {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(asked, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// turnAway answers a request that is not MCP's to answer.
func turnAway(w http.ResponseWriter, status int, r *refusal) {
	r.Definite = true
	raw, err := encode(r)
	if err != nil {
		raw = nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // whoever was turned away need not listen
}
