package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Faults are the chances, from 0 to 1, of what can happen to an answer. Of one
// answer one thing happens at most.
type Faults struct {
	Drop  float64       // the connection is closed instead
	Hang  float64       // nothing comes until the client gives up, or Stuck is over; then the connection is closed
	Delay float64       // it comes later, by up to Late
	Late  time.Duration // 500 ms if zero
	Stuck time.Duration // 10 s if zero
}

// Counts is how many answers there were, and what became of them.
type Counts struct {
	Passed  int64 `json:"passed"`
	Dropped int64 `json:"dropped"`
	Hung    int64 `json:"hung"`
	Delayed int64 `json:"delayed"`
	Refused int64 `json:"refused"` // the node was not there to be asked: the proxy says UNREACHABLE
	Failed  int64 `json:"failed"`  // the node was asked, and did not answer
}

// Proxy stands before one node.
type Proxy struct {
	url    string
	server *http.Server
	client *http.Transport
	closed context.CancelFunc

	mu     sync.Mutex // guards what follows
	faults Faults
	counts Counts
	dice   *rand.Rand
}

// New lets clients come through a listener to the node whose API is at the base
// URL target. The proxy closes the listener. The seed is that of its dice.
func New(l net.Listener, target string, seed uint64) (*Proxy, error) {
	to, err := url.Parse(target)
	if err != nil || to.Host == "" {
		return nil, fmt.Errorf("proxy: %q is no base URL of a node", target)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		url: "http://" + l.Addr().String(), closed: cancel, dice: rand.New(rand.NewPCG(seed, 0x70726f7879)),
		client: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: time.Second}).DialContext,
			MaxIdleConnsPerHost: 256, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
		},
	}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:     once{p.client},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // counted instead
		ModifyResponse: func(answer *http.Response) error {
			return p.treat(answer)
		},
		ErrorHandler: p.failed,
	}
	p.server = &http.Server{
		Handler: forward, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = p.server.Serve(l) }() // ends with Close
	return p, nil
}

// URL is the base URL for clients.
func (p *Proxy) URL() string { return p.url }

// Set says what goes wrong from now on.
func (p *Proxy) Set(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = f
}

// Counts is what has become of answers so far.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// Close ends the proxy and every connection through it.
func (p *Proxy) Close() {
	p.closed()
	_ = p.server.Close() // what it says of the listener helps nobody
	p.client.CloseIdleConnections()
}

// failed ends a request that has no answer.
func (p *Proxy) failed(w http.ResponseWriter, _ *http.Request, err error) {
	var dial *net.OpError
	switch {
	case errors.Is(err, errLost):
	case errors.As(err, &dial) && dial.Op == "dial":
		// Nobody was asked, and without the proxy the client would know.
		p.note(func(c *Counts) { c.Refused++ })
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(api.Error{ // who does not listen is not told
			Code: "UNREACHABLE", Definite: true, Message: "the node does not accept connections",
		})
		return
	default:
		p.note(func(c *Counts) { c.Failed++ })
	}
	panic(http.ErrAbortHandler) // closes the connection without a word
}

var errLost = errors.New("the answer is lost on purpose")

// treat decides what becomes of an answer that the node has given.
func (p *Proxy) treat(answer *http.Response) error {
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		p.note(func(c *Counts) { c.Passed++ })
		return nil
	}
	hang, drop, wait := p.decide()
	ctx := answer.Request.Context()
	if drop || hang {
		// It is whole, so the node is done with it.
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return err
		}
	}
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if drop || hang {
		return errLost
	}
	return nil
}

// decide throws the dice, and counts.
func (p *Proxy) decide() (hang, drop bool, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, n := &p.faults, p.dice.Float64()
	switch {
	case n < f.Drop:
		p.counts.Dropped++
		return false, true, 0
	case n < f.Drop+f.Hang:
		p.counts.Hung++
		return true, false, or(f.Stuck, 10*time.Second)
	case n < f.Drop+f.Hang+f.Delay:
		p.counts.Delayed++
		late := or(f.Late, 500*time.Millisecond)
		return false, false, time.Duration(1 + p.dice.Int64N(int64(late)))
	}
	p.counts.Passed++
	return false, false, 0
}

func (p *Proxy) note(change func(*Counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.counts)
}

func or(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// once sends each request once: a header of idempotency, which commands may have,
// would let the transport send one again by itself.
type once struct{ to *http.Transport }

// RoundTrip implements http.RoundTripper.
func (o once) RoundTrip(r *http.Request) (*http.Response, error) {
	if keys := r.Header.Values("Idempotency-Key"); len(keys) > 0 {
		// A name that the transport does not know, and that means the same.
		r = r.Clone(r.Context())
		r.Header.Del("Idempotency-Key")
		r.Header["idempotency-key"] = keys
	}
	return o.to.RoundTrip(r)
}
