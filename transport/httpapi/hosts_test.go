package httpapi_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// LI-5: a request that calls the node by a name that is not its own is refused.
func TestHosts(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	for _, c := range []struct {
		listen  string
		names   []string
		allowed []string
		refused []string
	}{
		{
			"127.0.0.1:7700", nil,
			[]string{"127.0.0.1:7700", "localhost:7700", "LocalHost", "n1.localhost:7700", "[::1]:7700", "127.9.9.9", "localhost.", ""},
			[]string{"evil.example:7700", "10.0.0.7:7700", "127.0.0.1.evil.example", "localhost.evil.example", "[2001:db8::1]:7700", "2130706433", "0.0.0.0:7700"},
		},
		{
			"localhost:0", []string{"omni.example.org", "*.nodes.example.org"},
			[]string{"omni.example.org", "OMNI.example.org:443", "n1.nodes.example.org", "a.b.nodes.example.org", "127.0.0.1"},
			[]string{"nodes.example.org", "evilnodes.example.org", "xomni.example.org", "omni.example.org.evil.example", "10.0.0.7"},
		},
		{
			"0.0.0.0:7700", []string{"n1"},
			[]string{"10.0.0.7:7700", "[2001:db8::1]:7700", "n1:7700", "localhost:7700"},
			[]string{"n2:7700", "evil.example"},
		},
		{":7700", []string{"*"}, []string{"evil.example", "n2"}, nil},
	} {
		hosts, err := httpapi.HostsAt(c.listen, c.names...)
		require.NoError(t, err)
		server := httpapi.New(g.Nodes[0], httpapi.Options{Hosts: hosts})
		ask := func(method, host string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(method, kernelPath+"/sessions", nil)
			r.Host = host
			w := httptest.NewRecorder()
			server.Handler().ServeHTTP(w, r)
			return w
		}
		for _, host := range c.allowed {
			assert.Equal(t, http.StatusCreated, ask(http.MethodPost, host).Code, "%s asked as %s", c.listen, host)
		}
		for _, host := range c.refused {
			for _, method := range []string{http.MethodPost, http.MethodGet} {
				w := ask(method, host)
				var e api.Error
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), &e))
				assert.Equal(t, "WRONG_HOST", e.Code, "%s asked as %s", c.listen, host)
				assert.Equal(t, http.StatusForbidden, w.Code)
				assert.Contains(t, e.Hint, "--allowed-host")
			}
		}
		assert.Equal(t, uint64(2*len(c.refused)), server.Limits().WrongHost)
	}
}

func TestHostsThatCannotBe(t *testing.T) {
	for _, name := range []string{"", "*.", "a b", "http://x", "a*", "*.*"} {
		_, err := httpapi.HostsAt("127.0.0.1:1", name)
		assert.Error(t, err, name)
	}
	_, err := httpapi.HostsAt("nowhere")
	assert.Error(t, err)
}

// LI-6: no answer can be taken by a browser for a page, be framed, or be kept:
// neither what was asked for, nor an error, nor a stream, nor the document.
func TestWhatBrowsersAreTold(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{MaxConnections: 100})
	decode[api.Done](t, d.post("/agents", `{"id":"`+agentA+`","name":"<script>alert(1)</script>"}`), http.StatusCreated)
	for _, path := range []string{
		"/healthz", "/v1/cluster/status", "/openapi.json", "/openapi.yaml", "/nothing", "/v1/kernels/other/agents",
		kernelPath + "/agents", kernelPath + "/agents/" + agentA, kernelPath + "/agents/<script>", kernelPath + "/log?limit=<script>",
		kernelPath + "/log/export", kernelPath + "/backup", kernelPath + "/watch?from=1",
	} {
		conn := d.dial(t)
		_, err := conn.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n"))
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		h := response.Header
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "default-src 'none'; frame-ancestors 'none'", h.Get("Content-Security-Policy"), path)
		assert.Equal(t, "no-store", h.Get("Cache-Control"), path)
		assert.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"), path)
		assert.Empty(t, h.Get("Access-Control-Allow-Origin"), path)
		kind := h.Get("Content-Type")
		assert.NotEmpty(t, kind, path)
		assert.NotRegexp(t, "html|xml|svg|text/plain|script", kind, path)
		require.NoError(t, conn.Close())
	}
}

// LI-6: also whoever is turned away before the request was read.
func TestTurnedAwayIsNoPage(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{MaxCallerConnections: 1})
	first := d.dial(t)
	_, err := first.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(first), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	response, err = http.ReadResponse(bufio.NewReader(d.dial(t)), nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"))
	assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
}
