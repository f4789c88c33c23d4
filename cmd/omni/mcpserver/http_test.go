package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/client"
)

// post sends one request as it stands.
func post(t *testing.T, url, body string, change func(*http.Request)) (status int, answer a) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if change != nil {
		change(request)
	}
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	_ = json.Unmarshal(raw, &answer) // the library refuses in plain text
	return response.StatusCode, answer
}

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agent_list","arguments":{}}}`

// TO-17: only what is for this server, from no page of another origin and with the token comes
// in; and nothing that is too large, or many calls in one.
func TestDoor(t *testing.T) {
	s := New(kernel(t), Options{})
	plain := served(t, s, Door{Hosts: []string{"omni.example"}})
	locked := served(t, s, Door{Token: "0123456789abcdef"})
	address, err := url.Parse(plain)
	require.NoError(t, err)
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		why    string
		url    string
		body   string
		change func(*http.Request)
		status int
		code   any
	}{
		{"as it is meant", plain, list, nil, 200, nil},
		{"by its other name", plain, list, host("localhost:" + address.Port()), 200, nil},
		{"by the name that was allowed", plain, list, host("OMNI.example"), 200, nil},
		{"a name that was pointed here", plain, list, host("attacker.example:" + address.Port()), 403, "FOREIGN_HOST"},
		{"another address", plain, list, host("10.0.0.1"), 403, "FOREIGN_HOST"},
		{"no host", plain, list, host("."), 403, "FOREIGN_HOST"},
		{"its own page", plain, list, header("Origin", "http://"+address.Host), 200, nil},
		{"another's page", plain, list, header("Origin", "http://attacker.example"), 403, "CROSS_ORIGIN"},
		{"another page of this machine", plain, list, header("Origin", "http://localhost:3000"), 403, "CROSS_ORIGIN"},
		{"no origin of its own", plain, list, header("Origin", "null"), 403, "CROSS_ORIGIN"},
		{"a browser says so", plain, list, header("Sec-Fetch-Site", "cross-site"), 403, "CROSS_ORIGIN"},
		{"no token", locked, list, nil, 401, "UNAUTHORIZED"},
		{"another token", locked, list, header("Authorization", "Bearer 0123456789abcdeF"), 401, "UNAUTHORIZED"},
		{"the token", locked, list, header("Authorization", "Bearer 0123456789abcdef"), 200, nil},
		{"a batch", plain, " \n[" + list + "," + list + "]", nil, 400, "BATCH"},
		{"too large", plain, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", maxMessageBytes) + `"}}`, nil, 413, nil},
		{"no JSON", plain, "{", nil, 400, nil},
		{"nothing", plain, "", nil, 400, nil},
		{"another path", strings.TrimSuffix(plain, Path), list, nil, 404, nil},
		{"no POST", plain, "", func(r *http.Request) { r.Method = http.MethodGet }, 405, nil},
	} {
		status, answer := post(t, c.url, c.body, c.change)
		assert.Equal(t, c.status, status, c.why)
		assert.Equal(t, c.code, answer["code"], c.why)
	}
}

// A client that knows nothing newer than 2025-03-26 is served too: it shakes hands, and
// calls.
func TestOlderClient(t *testing.T) {
	address := served(t, New(kernel(t), Options{}), Door{})
	status, hello := post(t, address, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`, nil)
	require.Equal(t, 200, status)
	assert.Equal(t, "2025-03-26", hello["result"].(a)["protocolVersion"])
	status, _ = post(t, address, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil)
	assert.Equal(t, 202, status)
	status, answer := post(t, address, list, nil)
	require.Equal(t, 200, status)
	assert.Empty(t, answer["result"].(a)["structuredContent"].(a)["agents"])
}

// TO-17: requests beyond the bound are turned away at once, and taken again when there is
// room.
func TestFloodOfRequests(t *testing.T) {
	address := served(t, New(kernel(t), Options{}), Door{})
	target, err := url.Parse(address)
	require.NoError(t, err)
	var held []net.Conn
	for range maxRequests {
		connection, err := net.Dial("tcp", target.Host)
		require.NoError(t, err)
		defer connection.Close()
		_, err = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", Path, target.Host)
		require.NoError(t, err)
		line, err := bufio.NewReader(connection).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "100 Continue", "its body is being read")
		held = append(held, connection)
	}
	status, answer := post(t, address, list, nil)
	assert.Equal(t, 503, status)
	assert.Equal(t, "TOO_MANY_REQUESTS", answer["code"])
	for _, connection := range held {
		require.NoError(t, connection.Close())
	}
	require.Eventually(t, func() bool {
		status, _ = post(t, address, list, nil)
		return status == 200
	}, patience, 5*time.Millisecond)
}

