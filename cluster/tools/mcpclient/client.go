package mcpclient

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
)

// Client is a node's connection to one server, used on many goroutines at once.
type Client struct {
	server  Server
	options Options

	mu      sync.Mutex // guards the rest
	now     *session   // nil while there is none
	dialing *dial      // nil while none is under way
	pace    *backoff.ExponentialBackOff
	notTill time.Time // when the next one may begin
	closed  bool
	done    chan struct{}
	cancel  context.CancelFunc // of what is under way
	ctx     context.Context    // its life, which ends with Close
}

// dial is an attempt to connect, which every call waits for that came meanwhile.
type dial struct {
	done    chan struct{}
	session *session
	failure *Failure
}

// New makes a client. It connects when it is used.
func New(server Server, options Options) *Client {
	if options.Logger == nil {
		options.Logger = hclog.NewNullLogger()
	}
	pace := &backoff.ExponentialBackOff{InitialInterval: firstPause, MaxInterval: longestPause, Multiplier: 2, RandomizationFactor: 0.2}
	pace.Reset()
	ctx, cancel := context.WithCancel(context.Background())
	return &Client{server: server, options: options, pace: pace, ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// Close ends the connection, and the program. Calls under way are lost. It does not wait
// for that: Done does.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	one, dialing := c.now, c.dialing
	c.now, c.closed = nil, true
	c.cancel()
	go func() {
		defer close(c.done)
		if dialing != nil {
			<-dialing.done
		}
		if one != nil {
			one.close()
		}
	}()
}

// Done is closed when there is nothing left of a client that was closed.
func (c *Client) Done() <-chan struct{} { return c.done }

// Answer is what a tool answered, with the server's secrets taken out.
type Answer struct {
	Result  *mcp.CallToolResult
	Secrets *httprequest.Redactor
}

// Call calls a tool. Args is a JSON object; the key names the call for ever. With a
// Failure there is no answer.
func (c *Client) Call(ctx context.Context, tool string, args json.RawMessage, key string) (Answer, *Failure) {
	for again := false; ; again = true {
		one, failure := c.connect(ctx)
		if failure != nil {
			return Answer{}, failure
		}
		result, failure := one.call(ctx, &mcp.CallToolParams{Name: tool, Arguments: args, Meta: mcp.Meta{KeyMeta: key}})
		c.learn(one, failure)
		if failure != nil && failure.What == NotMade && failure.Status == 0 && !again && ctx.Err() == nil {
			continue
		}
		return Answer{result, one.secrets}, failure
	}
}

// Members of _meta that the kernel and servers tell each other.
const (
	KeyMeta   = "omnikernel/idempotency-key"
	UsageMeta = "omnikernel/usage"
)

// Listing is what a server has.
type Listing struct {
	Name, Version string // as it says
	Tools         []*mcp.Tool
}

// Tools asks the server for its tools, at most 1,000.
func (c *Client) Tools(ctx context.Context) (Listing, *Failure) {
	one, failure := c.connect(ctx)
	if failure != nil {
		return Listing{}, failure
	}
	var all Listing
	if said := one.client.InitializeResult(); said != nil && said.ServerInfo != nil {
		all.Name, all.Version = said.ServerInfo.Name, said.ServerInfo.Version
	}
	params := new(mcp.ListToolsParams)
	for len(all.Tools) < maxTools {
		m := new(mark)
		page, err := one.client.ListTools(withMark(ctx, m), params)
		if err != nil {
			m.sent.Store(true)
			failure := one.classify(ctx, err, m, false)
			c.learn(one, failure)
			return Listing{}, failure
		}
		all.Tools = append(all.Tools, page.Tools...)
		if page.NextCursor == "" || len(page.Tools) == 0 {
			return all, nil
		}
		params.Cursor = page.NextCursor
	}
	return Listing{}, failed(Flooded, "the server has more than 1000 tools")
}

// connect returns the connection, or waits for one. The last of the call's time is left
// for an answer that says that there is none, which a call that ran out of it has not.
func (c *Client) connect(ctx context.Context) (*session, *Failure) {
	c.mu.Lock()
	if c.now != nil && c.now.ended() {
		c.lost(c.now)
	}
	switch {
	case c.closed:
		c.mu.Unlock()
		return nil, failed(NotMade, "this node lets go of the server")
	case c.now != nil:
		defer c.mu.Unlock()
		return c.now, nil
	case c.dialing == nil:
		c.dialing = &dial{done: make(chan struct{})}
		go c.dial(c.dialing, time.Until(c.notTill))
	}
	d := c.dialing
	c.mu.Unlock()
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		left := time.Until(deadline)
		ctx, cancel = context.WithTimeout(ctx, left-max(left/10, min(left/2, time.Second)))
		defer cancel()
	}
	select {
	case <-d.done:
		return d.session, d.failure
	case <-ctx.Done():
		return nil, failed(NotMade, "the server could not be connected to in time")
	}
}

// dial connects after a pause. It goes on though the call that wanted it has ended: a
// server that takes long to start would never be there otherwise.
func (c *Client) dial(d *dial, pause time.Duration) {
	ctx, cancel := context.WithTimeout(c.ctx, max(pause, 0)+connectWithin)
	defer cancel()
	if pause > 0 {
		wait := time.NewTimer(pause)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	c.options.Logger.Debug("connecting to an MCP server", "server", c.server.Name, "url", c.server.URL)
	d.session, d.failure = c.server.open(ctx, &c.options)
	c.mu.Lock()
	c.dialing = nil
	switch {
	case d.failure != nil:
		c.notTill = time.Now().Add(c.pace.NextBackOff())
		c.options.Logger.Warn("an MCP server cannot be connected to", "server", c.server.Name, "url", c.server.URL, "reason", d.failure.Text)
	case !c.closed:
		c.now = d.session
	}
	over := c.closed
	c.mu.Unlock()
	if over && d.session != nil {
		d.session.close()
		d.session, d.failure = nil, failed(NotMade, "this node lets go of the server")
	}
	close(d.done)
}

// learn takes note of how a call ended: whether the connection can be gone on with.
func (c *Client) learn(one *session, failure *Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case failure == nil:
		c.pace.Reset()
	case failure.What == Lost, failure.What == Flooded, one.ended(), one.silent.Load() >= maxSilent:
		c.lost(one)
	case failure.What == Status, failure.What == NotMade && failure.Status == 0:
		if c.now == one { // it was answered: the next one need not wait
			c.now = nil
			go one.close()
		}
	}
}

// lost lets go of a connection, with c.mu held. The next one has to wait.
func (c *Client) lost(one *session) {
	if c.now != one {
		return
	}
	c.now = nil
	c.notTill = time.Now().Add(c.pace.NextBackOff())
	c.options.Logger.Warn("the connection to an MCP server is lost", "server", c.server.Name, "url", c.server.URL)
	go func() {
		one.kill()
		one.close()
	}()
}
