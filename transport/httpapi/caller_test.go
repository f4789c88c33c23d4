package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// slowly is a rate that a test does not come back from.
const slowly = 1e-6

// LI-1: beyond its rate a caller is refused, definitely, and nothing is done;
// whoever asks how the node is gets told all the same.
func TestCallersAreHeldToTheirRate(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{Rate: callers.Rate{Mode: callers.Enforce, PerSecond: slowly, Burst: 3}})
	for range 3 {
		decode[api.Done](t, d.post("/agents", `{}`), http.StatusCreated)
	}
	before := d.group.Index()
	for _, r := range []reply{d.post("/agents", `{}`), d.get("/agents"), d.send(http.MethodGet, "/v1/nothing", "")} {
		e := refuses(t, r, http.StatusTooManyRequests, "RATE_LIMITED", "")
		assert.True(t, e.Definite)
		assert.NotEmpty(t, e.Hint)
		seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
		require.NoError(t, err)
		assert.Greater(t, seconds, 1000)
	}
	assert.Equal(t, before, d.group.Index())
	for _, path := range []string{"/healthz", "/readyz"} {
		assert.Equal(t, http.StatusOK, d.send(http.MethodGet, path, "").status)
	}
}

// LI-1: each command of a batch is one request.
func TestBatchesCount(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{Rate: callers.Rate{Mode: callers.Enforce, PerSecond: slowly, Burst: 10}})
	batch := func(n int) reply {
		return d.post("/batch", `{"commands":[`+strings.TrimSuffix(strings.Repeat(`{"op":"define","body":{}},`, n), ",")+`]}`)
	}
	require.Equal(t, http.StatusOK, batch(6).status)
	before := d.group.Index()
	refuses(t, batch(6), http.StatusTooManyRequests, "RATE_LIMITED", "")
	assert.Equal(t, before, d.group.Index(), "all of it is refused")
	require.Equal(t, http.StatusOK, batch(3).status)
}

// LI-1: by default nobody is refused for asking too much, and it is counted.
func TestRatesWarnByDefault(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	server := httpapi.New(g.Nodes[0], httpapi.Options{Rate: callers.Rate{PerSecond: slowly, Burst: 1}})
	from := func(remote string) int {
		r := httptest.NewRequest(http.MethodGet, kernelPath+"/agents", nil)
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		return w.Code
	}
	for range 5 {
		require.Equal(t, http.StatusOK, from("192.0.2.1:1"))
	}
	limits := server.Limits()
	assert.Equal(t, uint64(4), limits.OverRate)
	assert.Zero(t, limits.RateLimited)
	// Ports are nobody's name, and neither is what an IPv6 host may choose.
	for _, remote := range []string{"192.0.2.1:2", "[::ffff:192.0.2.1]:3", "[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8:0:1::1]:1"} {
		require.Equal(t, http.StatusOK, from(remote))
	}
	assert.Equal(t, 3, server.Limits().Callers)
	assert.Equal(t, uint64(7), server.Limits().OverRate)
}

// LI-3: one caller cannot have all the streams, nor all the memory for bodies.
func TestOneCallerLeavesRoomForOthers(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{MaxCallerStreams: 1, MaxBodyBytes: 100_000, MaxCallerBodyBytes: 1000})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+kernelPath+"/watch", nil)
	require.NoError(t, err)
	watching, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer watching.Body.Close()
	require.Equal(t, http.StatusOK, watching.StatusCode)
	e := refuses(t, d.get("/watch"), http.StatusTooManyRequests, "TOO_MANY_STREAMS", "")
	assert.Contains(t, e.Message, "client@127.0.0.1")
	e = refuses(t, d.post("/agents", `{"name":"`+strings.Repeat("a", 1000)+`"}`), http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "")
	assert.Contains(t, e.Message, "client@127.0.0.1")
	decode[api.Done](t, d.post("/agents", `{}`), http.StatusCreated)
}

// What is compressed is refused, not unpacked.
func TestCompressedBodies(t *testing.T) {
	d := newDoor(t)
	for _, coding := range []string{"gzip", "zstd", "gzip, identity"} {
		refuses(t, d.post("/agents", "\x1f\x8b\x08\x00", "Content-Encoding", coding), http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "Content-Encoding")
	}
	decode[api.Done](t, d.post("/agents", `{}`, "Content-Encoding", "identity"), http.StatusCreated)
}