// TO-17: more connections than the bound are closed, and others answered once some have gone.
func TestFloodOfConnections(t *testing.T) {
	address := served(t, New(kernel(t), Options{}), Door{})
	target, err := url.Parse(address)
	require.NoError(t, err)
	var held []net.Conn
	dial := func() net.Conn {
		connection, err := net.Dial("tcp", target.Host)
		require.NoError(t, err)
		held = append(held, connection)
		return connection
	}
	for range maxConnections {
		dial()
	}
	refused := func() bool {
		connection := dial()
		require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
		_, _ = fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", target.Host)
		_, err := connection.Read(make([]byte, 1))
		return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
	}
	// Those that say nothing are closed after a while, on a machine that is slow.
	assert.True(t, slices.ContainsFunc(make([]bool, 20), func(bool) bool { return refused() }))
	for _, connection := range held {
		require.NoError(t, connection.Close())
	}
	require.Eventually(t, func() bool {
		response, err := http.Post(address, "application/json", strings.NewReader(list))
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == 400 // it has no Accept, but it is answered
	}, patience, 5*time.Millisecond)
	http.DefaultClient.CloseIdleConnections()
}

// TO-17: a stdio client that asks and asks without listening is read no further than what it
// may have open, and then gets an answer to everything.
func TestFloodOverStdio(t *testing.T) {
	s := New(kernel(t), Options{})
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Stdio(context.Background(), fromClient, toClient) }()
	const calls = 2000
	sent := make(chan error, 1)
	go func() {
		var asked bytes.Buffer
		fmt.Fprintln(&asked, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"flood","version":"1"}}}`)
		fmt.Fprintln(&asked, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for i := range calls {
			fmt.Fprintf(&asked, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"agent_list","arguments":{}}}`+"\n", i+1)
		}
		_, err := asked.WriteTo(toServer)
		sent <- err
	}()
	before := runtime.NumGoroutine()
	answered, most := map[float64]bool{}, 0
	lines := bufio.NewScanner(fromServer)
	lines.Buffer(nil, maxMessageBytes)
	for len(answered) <= calls && lines.Scan() {
		var answer struct {
			ID     float64 `json:"id"`
			Result a       `json:"result"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &answer))
		require.NotNil(t, answer.Result)
		require.False(t, answered[answer.ID])
		answered[answer.ID] = true
		most = max(most, runtime.NumGoroutine()-before)
	}
	assert.Len(t, answered, calls+1)
	// A call has its own goroutine, and a few on both sides of its way to the node.
	assert.Less(t, most, 10*maxUnanswered)
	require.NoError(t, <-sent)
	require.NoError(t, toServer.Close())
	require.NoError(t, <-ended)
}

// A message that is too long ends a stdio client, and nothing is kept of it.
func TestLongMessageOverStdio(t *testing.T) {
	fromClient, toServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- New(kernel(t), Options{}).Stdio(context.Background(), fromClient, discard{}) }()
	_, err := toServer.Write([]byte(`{"jsonrpc":"2.0","id":0,"method":"` + strings.Repeat("x", 4*maxMessageBytes)))
	require.Error(t, err)
	require.Error(t, <-ended)
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

// TO-17: a call ends when whoever asked over HTTP has gone.
func TestCallEndsWithItsRequest(t *testing.T) {
	s := New(kernel(t), Options{})
	began, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	hang := reading("hang", "waits until nobody wants to know", func(ctx context.Context, _ *client.Client, _ struct{}) (any, error) {
		began <- struct{}{}
		<-ctx.Done()
		gone <- struct{}{}
		return nil, ctx.Err()
	})
	s.mcp.AddTool(hang.Tool, s.handler(hang))
	address := served(t, s, Door{})
	await := func(what string, c chan struct{}) {
		select {
		case <-c:
		case <-time.After(patience):
			t.Fatal(what)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	newer := overHTTP(t, address)
	go func() {
		_, err := newer.session.CallTool(ctx, &mcp.CallToolParams{Name: "hang"})
		asked <- err
	}()
	await("called", began)
	cancel()
	require.Error(t, <-asked)
	await("ended", gone)

	target, err := url.Parse(address)
	require.NoError(t, err)
	older, err := net.Dial("tcp", target.Host)
	require.NoError(t, err)
	body := strings.Replace(list, "agent_list", "hang", 1)
	_, err = fmt.Fprintf(older, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: %d\r\n\r\n%s", Path, target.Host, len(body), body)
	require.NoError(t, err)
	await("called", began)
	require.NoError(t, older.Close())
	await("ended", gone)
}
