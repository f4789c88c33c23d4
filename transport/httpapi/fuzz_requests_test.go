package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// fuzzWait is how long a request of FuzzRequests may wait for anything: one input in a
// hundred that asks for a later index would otherwise take the time of thousands.
const fuzzWait = 2 * time.Millisecond

// FuzzRequests: whatever arrives at whichever route of the table, as path,
// query, headers and body, a real kernel takes it, or it is refused with a code
// of the table; nothing is INTERNAL, and nobody panics.
func FuzzRequests(f *testing.F) {
	g := solo.New(f, 1, solo.Setup{Config: func(c *config.Config) { c.MaxAgents = 64 }})
	hosts, err := httpapi.HostsAt("127.0.0.1:1", "*.example.org")
	if err != nil {
		f.Fatal(err)
	}
	handler := httpapi.New(g.Nodes[0], httpapi.Options{
		Hosts: hosts, Panicked: func(cause any) { panic(cause) },
		ReadTimeout: fuzzWait, CommandTimeout: fuzzWait, // nothing that is waited for comes
	}).Handler()
	routes := routesOf(f, handler)
	session := strings.Repeat("a", 32)
	for i := range routes {
		f.Add(uint16(i), agentA, "", "{}", "", "", "", "")
	}
	f.Add(uint16(1), agentA, "limit=1&state=ACTIVE&label=a%3Db&after="+agentB, `{"name":"a"}`, session, "1", "1", "localhost")
	f.Add(uint16(2), "0", "consistency=stale&max_lag_ms=5&min_index=1", `{"agent":{"program":`+literal+`}}`, "", "", "key", "a.example.org")
	f.Add(uint16(3), "%2e%2e", "from=1&kinds=STEP,EVENT&runs=true&notes=true&run="+agentA, `[`, "x", "0", "18446744073709551615", "evil")
	f.Fuzz(func(t *testing.T, at uint16, id, query, body, session, floor, sequence, host string) {
		route := routes[int(at)%len(routes)]
		method, path, _ := strings.Cut(route, " ")
		path = strings.ReplaceAll(path, "{kernel}", "default")
		path = inPath.ReplaceAllLiteralString(path, url.PathEscape(id))
		r, err := http.NewRequest(method, "http://x"+path, strings.NewReader(body))
		if err != nil {
			return // no request that a server would get
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*fuzzWait) // watches, and whoever waits for work
		defer cancel()
		r = r.WithContext(ctx)
		r.URL.RawQuery, r.RemoteAddr, r.Host = query, "127.0.0.1:1", host
		header(r, "Content-Type", "application/json")
		header(r, api.HeaderSession, session)
		header(r, api.HeaderFloor, floor)
		header(r, api.HeaderSequence, sequence)
		if session == "" {
			header(r, api.HeaderKey, sequence)
		}
		header(r, api.HeaderLastEvent, sequence)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Header().Get("Content-Type") != "application/json" {
			return // a stream
		}
		var e api.Error
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil && w.Code >= 400 {
			t.Fatalf("%s: %d %s", route, w.Code, w.Body)
		}
		if info, known := api.Lookup(e.Code); w.Code >= 400 && (!known || info.Code == api.CodeInternal) {
			t.Fatalf("%s: %d %s", route, w.Code, w.Body)
		}
	})
}

func header(r *http.Request, name, value string) {
	if value != "" {
		r.Header.Set(name, value)
	}
}

// routesOf are the methods and paths of the table, in order.
func routesOf(t testing.TB, handler http.Handler) (routes []string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/openapi.json", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	for path, methods := range methodsOf(t, w.Body.Bytes()) {
		for _, method := range methods {
			routes = append(routes, method+" "+path)
		}
	}
	slices.Sort(routes)
	return routes
}
