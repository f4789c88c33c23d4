package httpapi

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Hosts are what requests may call the node in their Host header. A web page
// whose own name was made to lead here (DNS rebinding) passes as of the same
// origin, but it cannot ask under another name than its own.
type Hosts struct {
	addresses bool // any IP address: nobody can make one lead elsewhere
	names     []string
}

// HostsAt are those of an API that listens at an address: names of the machine
// itself, all addresses unless it listens for the machine itself only, and
// names. A name *.example.org stands for all below example.org, and * for
// anything.
func HostsAt(listen string, names ...string) (*Hosts, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	h := &Hosts{addresses: !loopback(host)}
	for _, name := range names {
		name = strings.ToLower(name)
		if bare := strings.TrimPrefix(name, "*."); name != "*" && (bare == "" || strings.ContainsAny(bare, "*/ \t")) {
			return nil, errors.New(`"` + name + `" is no name of a host: it must be one such as omni.example.org, *.example.org or 10.0.0.7, without a port`)
		}
		h.names = append(h.names, strings.TrimSuffix(name, "."))
	}
	return h, nil
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// allow tells whether a request may call the node that. Browsers always call it
// something.
func (h *Hosts) allow(header string) bool {
	host := header
	if bare, _, err := net.SplitHostPort(header); err == nil {
		host = bare
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "" || loopback(host) {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil && h.addresses {
		return true
	}
	return slices.ContainsFunc(h.names, func(name string) bool {
		below, wild := strings.CutPrefix(name, "*")
		return name == host || wild && strings.HasSuffix(host, below)
	})
}

// What every answer says to a browser: it is what its Content-Type says, no
// page, of nobody's business, and not to be kept.
var (
	noSniff   = []string{"nosniff"}
	noContent = []string{"default-src 'none'; frame-ancestors 'none'"}
	noStore   = []string{"no-store"}
	sameOnly  = []string{"same-origin"}
)

// guarded keeps browsers from taking an answer for something else, and from
// asking for a page that has no business here.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Content-Type-Options"], h["Content-Security-Policy"] = noSniff, noContent
		h["Cache-Control"], h["Cross-Origin-Resource-Policy"] = noStore, sameOnly
		if s.options.Hosts != nil && !s.options.Hosts.allow(r.Host) {
			s.turned.wrongHost.Add(1)
			s.fail(w, refused(api.CodeWrongHost, "Host", "is no name of this node", "ask it by the address in --peer, or start it with --allowed-host NAME"))
			return
		}
		next.ServeHTTP(w, r)
	})
}
