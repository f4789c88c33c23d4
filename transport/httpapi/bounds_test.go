package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

func (d *door) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A connection beyond the bound is told so and closed; one that ends makes room.
func TestConnectionsAreBounded(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{MaxConnections: 2})
	one, two := d.dial(t), d.dial(t)
	for _, conn := range []net.Conn{one, two} { // both are being served
		_, err := conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
	response, err := http.ReadResponse(bufio.NewReader(d.dial(t)), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Contains(t, string(body), `"code":"TOO_MANY_CONNECTIONS"`)
	require.NoError(t, one.Close())
	require.Eventually(t, func() bool {
		r, err := http.Get(d.url + "/healthz")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusOK
	}, 5*time.Second, 5*time.Millisecond)
}

// A client that does not finish its header, or its body, does not hold a
// connection for ever; neither does one that says nothing more.
func TestTimesAreBounded(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{
		HeaderTimeout: 50 * time.Millisecond, BodyTimeout: 100 * time.Millisecond, IdleTimeout: 50 * time.Millisecond,
	})
	for name, begun := range map[string]string{
		"header": "POST /v1/kernels/default/agents HTTP/1.1\r\nHost: x\r\nContent-",
		"idle":   "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
		"body":   "POST /v1/kernels/default/agents HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
	} {
		conn := d.dial(t)
		_, err := conn.Write([]byte(begun))
		require.NoError(t, err)
		began := time.Now()
		_, err = io.ReadAll(conn)
		assert.NoError(t, err, name)
		assert.Less(t, time.Since(began), 5*time.Second, name)
	}
	assert.Equal(t, uint64(1), d.group.Index())
}

func TestHeadersAreBounded(t *testing.T) {
	d := newDoor(t)
	r, err := http.NewRequest(http.MethodGet, d.url+"/healthz", nil)
	require.NoError(t, err)
	r.Header.Set("X-Long", strings.Repeat("a", 40_000))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return // the server closed the connection before it had read everything
	}
	defer response.Body.Close()
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)
}

// The bytes of all bodies that are being worked on are bounded, and given back.
func TestBodiesAreBounded(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{MaxBodyBytes: 1000})
	refuses(t, d.post("/agents", `{"name":"`+strings.Repeat("a", 1000)+`"}`), http.StatusTooManyRequests, "TOO_MANY_REQUESTS", "")
	for range 30 {
		decode[api.Done](t, d.post("/agents", `{"name":"`+strings.Repeat("a", 100)+`"}`), http.StatusCreated)
		refuses(t, d.post("/agents", `{"name":"`+strings.Repeat("a", 200)+`"}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "name")
		refuses(t, d.post("/agents", strings.Repeat("[", 200)), http.StatusBadRequest, "MALFORMED_JSON", strings.Repeat("[0]", 64))
	}
}

// A body of unknown length is bounded as any other.
func TestChunkedBody(t *testing.T) {
	d := newDoor(t)
	send := func(body string) reply {
		r, err := http.NewRequest(http.MethodPost, d.url+kernelPath+"/agents", io.MultiReader(strings.NewReader(body)))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return reply{response.StatusCode, response.Header, content}
	}
	decode[api.Done](t, send(`{"name":"a"}`), http.StatusCreated)
	refuses(t, send(`{"name":"`+strings.Repeat("a", api.MaxBodyBytes)+`"}`), http.StatusRequestEntityTooLarge, "TOO_LARGE", "body")
}
