package httprequest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// requestBody is the argument `body` as it is sent, and what it is.
func requestBody(args value.Raw) (io.Reader, string) {
	raw, ok := args.Get("body")
	if !ok {
		return nil, ""
	}
	if text, ok := raw.Text(); ok {
		return strings.NewReader(text), "text/plain; charset=utf-8"
	}
	return bytes.NewReader(raw.AppendJSON(nil)), "application/json"
}

// answerHeaders are the headers that a result holds. The rest stays out:
// cookies are secrets of a kind, and dates and ids of hops are noise in a log
// that is kept.
var answerHeaders = [...]string{
	"Cache-Control", "Content-Language", "Content-Location", "Content-Type", "Etag", "Expires", "Last-Modified",
	"Link", "Location", "Retry-After", "X-Request-Id",
	"Ratelimit", "Ratelimit-Policy", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset",
}

// answer makes the result of a response.
func (a *Adapter) answer(ctx context.Context, response *http.Response, used secrets) tools.Result {
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(a.options.MaxResultBytes)+1))
	if err != nil {
		return lost(ctx, err, true, response.Request)
	}
	if len(body) > a.options.MaxResultBytes {
		return tools.Fail(failure.ToolResultTooLarge, fmt.Sprintf("the answer is larger than %d bytes", a.options.MaxResultBytes))
	}
	headers := make(map[string]any)
	for _, name := range answerHeaders {
		if values := response.Header[name]; len(values) > 0 {
			text := strings.ToValidUTF8(strings.Join(values, ", "), "?")
			headers[strings.ToLower(name)] = used.redact(text)
		}
	}
	decoded, broken := decodeBody(response.Header.Get("Content-Type"), body)
	if broken != "" {
		return tools.Fail(failure.ToolResultInvalid, used.redact(broken))
	}
	if len(used) > 0 {
		decoded = used.redactValue(decoded)
	}
	result, problem := value.FromGo(map[string]any{"status": response.StatusCode, "headers": headers, "body": decoded})
	if problem != nil {
		return tools.Fail(failure.ToolResultInvalid, used.redact("the answer is no value: "+problem.String()))
	}
	return tools.Succeed(result)
}

// decodeBody reads a body as its content type says. The second result says
// what is wrong with it, or is empty.
func decodeBody(contentType string, body []byte) (any, string) {
	if isJSON(contentType) {
		if len(bytes.TrimSpace(body)) == 0 {
			return nil, ""
		}
		// "0.1" takes nine bytes; the registry bounds the result as a whole.
		decoded, problem := value.FromJSON(body, 4*len(body))
		if problem != nil {
			return nil, "the answer says it is JSON, but: " + problem.String()
		}
		return decoded.ToGo(), ""
	}
	if !utf8.Valid(body) {
		return nil, "the answer is neither JSON nor UTF-8 text"
	}
	return string(body), ""
}

// isJSON accepts application/json and the +json types (RFC 6839).
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json"))
}

// lost makes the result of a request that has no answer. Only what cannot have
// reached the server, or may safely be sent again, gets a code that invites a
// retry.
func lost(ctx context.Context, err error, connected bool, request *http.Request) tools.Result {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return tools.Fail(failure.Withdrawn, "the call was cancelled")
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return tools.Fail(failure.ToolTimeout, "no answer in time")
	case !connected:
		return tools.Fail(failure.ToolUnreachable, whyUnreachable(err))
	case isSafe(request.Method):
		return tools.Fail(failure.ToolUnreachable, "the connection broke before the answer was complete")
	}
	return tools.Fail(failure.OutcomeUnknown, "the connection broke after the request may have been received")
}

// isSafe follows RFC 9110, section 9.2.1.
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
