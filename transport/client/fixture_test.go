package client_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

func program(t testing.TB, src string) value.Raw {
	t.Helper()
	raw, problem := value.FromJSON([]byte(src), 1<<20)
	require.Nil(t, problem)
	return raw
}

func literal(t testing.TB) value.Raw {
	return program(t, `{"kind":"LITERAL","payload":{"value":42}}`)
}

// echo waits for an external tool.
func echo(t testing.TB) event.Define {
	return event.Define{
		Program: program(t, `{"kind":"CALL","payload":{"tool":"echo","args":"hello"}}`),
		Grants:  []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "echo"}},
	}
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func connect(t testing.TB, options client.Options, servers ...string) *client.Client {
	t.Helper()
	c, err := client.New(servers, options)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// one is a group of one node, and a client of it.
func one(t testing.TB) (*solo.Group, *client.Client) {
	g := solo.New(t, 1, solo.Setup{})
	return g, connect(t, client.Options{}, g.Serve(t, httpapi.Options{})...)
}

// agents lists what the log says was defined: one for each applied definition.
func agents(t testing.TB, c *client.Client) (ids []string) {
	t.Helper()
	for a, err := range c.AllAgents(within(t, 10*time.Second), api.AgentQuery{}) {
		require.NoError(t, err)
		ids = append(ids, a.AgentID)
	}
	return ids
}

// proxy stands between a client and a node, and loses what it is told to lose.
type proxy struct {
	url     string
	to      string
	drop    atomic.Int64 // answers to lose: the request arrives, the answer does not
	every   atomic.Int64 // of so many answers, one is lost; 0 loses none
	answers atomic.Int64
	refuse  atomic.Bool // closes every connection at once
	dropped atomic.Int64

	mu    sync.Mutex // guards conns
	conns map[net.Conn]bool
}

func newProxy(t testing.TB, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{url: "http://" + l.Addr().String(), to: strings.TrimPrefix(to, "http://"), conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

// open is how many ends of connections there are.
func (p *proxy) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// cut ends every connection that is open.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

func (p *proxy) hold(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = true
}

func (p *proxy) serve(from net.Conn) {
	defer from.Close()
	if p.refuse.Load() {
		return
	}
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer to.Close()
	p.hold(from)
	p.hold(to)
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := to.Read(buffer)
		if n > 0 && p.loses() {
			p.dropped.Add(1)
			return
		}
		if _, failed := from.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

func (p *proxy) loses() bool {
	if every := p.every.Load(); every > 0 && p.answers.Add(1)%every == 0 {
		return true
	}
	return p.drop.Load() > 0 && p.drop.Add(-1) >= 0
}
