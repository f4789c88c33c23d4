package mcpserver

import (
	"bufio"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Door says who may come in over HTTP.
type Door struct {
	Hosts []string // names that requests may be for, beside the address that they came to
	Token string   // that every request must bear; none when empty
}

// guard lets through what is for this server, from no web page of another, and bears
// the token. The first two keep a browser from being used against it: a name that an
// attacker points at this machine is still that name in Host.
func (d Door) guard(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !d.isFor(r):
			turnAway(w, http.StatusForbidden, &refusal{
				Code: "FOREIGN_HOST", Message: "the request is for a host that this server is not", Hint: "use the address that omni mcp names, or start it with --allow-host",
			})
		case r.Header.Get("Origin") != "" && !sameOrigin(r), crossOrigin.Check(r) != nil:
			turnAway(w, http.StatusForbidden, &refusal{Code: "CROSS_ORIGIN", Message: "pages of other origins may not use this server"})
		case !d.opens(r):
			w.Header().Set("WWW-Authenticate", `Bearer realm="omni mcp"`)
			turnAway(w, http.StatusUnauthorized, &refusal{Code: "UNAUTHORIZED", Message: "the token is missing, or another one", Hint: "send Authorization: Bearer with the token of omni mcp"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isFor tells whether Host is the address that the connection came to, or a name of
// it.
func (d Door) isFor(r *http.Request) bool {
	name := hostOf(r.Host)
	for _, host := range d.Hosts {
		if strings.EqualFold(name, host) {
			return true
		}
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	to, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	address := to.Addr().Unmap().WithZone("")
	if strings.EqualFold(name, "localhost") {
		return address.IsLoopback()
	}
	named, err := netip.ParseAddr(name)
	return err == nil && named.Unmap() == address
}

// hostOf is a Host without its port and brackets.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return strings.EqualFold(origin, "http://"+r.Host) || strings.EqualFold(origin, "https://"+r.Host)
}

// opens compares the token in a time that says nothing of it.
func (d Door) opens(r *http.Request) bool {
	if d.Token == "" {
		return true
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(d.Token)) == 1
}

// noBatches refuses lists of messages, which MCP had for a while: one request could
// hold any number of calls.
func noBatches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := bufio.NewReader(http.MaxBytesReader(w, r.Body, maxMessageBytes))
		if first, err := firstOf(body); err == nil && first == '[' {
			turnAway(w, http.StatusBadRequest, &refusal{Code: "BATCH", Message: "a request holds one message, not a list"})
			return
		}
		r.Body = io.NopCloser(body)
		next.ServeHTTP(w, r)
	})
}

// firstOf is the first byte that is no white space; it is still to be read.
func firstOf(body *bufio.Reader) (byte, error) {
	for {
		first, err := body.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(first)) {
			return first, body.UnreadByte()
		}
	}
}
