package httprequest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

func TestConnectionRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	got := run(t, Options{}, map[string]any{"method": "POST", "url": "http://" + address})
	assert.Equal(t, tools.Fail(failure.ToolUnreachable, "the connection was refused"), got)
}

// EV-13: our words for what the network library says.
func TestWhyUnreachable(t *testing.T) {
	for want, err := range map[string]error{
		"there is no such host":                  &net.DNSError{IsNotFound: true},
		"the host's name could not be looked up": &net.DNSError{IsTimeout: true},
		"the connection was refused":             &net.OpError{Err: syscall.ECONNREFUSED},
		"there is no route to the host":          &net.OpError{Err: syscall.EHOSTUNREACH},
		"the host's certificate is not trusted":  &tls.CertificateVerificationError{Err: errors.New("x")},
		"the host does not speak TLS there":      tls.RecordHeaderError{Msg: "x"},
		"no connection could be made":            errors.New("x"),
	} {
		assert.Equal(t, want, whyUnreachable(fmt.Errorf("wrapped: %w", err)))
	}
}

func TestTimeout(t *testing.T) {
	release := make(chan struct{})
	base := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	got := run(t, Options{DefaultTimeout: 50 * time.Millisecond}, map[string]any{"url": base})
	assert.Equal(t, failure.ToolTimeout, got.Code)
}

func TestTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+" "+r.Header.Get("Idempotency-Key"))
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it would complain of the first call below
	server.StartTLS()
	defer server.Close()
	got := run(t, Options{}, map[string]any{"url": server.URL})
	assert.Equal(t, tools.Fail(failure.ToolUnreachable, "the host's certificate is not trusted"), got)

	adapter := New(Options{})
	defer adapter.Close()
	adapter.transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	_, _, body := answerOf(t, call(t, adapter, map[string]any{"method": "POST", "url": server.URL, "body": "x"}))
	assert.Equal(t, "HTTP/2.0 agent/7/1", body)

	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	got = run(t, Options{}, map[string]any{"url": strings.Replace(plain, "http:", "https:", 1)})
	assert.Equal(t, tools.Fail(failure.ToolUnreachable, "the host does not speak TLS there"), got)
}

// flakyServer answers the first request on each connection and breaks the
// connection after reading the second: what a transport is tempted to replay.
func flakyServer(t *testing.T) (base string, received *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	received = new(atomic.Int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serveOnce(conn, received)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return "http://" + listener.Addr().String(), received
}

func serveOnce(conn net.Conn, received *atomic.Int64) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for n := range 2 {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		received.Add(1)
		if n == 0 {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}
}

// TO-4: one dispatch is one request, and where it is not known whether it
// arrived, that is what the result says.
func TestUnsafeRequestIsNeverReplayed(t *testing.T) {
	for _, row := range []struct {
		args map[string]any
		sent int64
		code failure.Code
	}{
		{map[string]any{"method": "POST"}, 2, failure.OutcomeUnknown},
		{map[string]any{"method": "POST", "body": "x"}, 2, failure.OutcomeUnknown},
		{map[string]any{"method": "DELETE"}, 2, failure.OutcomeUnknown},
		{map[string]any{"method": "PATCH", "body": "x"}, 2, failure.OutcomeUnknown},
		{map[string]any{"method": "GET"}, 3, ""}, // safe: the transport may ask again, and the third is answered
	} {
		base, received := flakyServer(t)
		adapter := New(Options{})
		row.args["url"] = base
		first := call(t, adapter, row.args)
		require.True(t, first.OK, first.Message)
		second := call(t, adapter, row.args)
		assert.Equal(t, row.code, second.Code, row.args)
		assert.Equal(t, row.code == "", second.OK, row.args)
		adapter.Close()
		assert.Equal(t, row.sent, received.Load(), row.args)
	}
}

// A body that breaks off is no answer.
func TestBrokenBody(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	got := run(t, Options{}, map[string]any{"url": base})
	assert.Equal(t, tools.Fail(failure.ToolUnreachable, "the connection broke before the answer was complete"), got)
	got = run(t, Options{}, map[string]any{"method": "POST", "url": base})
	assert.Equal(t, tools.Fail(failure.OutcomeUnknown, "the connection broke after the request may have been received"), got)
}
