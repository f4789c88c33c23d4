package client

import (
	"net/http"
	"net/url"
	"sync/atomic"
)

// Client talks to one cluster's kernel.
type Client struct {
	*family
	session *session
}

// family is what a client shares with its forks.
type family struct {
	options   Options
	transport http.RoundTripper
	servers   *servers
	prefix    string // of paths of the kernel
	highest   atomic.Uint64
}

// New makes a client of the nodes at these addresses, "http://host:port",
// "https://host:port" or "host:port". It asks nobody yet. The error is a *Usage.
func New(addresses []string, options Options) (*Client, error) {
	known, usage := newServers(addresses, options.TLS != nil)
	if usage != nil {
		return nil, usage
	}
	options = options.withDefaults()
	return (&family{
		options: options, transport: options.Transport, servers: known,
		prefix: "/v1/kernels/" + url.PathEscape(options.Kernel),
	}).client(), nil
}

func (f *family) client() *Client { return &Client{family: f, session: newSession()} }

// Fork is a client with a session of its own, which shares connections and what
// is known of the cluster.
func (c *Client) Fork() *Client { return c.client() }

// Close drops idle connections, of all forks. The client can still be used.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// LastIndex is the highest Raft index that an answer to this client or one of
// its forks carried.
func (c *Client) LastIndex() uint64 { return c.highest.Load() }

// Servers lists the addresses that the client knows.
func (c *Client) Servers() []string { return c.servers.names() }

// saw notes an index.
func (f *family) saw(index uint64) {
	for {
		have := f.highest.Load()
		if index <= have || f.highest.CompareAndSwap(have, index) {
			return
		}
	}
}
