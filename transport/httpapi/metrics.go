package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/cluster/metrics"
)

// metricsRoutes are what Prometheus asks. Its answer is bounded by what the program
// knows, and no stream.
func (s *Server) metricsRoutes() []*route {
	return []*route{{
		method: http.MethodGet, path: "/metrics", id: "metrics", tag: "node", summary: "The node's metrics, for Prometheus",
		about:  "In the text format, or in the OpenMetrics one where it is accepted. docs/metrics.md lists them.",
		status: http.StatusOK, contentType: "text/plain", handle: s.options.Metrics.Handler(s.log).ServeHTTP,
	}}
}

// measure tells how the server stands.
func (s *Server) measure() metrics.Server {
	l := s.Limits()
	return metrics.Server{
		Streams: l.Streams.Held, BodyBytes: l.BodyBytes.Held, Connections: l.Connections.Held, OverRate: l.OverRate,
		TurnedAway: map[string]uint64{
			"connections": l.Connections.Turned, "streams": l.Streams.Turned, "body_bytes": l.BodyBytes.Turned,
			"rate": l.RateLimited, "too_large": l.TooLarge, "cross_origin": l.CrossOrigin, "wrong_host": l.WrongHost,
		},
	}
}

// counted counts the requests of a route.
func (s *Server) counted(route string, stream bool, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		end, seen := s.options.Metrics.Request(route, stream), &witness{ResponseWriter: w}
		whole := false
		defer func() {
			if whole && seen.status == 0 {
				seen.status = http.StatusOK // an answer without a body
			}
			end(seen.status)
		}()
		next(seen, r)
		whole = true
	}
}

// witness remembers the status of an answer.
type witness struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (w *witness) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write is an answer with 200 if nothing else was said.
func (w *witness) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find what it controls.
func (w *witness) Unwrap() http.ResponseWriter { return w.ResponseWriter }
