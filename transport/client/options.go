package client

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Options of a client. The zero value of each is its default.
type Options struct {
	Kernel  string        // id of the kernel; "default"
	Timeout time.Duration // of a whole call, retries included, when its context has no deadline; 30 s
	Attempt time.Duration // of one request; 3 s
	Conns   int           // connections per node; 1,024

	// TLS is what https is spoken with; nil is the machine's own authorities and no
	// certificate. With it, addresses without a scheme are https.
	TLS *tls.Config

	// Token says who asks, where the cluster judges that; empty for none.
	Token string

	// Transport makes the requests; nil is one tuned for many small ones.
	Transport http.RoundTripper
}

func (o Options) withDefaults() Options {
	if o.Kernel == "" {
		o.Kernel = api.DefaultKernel
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Attempt <= 0 {
		o.Attempt = 3 * time.Second
	}
	if o.Conns <= 0 {
		o.Conns = 1024
	}
	if o.Transport == nil {
		o.Transport = newTransport(o.Conns, o.TLS)
	}
	return o
}

// dialTimeout is how long a node may take to accept a connection.
const dialTimeout = time.Second

// newTransport keeps as many connections open as it uses: a command is shorter
// than a handshake.
func newTransport(conns int, secured *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		DialTLSContext:      secureDial(dialer, secured),
		MaxConnsPerHost:     conns,
		MaxIdleConns:        0, // bounded per host
		MaxIdleConnsPerHost: conns,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
		ReadBufferSize:      4 << 10,
		WriteBufferSize:     4 << 10,
	}
}

// Option changes one call.
type Option func(*settings)

// settings of one call.
type settings struct {
	consistency string
	minIndex    uint64
	maxLag      time.Duration
	node        string
	timeout     time.Duration
	key         string
	plain       bool
	alone       bool
}

func settingsOf(opts []Option) settings {
	var s settings
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

// Consistency of a read: one of api.Levels (CL-4). With api.SessionLevel the
// answer is at least as new as everything that this client has seen.
func Consistency(word string) Option { return func(s *settings) { s.consistency = word } }

// MinIndex waits until the answering node has applied a Raft index.
func MinIndex(index uint64) Option { return func(s *settings) { s.minIndex = index } }

// MaxLag, with api.Stale, refuses an answer that may be older.
func MaxLag(d time.Duration) Option { return func(s *settings) { s.maxLag = d } }

// Node asks this node only: its id, or the base URL of its API.
func Node(idOrURL string) Option { return func(s *settings) { s.node = idOrURL } }

// Alone, with Status, asks the node for what it says of itself, and nothing else.
func Alone() Option { return func(s *settings) { s.alone = true } }

// Timeout bounds the whole call, retries included.
func Timeout(d time.Duration) Option { return func(s *settings) { s.timeout = d } }

// IdempotencyKey makes a command exactly once by a key instead of the session,
// for as long as the server says that it remembers keys.
func IdempotencyKey(key string) Option { return func(s *settings) { s.key = key } }

// NoSession sends a command plainly: when its outcome is unknown it is not sent
// again.
func NoSession() Option { return func(s *settings) { s.plain = true } }
