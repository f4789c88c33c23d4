package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
)

// session is one connection to a server, from its start to its end.
type session struct {
	client  *mcp.ClientSession
	secrets *httprequest.Redactor
	over    chan struct{} // closed when the connection has ended
	silent  atomic.Int32  // calls in a row that ran into their deadlines without a word from the server

	process *process // of a program, with its guard
	guard   *guard
	web     *http.Transport // of a URL
}

// open connects to the server. Servers that know only what came after sessions are
// asked in their way when they refuse the other one.
func (s *Server) open(ctx context.Context, o *Options) (*session, *Failure) {
	var failure *Failure
	for _, version := range [...]string{initializeFirst, ""} {
		var opened *session
		if opened, failure = s.openAs(ctx, o, version); failure == nil {
			return opened, nil
		}
		if failure.What != Refused && failure.What != Status {
			break
		}
	}
	if failure.What != Forbidden && (failure.What != Status || failure.Status >= http.StatusInternalServerError) {
		failure.What = NotMade // no call was sent
	}
	return nil, failure
}

func (s *Server) openAs(ctx context.Context, o *Options, version string) (*session, *Failure) {
	one := &session{secrets: new(httprequest.Redactor), over: make(chan struct{})}
	transport, failure := one.way(s, o)
	if failure != nil {
		return nil, failure
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "omnikernel", Version: o.Version}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},                  // it has nothing that a server may use
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // which would send a call again
	})
	m := new(mark)
	connected, err := client.Connect(withMark(ctx, m), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		failure := one.whyNot(ctx, err, m)
		one.kill()
		return nil, failure
	}
	one.client = connected
	go func() {
		_ = connected.Wait() // why is on the guard
		close(one.over)
		if one.process != nil {
			one.process.end()
		}
	}()
	return one, nil
}

// way makes the way to the server.
func (one *session) way(s *Server, o *Options) (mcp.Transport, *Failure) {
	if s.URL != "" {
		one.web = httprequest.NewTransport(s.Private)
		return s.web(o, one.web, one.secrets)
	}
	env, failure := s.environment(o, one.secrets)
	if failure != nil {
		return nil, failure
	}
	one.process, failure = s.start(env, func(line string) {
		o.Logger.Info("an MCP server says on stderr", "server", s.Name, "line", one.secrets.Text(line))
	})
	if failure != nil {
		return nil, failure
	}
	one.guard = new(guard)
	return &guarded{one.process, one.guard}, nil
}

// whyNot says why there is no connection.
func (one *session) whyNot(ctx context.Context, err error, m *mark) *Failure {
	failure := one.classify(ctx, err, m, false)
	switch {
	case ctx.Err() != nil:
		failure.Text = "the server did not answer when it was connected to, within " + connectWithin.String()
	case failure.What == Lost && one.process != nil:
		failure.Text = "the server ended, or closed its stdout, before it answered for the first time"
	case failure.What == Lost:
		failure.Text = "the connection ended before the server answered for the first time"
	case failure.What == Flooded, failure.What == Garbled:
		failure.Text = "what the server said first is no answer of the protocol"
	}
	return failure
}

// call sends one call, and waits for its answer.
func (one *session) call(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, *Failure) {
	m := new(mark)
	ctx, cancel := context.WithCancel(withMark(ctx, m))
	defer cancel()
	before := one.heard()
	result, err := one.client.CallTool(ctx, params)
	switch {
	case err == nil && result.NeedsInput():
		return nil, failed(Refused, "the server asks for input, which nobody can give it")
	case err == nil:
		one.silent.Store(0)
		return result, nil
	}
	failure := one.classify(ctx, err, m, one.client.ID() != "")
	switch {
	case failure.What != Late:
		one.silent.Store(0)
	case before == one.heard() && errors.Is(ctx.Err(), context.DeadlineExceeded):
		one.silent.Add(1)
	}
	return nil, failure
}

func (one *session) heard() uint64 {
	if one.guard == nil {
		return 0
	}
	return one.guard.heard.Load()
}

// rejected is what the protocol's library says of a request that was not accepted on
// its way, whose status or connection says more.
const rejected = -32005

// classify says what an error means for the call that has it.
func (one *session) classify(ctx context.Context, err error, m *mark, hadSession bool) *Failure {
	var refused *jsonrpc.Error
	status := int(m.status.Load())
	switch {
	case m.flooded.Load():
		return failed(Flooded, textFlooded)
	case errors.Is(err, errRedirect):
		return failed(Forbidden, textRedirect)
	case !m.sent.Load() && httprequest.IsPrivate(err):
		return failed(Forbidden, textPrivate)
	case one.web != nil && !m.sent.Load():
		return failed(NotMade, httprequest.WhyUnreachable(err))
	case ctx.Err() != nil:
		return failed(Late, textLate)
	case status != 0 && status/100 != 2:
		return statusFailure(status, hadSession)
	case errors.As(err, &refused) && refused.Code != rejected:
		return &Failure{What: Refused, Code: refused.Code, Text: "the server refused with an error of the protocol"}
	case one.guard != nil:
		return one.ofProgram(m)
	case m.whole.Load():
		return failed(Garbled, textGarbled)
	case one.ended() || !isDecoding(err):
		return failed(Lost, textLost)
	}
	return failed(Garbled, textGarbled)
}

// ofProgram is classify's, for what a program did not answer.
func (one *session) ofProgram(m *mark) *Failure {
	why := one.guard.why.Load()
	switch {
	case one.client != nil && !m.sent.Load():
		return failed(NotMade, textGone)
	case why != nil:
		return failed(why.What, why.Text)
	}
	return failed(Garbled, textGarbled)
}

func isDecoding(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// ended tells whether the connection has ended, or is about to.
func (one *session) ended() bool {
	if one.guard != nil && one.guard.why.Load() != nil {
		return true
	}
	select {
	case <-one.over:
		return true
	default:
		return false
	}
}

// close ends the connection as the protocol wishes it, with what is behind it. Of a URL
// it waits for calls that are under way.
func (one *session) close() {
	if one.process != nil {
		one.process.end()
	}
	_ = one.client.Close() // there is nobody to tell
	one.cut()
}

// kill ends what is behind a connection at once.
func (one *session) kill() {
	if one.process != nil {
		one.process.kill()
	}
	one.cut()
}

// cut closes what would keep a connection open.
func (one *session) cut() {
	if one.web != nil {
		one.web.CloseIdleConnections()
	}
}
