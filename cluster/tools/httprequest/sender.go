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
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// Sender sends the requests of one registered tool to its service. It is used on many
// goroutines at once, and holds nothing of its own.
type Sender struct {
	service    *Service
	options    *Options
	client     *http.Client
	idempotent bool
	maxBytes   int
}

// Message is one request. The address begins with the service's origin.
type Message struct {
	Method, Address string
	ContentType     string // empty: there is no body
	Body            []byte
	Key             string // names the call (TO-4)
}

// Answer is what a service said to a message. Status is 0 where it said nothing; only
// an answer with a status of 2xx has a body.
type Answer struct {
	Status      int
	Usage       kerneltools.Usage // by its header Omni-Usage
	contentType string
	body        []byte
	used        secrets
}

// Errors of redirects, which the client hands back from follow.
var (
	errTooMany   = errors.New("redirected too often")
	errElsewhere = errors.New("redirected to a host that is not listed")
	errInsecure  = errors.New("redirected from https to http")
)

// Sender sends to a service, over the kind's connections. What is idempotent may be
// sent again; of an answer no more than maxBytes is read.
func (k *Kind) Sender(s *Service, idempotent bool, maxBytes int) *Sender {
	sender := &Sender{service: s, options: &k.options, idempotent: idempotent, maxBytes: maxBytes}
	sender.client = &http.Client{Transport: k.public, CheckRedirect: sender.follow}
	if s.private {
		sender.client.Transport = k.any
	}
	return sender
}

// Send sends the message, once. Where there is no answer with a status of 2xx, the
// result says what the call came to.
func (s *Sender) Send(ctx context.Context, m Message) (Answer, *tools.Result) {
	request, used, failed := s.build(m)
	if failed != nil {
		return Answer{}, failed
	}
	var connected atomic.Bool // until there is a connection nothing can have reached the server
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	response, err := s.client.Do(request.WithContext(ctx))
	if err != nil {
		return Answer{}, s.failed(ctx, err, connected.Load(), request)
	}
	defer response.Body.Close()
	answer := Answer{Status: response.StatusCode, Usage: usageOf(response.Header), contentType: response.Header.Get("Content-Type"), used: used}
	failed = s.read(ctx, response, &answer)
	if failed != nil {
		failed.Usage = answer.Usage
	}
	return answer, failed
}

func (s *Sender) build(m Message) (*http.Request, secrets, *tools.Result) {
	var body io.Reader
	if m.ContentType != "" {
		body = bytes.NewReader(m.Body)
	}
	request, err := http.NewRequest(m.Method, m.Address, body)
	if err != nil {
		return nil, nil, ends(failure.ToolArgsInvalid, "the arguments make no URL that can be sent")
	}
	if m.ContentType != "" {
		request.Header.Set("Content-Type", m.ContentType)
	}
	request.Header.Set("User-Agent", "omnikernel")
	request.Header.Set("Accept", "application/json, */*;q=0.5")
	var used secrets
	for _, h := range s.service.headers {
		text := h.text
		if before, name, ok := cutSecret(text); ok {
			secret, known := "", false
			if s.options.Secrets != nil {
				secret, known = s.options.Secrets(name, s.service.origin)
			}
			if !known || !isHeaderValue(secret) {
				return nil, nil, ends(failure.ToolUnreachable, "this node does not have the secret "+name+" for "+s.service.origin)
			}
			used = append(used, usedSecret{name: name, plain: secret})
			text = before + secret
		}
		request.Header[h.name] = []string{text}
	}
	request.Header["idempotency-key"] = []string{m.Key} // in that case: see Adapter.build
	return request, used, nil
}

// follow is asked before each redirect. Headers with secrets go to the origin that
// they are for and nowhere else.
func (s *Sender) follow(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) > s.service.redirects:
		return errTooMany
	case !slices.Contains(s.service.hosts, strings.ToLower(next.URL.Host)):
		return errElsewhere
	case before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https":
		return errInsecure
	}
	if next.URL.Scheme+"://"+next.URL.Host != s.service.origin {
		for _, h := range s.service.headers {
			if _, _, secret := cutSecret(h.text); secret {
				next.Header.Del(h.name)
			}
		}
	}
	return nil
}

// failed is the result of a request that has no answer.
func (s *Sender) failed(ctx context.Context, err error, connected bool, request *http.Request) *tools.Result {
	for _, rule := range [...]struct {
		err error
		is  string
	}{
		{errPrivate, "the address of the host is private, which the manifest does not allow"},
		{errTooMany, fmt.Sprintf("the service redirects more than %d times, which the manifest does not allow", s.service.redirects)},
		{errElsewhere, "the service redirects to a host that the manifest does not list"},
		{errInsecure, "the service redirects from https to http"},
	} {
		if errors.Is(err, rule.err) {
			return ends(failure.ToolFailed, rule.is)
		}
	}
	result := lost(ctx, err, connected, request)
	result.Passing = true
	return &result
}

// read takes the body of an answer that is one.
func (s *Sender) read(ctx context.Context, response *http.Response, answer *Answer) *tools.Result {
	if response.StatusCode/100 != 2 {
		return s.refusal(response)
	}
	var err error
	if answer.body, err = io.ReadAll(io.LimitReader(response.Body, int64(s.maxBytes)+1)); err != nil {
		return s.failed(ctx, err, true, response.Request)
	}
	if len(answer.body) > s.maxBytes {
		return ends(failure.ToolResultTooLarge, fmt.Sprintf("the answer is larger than %d bytes", s.maxBytes))
	}
	return nil
}

// refusal is the result of a status that is not one of 2xx. A service that says when to
// come again has done nothing (RFC 6585 section 4, RFC 9110 section 10.2.3). A gateway
// that had no answer says 502, 503 or 504 whatever became of the request behind it.
func (s *Sender) refusal(response *http.Response) *tools.Result {
	status := response.StatusCode
	told := fmt.Sprintf("the service answered with status %d", status)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && response.Header.Get("Retry-After") != "" {
		result := ends(failure.ToolUnreachable, told)
		result.After = retryAfter(response.Header)
		return result
	}
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if !s.idempotent && !isSafe(response.Request.Method) {
			return ends(failure.OutcomeUnknown, told+": the call may or may not have happened")
		}
	}
	result := ends(failure.ToolFailed, told)
	result.Passing = status >= 500
	return result
}

// Value is the body as what it says that it is: of JSON the value, otherwise text.
// Secrets that were sent and came back have their names instead.
func (a *Answer) Value() (any, *tools.Result) {
	decoded, broken := decodeBody(a.contentType, a.body)
	if broken != "" {
		return nil, ends(failure.ToolResultInvalid, a.used.redact(broken))
	}
	return a.Redact(decoded), nil
}

// Redact puts the names of secrets that were sent in their place. Who decodes a text of
// the body once more asks for it again: what was escaped is plain by then.
func (a *Answer) Redact(v any) any {
	if len(a.used) == 0 {
		return v
	}
	return a.used.redactValue(v)
}

func ends(code failure.Code, message string) *tools.Result {
	result := tools.Fail(code, message)
	return &result
}
