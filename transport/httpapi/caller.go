package httpapi

import (
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
)

// callerOf is for whom a request is counted: a principal, wherever it asks from, or
// whoever is at an address.
func (s *Server) callerOf(r *http.Request) string {
	name, known := s.nameOf(r)
	if known {
		return name
	}
	return name + "@" + addressOf(r.RemoteAddr)
}

// addressOf is whose an address is: an IPv6 host has a whole /64 to choose
// from.
func addressOf(remote string) string {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote // no TCP: a test's pipe
	}
	if address := from.Addr().Unmap(); address.Is4() {
		return address.String()
	}
	net, err := from.Addr().WithZone("").Prefix(64)
	if err != nil {
		return remote
	}
	return net.String()
}

// limited holds callers to their rate. Whoever asks whether the node lives, or
// how it is, must be told also when there is too much to do.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
		default:
			if e := s.charge(w, r, 1); e != nil {
				s.fail(w, e)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// charge counts n requests of the caller, and refuses them when that is too
// many: nothing was done of them.
func (s *Server) charge(w http.ResponseWriter, r *http.Request, n int) *api.Error {
	caller := s.callerOf(r)
	wait, ok := s.rates.Take(caller, n, time.Now())
	if ok {
		return nil
	}
	seconds := strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
	w.Header()["Retry-After"] = []string{seconds}
	return refused(api.CodeRateLimited, "", caller+" asks for more than its rate", "there is room again in "+wait.Round(time.Millisecond).String())
}

// turned counts what is refused at the door.
type turned struct{ crossOrigin, wrongHost, tooLarge atomic.Uint64 }

// Limits is how near a server is to its limits, and what it turned away since
// it was made.
type Limits struct {
	Connections, Streams, BodyBytes callers.Use

	Callers     int    // whose rates are known
	OverRate    uint64 // requests, and commands of batches, beyond their caller's rate
	RateLimited uint64 // those that were refused for that

	TooLarge, CrossOrigin, WrongHost uint64 // requests refused
}

// Limits counts.
func (s *Server) Limits() Limits {
	return Limits{
		Connections: s.connections.Use(), Streams: s.streams.Use(), BodyBytes: s.bodies.Use(),
		Callers: s.rates.Known(), OverRate: s.rates.Over(), RateLimited: s.rates.Refused(),
		TooLarge: s.turned.tooLarge.Load(), CrossOrigin: s.turned.crossOrigin.Load(), WrongHost: s.turned.wrongHost.Load(),
	}
}
