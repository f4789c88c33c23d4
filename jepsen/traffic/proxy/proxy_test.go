package proxy_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/traffic/proxy"
)

// before gives a proxy before a server that counts what it does.
func before(t *testing.T, serve http.HandlerFunc) (*proxy.Proxy, *atomic.Int64) {
	t.Helper()
	var done atomic.Int64
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		done.Add(1)
		serve(w, r)
	}))
	t.Cleanup(node.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p, err := proxy.New(l, node.URL, 7)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p, &done
}

func ask(ctx context.Context, p *proxy.Proxy, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL()+"/a/b%2Fc?d=e", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Idempotency-Key", "k")
	answer, err := new(http.Transport).RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = io.WriteString(w, r.URL.EscapedPath()+" "+r.URL.RawQuery+" "+r.Header.Get("Idempotency-Key")+" "+string(body))
}

// Without faults everything passes as it is.
func TestPasses(t *testing.T) {
	p, _ := before(t, echo)
	got, err := ask(t.Context(), p, "hello")
	require.NoError(t, err)
	require.Equal(t, "/a/b%2Fc d=e k hello", got)
	require.Equal(t, proxy.Counts{Passed: 1}, p.Counts())
}

// The node has done it, once, and the client gets no answer.
func TestAnswersAreLost(t *testing.T) {
	p, done := before(t, echo)
	p.Set(proxy.Faults{Drop: 1})
	_, err := ask(t.Context(), p, "x")
	require.Error(t, err)
	require.EqualValues(t, 1, done.Load(), "a key is no leave to send again")

	p.Set(proxy.Faults{Hang: 1, Stuck: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = ask(ctx, p, "x")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualValues(t, 2, done.Load())

	p.Set(proxy.Faults{Hang: 1, Stuck: time.Millisecond})
	_, err = ask(t.Context(), p, "x")
	require.Error(t, err)

	p.Set(proxy.Faults{})
	_, err = ask(t.Context(), p, "x")
	require.NoError(t, err)
	require.Equal(t, proxy.Counts{Passed: 1, Dropped: 1, Hung: 2}, p.Counts())
}

// Some are late, and each fate is as likely as it was said to be.
func TestChances(t *testing.T) {
	p, done := before(t, echo)
	p.Set(proxy.Faults{Drop: 0.2, Delay: 0.3, Late: time.Millisecond})
	lost := 0
	for range 300 {
		if _, err := ask(t.Context(), p, "x"); err != nil {
			lost++
		}
	}
	require.EqualValues(t, 300, done.Load())
	c := p.Counts()
	require.EqualValues(t, lost, c.Dropped)
	require.InDelta(t, 60, c.Dropped, 30)
	require.InDelta(t, 90, c.Delayed, 30)
	require.EqualValues(t, 300, c.Dropped+c.Delayed+c.Passed)
}

// A node that goes away in the middle may have done it: nobody is told anything.
func TestNodeGoesAway(t *testing.T) {
	p, _ := before(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := ask(t.Context(), p, "x")
	require.Error(t, err)
	require.Equal(t, proxy.Counts{Failed: 1}, p.Counts())
}

// A stream comes as it is written.
func TestStreamsPass(t *testing.T) {
	more := make(chan struct{})
	p, _ := before(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "one\n")
		w.(http.Flusher).Flush()
		<-more
		_, _ = io.WriteString(w, "two\n")
	})
	p.Set(proxy.Faults{Drop: 1})
	answer, err := http.Get(p.URL())
	require.NoError(t, err)
	defer answer.Body.Close()
	first := make([]byte, 4)
	_, err = io.ReadFull(answer.Body, first)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(first))
	close(more)
	rest, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "two\n", string(rest))
}

// A node that is not there was asked nothing, and the client is told so; an address
// that is none is refused.
func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	p, err := proxy.New(l, "http://"+gone.Addr().String(), 1)
	require.NoError(t, err)
	defer p.Close()
	answer, err := ask(t.Context(), p, "x")
	require.NoError(t, err)
	require.Contains(t, answer, `"code":"UNREACHABLE","definite":true`)
	require.EqualValues(t, 1, p.Counts().Refused)
	_, err = proxy.New(l, "nowhere", 1)
	require.Error(t, err)
}
