package httprequest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// templated is one registered tool of kind http. Its result is the answer's body,
// where the status is one of 2xx.
type templated struct {
	config     *config
	options    *Options
	client     *http.Client
	idempotent bool
}

var _ tools.Caller = (*templated)(nil)

// Errors of redirects, which the client hands back from follow.
var (
	errTooMany   = errors.New("redirected too often")
	errElsewhere = errors.New("redirected to a host that is not listed")
	errInsecure  = errors.New("redirected from https to http")
)

// Call sends the request. The arguments have passed the manifest's schema.
func (t *templated) Call(ctx context.Context, r tools.Request) tools.Result {
	request, used, refused := t.build(r)
	if refused != nil {
		return tools.Fail(refused.Code, refused.Message)
	}
	var connected atomic.Bool // until there is a connection nothing can have reached the server
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	response, err := t.client.Do(request.WithContext(ctx))
	if err != nil {
		return t.failed(ctx, err, connected.Load(), request)
	}
	defer response.Body.Close()
	result := t.answer(ctx, response, used)
	result.Usage = usageOf(response.Header)
	return result
}

func (t *templated) build(r tools.Request) (*http.Request, secrets, *failure.Failure) {
	c := t.config
	address, refused := c.address(r.Args)
	if refused != nil {
		return nil, nil, refused
	}
	sent, contentType := t.body(r.Args)
	request, err := http.NewRequest(c.method, address, sent)
	if err != nil {
		return nil, nil, invalid("the arguments make no URL that can be sent")
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	request.Header.Set("User-Agent", "omnikernel")
	request.Header.Set("Accept", "application/json, */*;q=0.5")
	var used secrets
	for _, h := range c.headers {
		text := h.text
		if before, name, ok := cutSecret(text); ok {
			secret, known := "", false
			if t.options.Secrets != nil {
				secret, known = t.options.Secrets(name, c.origin)
			}
			if !known || !isHeaderValue(secret) {
				return nil, nil, &failure.Failure{Code: failure.ToolUnreachable, Message: failure.Clip("this node does not have the secret " + name + " for " + c.origin)}
			}
			used = append(used, usedSecret{name: name, plain: secret})
			text = before + secret
		}
		request.Header[h.name] = []string{text}
	}
	request.Header["idempotency-key"] = []string{r.IdempotencyKey} // in that case: see Adapter.build
	return request, used, nil
}

// body is what the arguments that the manifest says make of it.
func (t *templated) body(args value.Raw) (sent io.Reader, contentType string) {
	switch t.config.body {
	case oneBody:
		raw, _ := args.Get(t.config.argument)
		if text, ok := raw.Text(); ok {
			return strings.NewReader(text), "text/plain; charset=utf-8"
		}
		return bytes.NewReader(raw.AppendJSON(nil)), "application/json"
	case restBody:
		all, _ := args.ToGo().(map[string]any)
		for name := range t.config.inURL {
			delete(all, name)
		}
		rest, problem := value.FromGo(all)
		if problem != nil || all == nil {
			rest = value.EmptyMap
		}
		return bytes.NewReader(rest.AppendJSON(nil)), "application/json"
	}
	return nil, ""
}

// follow is asked before each redirect. Headers with secrets go to the origin that
// they are for and nowhere else.
func (t *templated) follow(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) > t.config.redirects:
		return errTooMany
	case !slices.Contains(t.config.hosts, strings.ToLower(next.URL.Host)):
		return errElsewhere
	case before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https":
		return errInsecure
	}
	if next.URL.Scheme+"://"+next.URL.Host != t.config.origin {
		for _, h := range t.config.headers {
			if _, _, secret := cutSecret(h.text); secret {
				next.Header.Del(h.name)
			}
		}
	}
	return nil
}

// failed is the result of a request that has no answer.
func (t *templated) failed(ctx context.Context, err error, connected bool, request *http.Request) tools.Result {
	for _, rule := range [...]struct {
		err error
		is  string
	}{
		{errPrivate, "the address of the host is private, which the manifest does not allow"},
		{errTooMany, fmt.Sprintf("the service redirects more than %d times, which the manifest does not allow", t.config.redirects)},
		{errElsewhere, "the service redirects to a host that the manifest does not list"},
		{errInsecure, "the service redirects from https to http"},
	} {
		if errors.Is(err, rule.err) {
			return tools.Fail(failure.ToolFailed, rule.is)
		}
	}
	result := lost(ctx, err, connected, request)
	result.Passing = true
	return result
}

// answer makes the result of a response.
func (t *templated) answer(ctx context.Context, response *http.Response, used secrets) tools.Result {
	if response.StatusCode/100 != 2 {
		return t.refusal(response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(t.options.MaxResultBytes)+1))
	if err != nil {
		return t.failed(ctx, err, true, response.Request)
	}
	if len(body) > t.options.MaxResultBytes {
		return tools.Fail(failure.ToolResultTooLarge, fmt.Sprintf("the answer is larger than %d bytes", t.options.MaxResultBytes))
	}
	decoded, broken := decodeBody(response.Header.Get("Content-Type"), body)
	if broken != "" {
		return tools.Fail(failure.ToolResultInvalid, used.redact(broken))
	}
	if len(used) > 0 {
		decoded = used.redactValue(decoded)
	}
	result, problem := value.FromGo(decoded)
	if problem != nil {
		return tools.Fail(failure.ToolResultInvalid, used.redact("the answer is no value: "+problem.String()))
	}
	return tools.Succeed(result)
}

// refusal is the result of a status that is not one of 2xx. A service that is too
// busy says that it did nothing (RFC 9110 section 15.6.4, RFC 6585 section 4); of a
// gateway that had no answer nobody knows.
func (t *templated) refusal(status int) tools.Result {
	told := fmt.Sprintf("the service answered with status %d", status)
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return tools.Fail(failure.ToolUnreachable, told)
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		if !t.idempotent && !isSafe(t.config.method) {
			return tools.Fail(failure.OutcomeUnknown, told+": the call may or may not have happened")
		}
	}
	result := tools.Fail(failure.ToolFailed, told)
	result.Passing = status >= 500
	return result
}
