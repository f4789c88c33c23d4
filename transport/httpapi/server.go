package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
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

	rates       *callers.Rates
	connections *callers.Places
	streams     *callers.Places // being served
	bodies      *callers.Places // bytes being worked on
	turned      turned
	access      map[string]access // by the ids of routes

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
	s.rates = callers.NewRates(s.options.Rate, s.log)
	s.connections = callers.NewPlaces("connections", int64(s.options.MaxConnections), int64(s.options.MaxCallerConnections), s.log)
	s.streams = callers.NewPlaces("streams", int64(s.options.MaxStreams), int64(s.options.MaxCallerStreams), s.log)
	s.bodies = callers.NewPlaces("body bytes", s.options.MaxBodyBytes, s.options.MaxCallerBodyBytes, s.log)
	s.options.Metrics.WatchServer(s.measure)
	s.access = s.accesses()
	s.closing, s.close = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler:           s.surviving(s.guarded(s.identify(s.limited(s.routes())))),
		ReadHeaderTimeout: s.options.HeaderTimeout,
		ReadTimeout:       s.options.BodyTimeout,
		WriteTimeout:      s.options.BodyTimeout + s.options.CommandTimeout + s.options.WriteTimeout,
		IdleTimeout:       s.options.IdleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		Protocols:         onlyHTTP1(),
		ErrorLog:          s.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	return s
}

// Handler is the API without a listener.
func (s *Server) Handler() http.Handler { return s.http.Handler }

// Serve accepts connections until Shutdown; its error is nil then.
func (s *Server) Serve(l net.Listener) error {
	l = &bounded{Listener: l, places: s.connections, secured: s.options.TLS != nil, ending: s.ending}
	if s.options.TLS != nil {
		// A handshake is made where its connection is served, within HeaderTimeout: one
		// that does not come to an end delays nobody.
		l = tls.NewListener(l, noting(s.options.TLS))
	}
	err := s.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) ending() bool { return s.closing.Err() != nil }

// onlyHTTP1 leaves HTTP/2 out: its streams would let one connection ask for as much as
// thousands, past every bound that is on connections.
func onlyHTTP1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
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
