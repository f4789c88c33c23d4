package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// request is what one call sends, as often as it takes.
type request struct {
	op     string // for people
	method string
	path   string // escaped
	query  url.Values
	header func(http.Header) // adds to every attempt's header; may be nil
	body   []byte            // nil: none
}

// attempt is one request to one server, for its header only when whole is
// false: then the caller reads and closes the body.
func (f *family) attempt(ctx context.Context, to *server, rq *request) (*http.Response, error) {
	u := to.base
	if err := setPath(&u, rq.path); err != nil {
		return nil, err
	}
	u.RawQuery = rq.query.Encode()
	hr := &http.Request{
		Method: rq.method, URL: &u, Host: u.Host, Header: make(http.Header, 4),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if rq.body != nil {
		hr.Header["Content-Type"] = contentJSON
		hr.ContentLength = int64(len(rq.body))
		hr.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(rq.body)), nil }
		hr.Body, _ = hr.GetBody()
	}
	if rq.header != nil {
		rq.header(hr.Header)
	}
	f.bearer(hr.Header)
	response, err := f.transport.RoundTrip(hr.WithContext(ctx))
	if err != nil {
		if d := distrust(to.name, err, time.Now()); d != nil {
			return nil, d
		}
	}
	return response, err
}

var contentJSON = []string{"application/json"}

func setPath(u *url.URL, escaped string) error {
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return err
	}
	if u.Path != "" || path != escaped {
		u.RawPath = u.EscapedPath() + escaped
	}
	u.Path += path
	return nil
}

// ask makes one attempt and reads the answer into what was asked for. The error
// is an *api.Error when the server said it; sent tells whether a request went
// out otherwise.
func (f *family) ask(ctx context.Context, to *server, rq *request, into any) (sent bool, err error) {
	response, err := f.attempt(ctx, to, rq)
	if err != nil {
		return !notSent(err), err
	}
	body, err := readAnswer(response)
	if err != nil {
		return true, err
	}
	if response.StatusCode >= 300 {
		return true, saidBy(to, response.StatusCode, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return true, &strangeAnswer{to.name, response.StatusCode, err}
	}
	return true, nil
}

func readAnswer(response *http.Response) ([]byte, error) {
	defer response.Body.Close()
	if n := response.ContentLength; n >= 0 && n <= 1<<20 {
		body := make([]byte, n)
		_, err := io.ReadFull(response.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errors.New("the answer is longer than an answer may be")
	}
	return body, err
}

// saidBy reads a server's error. What has no code does not come from a node: a
// proxy, perhaps, and it may have passed the request on.
func saidBy(to *server, status int, body []byte) error {
	said := new(api.Error)
	if err := json.Unmarshal(body, said); err != nil || said.Code == "" {
		return &strangeAnswer{to.name, status, err}
	}
	said.Status = status
	return said
}

// strangeAnswer is one that the API does not give.
type strangeAnswer struct {
	server string
	status int
	err    error
}

func (s *strangeAnswer) Error() string {
	text := s.server + " gave an answer that is not this API's (" + http.StatusText(s.status) + ")"
	if s.err != nil {
		text += ": " + s.err.Error()
	}
	return text
}

// notSent tells that no request can have reached the server: there was no
// connection, or none that was trusted.
func notSent(err error) bool {
	var op *net.OpError
	return isDistrusted(err) || errors.As(err, &op) && op.Op == "dial"
}

// deadlineOf is when a call must be over.
func (f *family) deadlineOf(ctx context.Context, s *settings) time.Time {
	if s.timeout > 0 {
		return time.Now().Add(s.timeout)
	}
	if _, bounded := ctx.Deadline(); bounded {
		return time.Time{} // the context's own
	}
	return time.Now().Add(f.options.Timeout)
}
