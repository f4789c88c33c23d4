package traffic

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/transport/client"
)

// longestAnswer is how long a stream lasts at most that a cutter lets through.
const longestAnswer = 600 * time.Millisecond

// cutter is a transport that cuts every answer off after a while, so that a client
// which follows a stream has to go on by itself, again and again.
type cutter struct {
	transport *http.Transport

	mu   sync.Mutex // guards dice
	dice *rand.Rand
}

// RoundTrip implements http.RoundTripper.
func (c *cutter) RoundTrip(request *http.Request) (*http.Response, error) {
	c.mu.Lock()
	lasts := time.Duration(c.dice.Int64N(int64(longestAnswer)))
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(request.Context())
	time.AfterFunc(lasts+longestAnswer/20, cancel)
	return c.transport.RoundTrip(request.WithContext(ctx))
}

// CloseIdleConnections is called when the client is closed.
func (c *cutter) CloseIdleConnections() { c.transport.CloseIdleConnections() }

// newCutClient is a client whose streams are cut off.
func newCutClient(nodes []Node, seed uint64) (*client.Client, error) {
	addresses := make([]string, 0, len(nodes))
	for _, n := range nodes {
		addresses = append(addresses, n.URL)
	}
	return client.New(addresses, client.Options{
		Attempt:   Patience / 3,
		Transport: &cutter{transport: &http.Transport{DisableCompression: true}, dice: rand.New(rand.NewPCG(seed, 0x637574))},
	})
}
