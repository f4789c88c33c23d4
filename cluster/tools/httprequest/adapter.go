package httprequest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// Options configure the tool on one node.
type Options struct {
	// Secrets resolves `secret:NAME` in header values (TO-7). Origin is where
	// the request goes, "https://api.example.com:8443", so that a secret can be
	// bound to its receiver. Nil knows no secret.
	Secrets func(name, origin string) (string, bool)
	// Proxy is the forward proxy; nil sends directly. The environment's proxy
	// variables are never read.
	Proxy *url.URL
	// MaxResultBytes bounds the answer, body and headers, in canonical form;
	// 64 KiB if zero, which is the kernel's default bound on values.
	MaxResultBytes int
	// DefaultTimeout is for calls that bring none; 30 s if zero.
	DefaultTimeout time.Duration
}

const (
	defaultResultBytes = 64 << 10
	defaultTimeout     = 30 * time.Second
)

// Adapter is the http.request tool. It keeps idle connections and nothing
// else.
type Adapter struct {
	options   Options
	client    *http.Client
	transport *http.Transport
}

var _ tools.Adapter = (*Adapter)(nil)

// New returns the tool, ready for use.
func New(options Options) *Adapter {
	if options.MaxResultBytes <= 0 {
		options.MaxResultBytes = defaultResultBytes
	}
	if options.DefaultTimeout <= 0 {
		options.DefaultTimeout = defaultTimeout
	}
	transport := &http.Transport{
		DialContext:            (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    64,
		MaxConnsPerHost:        256,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if options.Proxy != nil {
		transport.Proxy = http.ProxyURL(options.Proxy)
	}
	client := &http.Client{
		Transport: transport,
		// A redirect names a place that the gate has not judged.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Adapter{options: options, client: client, transport: transport}
}

// Close drops the idle connections. Calls under way end by their contexts.
func (a *Adapter) Close() { a.transport.CloseIdleConnections() }

// Manifest describes the tool.
func (a *Adapter) Manifest() tools.Manifest {
	return tools.Manifest{
		Name:           kerneltools.HTTPTool,
		Description:    "Sends one HTTP request and answers with status, chosen headers and body.",
		Args:           argsSchema,
		Result:         resultSchema,
		MaxResultBytes: a.options.MaxResultBytes,
		DefaultTimeout: a.options.DefaultTimeout,
	}
}

// Call sends the request. The arguments have passed the schema.
func (a *Adapter) Call(ctx context.Context, r tools.Request) tools.Result {
	request, secrets, broken := a.build(r)
	if broken != nil {
		return tools.Fail(broken.Code, broken.Message)
	}
	// Until there is a connection nothing can have reached the server.
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	response, err := a.client.Do(request.WithContext(ctx))
	if err != nil {
		return lost(ctx, err, connected.Load(), request)
	}
	defer response.Body.Close()
	result := a.answer(ctx, response, secrets)
	result.Usage = usageOf(response.Header)
	return result
}

// build makes the request that the gate judged, or says which argument is
// wrong. The second result holds the secrets that went into it.
func (a *Adapter) build(r tools.Request) (*http.Request, secrets, *failure.Failure) {
	// The gate has asked the same; an adapter that is called by another way
	// must not be laxer.
	if _, refused := kerneltools.HTTPResource(r.Args); refused != nil {
		return nil, nil, refused
	}
	method := http.MethodGet
	if raw, ok := r.Args.Get("method"); ok {
		method, _ = raw.Text()
	}
	raw, _ := r.Args.Get("url")
	target, _ := raw.Text()
	body, contentType := requestBody(r.Args)
	request, err := http.NewRequest(method, target, body)
	if err != nil {
		return nil, nil, invalid("url is not one that can be sent")
	}
	used, refused := a.setHeaders(request, r.Args)
	if refused != nil {
		return nil, nil, refused
	}
	if contentType != "" && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", contentType)
	}
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", "omnikernel")
	}
	// Header names mean the same in any case. In this one the transport does
	// not take the header as leave to send an unsafe request again by itself.
	request.Header["idempotency-key"] = []string{r.IdempotencyKey}
	return request, used, nil
}

func invalid(message string) *failure.Failure {
	return &failure.Failure{Code: failure.ToolArgsInvalid, Message: message}
}
