package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/transport/httpapi/recordjson"
)

// Server serves one node.
type Server struct {
	node     Node
	options  Options
	log      hclog.Logger
	http     *http.Server
	renderer *recordjson.Renderer
	programs *compiledCache
	schemas  *schemaCache
	origins  *http.CrossOriginProtection

	streams atomic.Int64 // being served
	bodies  atomic.Int64 // bytes being worked on

	closing context.Context // ends when Shutdown begins
	close   context.CancelFunc
}

// New makes a server for the node. It serves nothing before Serve, but its
// Handler can be used at once.
func New(node Node, options Options) *Server {
	s := &Server{
		node: node, options: options.withDefaults(),
		renderer: recordjson.New(node.Log()),
		origins:  http.NewCrossOriginProtection(),
	}
	s.log = s.options.Logger
	s.programs, s.schemas = newCompiledCache(s.options.Lookup), newSchemaCache()
	s.closing, s.close = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler:           s.surviving(s.routes()),
		ReadHeaderTimeout: s.options.HeaderTimeout,
		ReadTimeout:       s.options.BodyTimeout,
		WriteTimeout:      s.options.BodyTimeout + s.options.CommandTimeout + s.options.WriteTimeout,
		IdleTimeout:       s.options.IdleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          s.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	return s
}

// Handler is the API without a listener.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve accepts connections until Shutdown; its error is nil then.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(&bounded{Listener: l, most: int64(s.options.MaxConnections)})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown ends the server: streams at once, requests under way when they are
// answered, or when ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.close()
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close() // what is left is cut; the first error says why
	}
	return err
}

// within bounds the work on one request.
func (s *Server) within(r *http.Request, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), d)
}
