package httprequest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// TestMain points the environment's proxy at nothing, before anybody could
// have read it: whoever used it would fail.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy"} {
		_ = os.Setenv(name, "http://127.0.0.1:1")
	}
	goleak.VerifyTestMain(m)
}

// serve starts a real server. It outlives the adapter that run makes for it.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// run makes one call through the registry, so that every result of these tests
// has passed the manifest's schema.
func run(t *testing.T, options Options, args map[string]any) tools.Result {
	t.Helper()
	adapter := New(options)
	defer adapter.Close()
	return call(t, adapter, args)
}

func call(t *testing.T, adapter *Adapter, args map[string]any) tools.Result {
	t.Helper()
	registry, err := tools.New(tools.Options{}, adapter)
	require.NoError(t, err)
	raw, problem := value.FromGo(args)
	require.Nil(t, problem)
	return registry.Run(t.Context(), tools.Request{Tool: "http.request", IdempotencyKey: "agent/7/1", Args: raw})
}

// answerOf returns the parts of a successful result.
func answerOf(t *testing.T, result tools.Result) (status int64, headers map[string]any, body any) {
	t.Helper()
	require.True(t, result.OK, "%s: %s", result.Code, result.Message)
	all := result.Value.ToGo().(map[string]any)
	return all["status"].(int64), all["headers"].(map[string]any), all["body"]
}

// TO-4: the call's name travels with it.
func TestRequestAsSent(t *testing.T) {
	var seen *http.Request
	var body []byte
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r
		body, _ = io.ReadAll(r.Body)
	})
	run(t, Options{}, map[string]any{
		"method": "POST", "url": base + "/v1/it%65ms?q=%2F", "body": map[string]any{"b": 1, "a": []any{nil, 1.5, "é"}},
		"headers": map[string]any{"x-Trace": "7", "Accept": "application/json"}, "idempotent": true,
	})
	assert.Equal(t, "POST", seen.Method)
	assert.Equal(t, "/v1/it%65ms?q=%2F", seen.RequestURI)
	assert.JSONEq(t, `{"a":[null,1.5,"é"],"b":1}`, string(body))
	assert.Equal(t, "application/json", seen.Header.Get("Content-Type"))
	assert.Equal(t, []string{"agent/7/1"}, seen.Header.Values("Idempotency-Key"))
	assert.Equal(t, "7", seen.Header.Get("X-Trace"))
	assert.Equal(t, "application/json", seen.Header.Get("Accept"))
	assert.Equal(t, "omnikernel", seen.Header.Get("User-Agent"))
	assert.Equal(t, strings.TrimPrefix(base, "http://"), seen.Host)

	run(t, Options{}, map[string]any{"method": "PUT", "url": base, "body": "plain é"})
	assert.Equal(t, "plain é", string(body))
	assert.Equal(t, "text/plain; charset=utf-8", seen.Header.Get("Content-Type"))
	assert.Equal(t, "/", seen.RequestURI)

	run(t, Options{}, map[string]any{"method": "PUT", "url": base, "body": "<a/>", "headers": map[string]any{"content-type": "text/xml", "user-agent": "me"}})
	assert.Equal(t, "text/xml", seen.Header.Get("Content-Type"))
	assert.Equal(t, "me", seen.Header.Get("User-Agent"))

	run(t, Options{}, map[string]any{"url": base})
	assert.Equal(t, "GET", seen.Method)
	assert.Empty(t, seen.Header.Get("Content-Type"))
	assert.Empty(t, body)
}

func TestAnswers(t *testing.T) {
	for name, row := range map[string]struct {
		contentType, body string
		want              any
	}{
		"object":        {"application/json", `{"a":[1,2.5,null]}`, map[string]any{"a": []any{int64(1), 2.5, nil}}},
		"with charset":  {"application/json; charset=utf-8", `"x"`, "x"},
		"problem":       {"application/problem+json", `{"title":"no"}`, map[string]any{"title": "no"}},
		"many decimals": {"application/json", "[" + strings.Repeat("0.1,", 100) + "0.1]", repeated(101, 0.1)},
		"empty JSON":    {"application/json", " \n", nil},
		"text":          {"text/html", "<p>é</p>", "<p>é</p>"},
		"empty text":    {"text/plain", "", ""},
		"JSON as text":  {"text/plain", `{"a":1}`, `{"a":1}`},
		"odd type":      {";;", "x", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", row.contentType)
				w.WriteHeader(http.StatusTeapot)
				_, _ = io.WriteString(w, row.body)
			})
			status, headers, body := answerOf(t, run(t, Options{}, map[string]any{"url": base}))
			assert.Equal(t, int64(418), status)
			assert.Equal(t, row.contentType, headers["content-type"])
			assert.Equal(t, row.want, body)
		})
	}
}

func repeated(n int, v any) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = v
	}
	return all
}

func TestAnswerHeadersAreChosen(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "session=1")
		w.Header().Add("X-Internal", "1")
		w.Header().Add("ETag", `"7"`)
		w.Header().Add("Link", "<a>")
		w.Header().Add("Link", "<b>")
		w.Header().Set("Content-Type", "text/plain")
	})
	_, headers, _ := answerOf(t, run(t, Options{}, map[string]any{"url": base}))
	assert.Equal(t, map[string]any{"etag": `"7"`, "link": "<a>, <b>", "content-type": "text/plain"}, headers)
}

// TO-3: a redirect leads where the gate has not looked.
func TestRedirectIsAnAnswer(t *testing.T) {
	var followed atomic.Bool
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/secret" {
			followed.Store(true)
		}
		http.Redirect(w, r, "/secret", http.StatusFound)
	})
	status, headers, _ := answerOf(t, run(t, Options{}, map[string]any{"url": base + "/open"}))
	assert.Equal(t, int64(302), status)
	assert.Equal(t, "/secret", headers["location"])
	assert.False(t, followed.Load())
}

// TO-6: too large, and wrong in shape.
func TestAnswersThatAreNoValue(t *testing.T) {
	for name, row := range map[string]struct {
		contentType, body string
		code              failure.Code
		message           string
	}{
		"broken JSON":  {"application/json", `{"a":`, failure.ToolResultInvalid, "the answer says it is JSON, but: "},
		"big integer":  {"application/json", `{"id":9007199254740993}`, failure.ToolResultInvalid, "the answer says it is JSON, but: id: "},
		"double key":   {"application/json", `{"a":1,"a":2}`, failure.ToolResultInvalid, "the answer says it is JSON, but: a: the key is repeated"},
		"binary":       {"application/octet-stream", "\xff\x00", failure.ToolResultInvalid, "the answer is neither JSON nor UTF-8 text"},
		"large":        {"text/plain", strings.Repeat("a", 1001), failure.ToolResultTooLarge, "the answer is larger than 1000 bytes"},
		"with headers": {"text/plain", strings.Repeat("a", 1000), failure.ToolResultTooLarge, "the result is larger than 1000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", row.contentType)
				_, _ = io.WriteString(w, row.body)
			})
			got := run(t, Options{MaxResultBytes: 1000}, map[string]any{"url": base})
			assert.False(t, got.OK)
			assert.Equal(t, row.code, got.Code)
			assert.True(t, strings.HasPrefix(got.Message, row.message), got.Message)
		})
	}
}

// An answer without end costs its bound and no more.
func TestEndlessAnswer(t *testing.T) {
	ended := make(chan struct{})
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	})
	got := run(t, Options{}, map[string]any{"url": base})
	assert.Equal(t, failure.ToolResultTooLarge, got.Code)
	<-ended
}

// The arguments are checked once more where they are used.
func TestArgumentsRefused(t *testing.T) {
	base := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("nothing may be sent") })
	for name, row := range map[string]struct {
		args    map[string]any
		message string
	}{
		"no url":       {map[string]any{}, "must have the member url"},
		"unknown":      {map[string]any{"url": base, "proxy": "x"}, "must not have the member proxy"},
		"method":       {map[string]any{"url": base, "method": "get"}, "method: must be one of the values that the schema lists"},
		"dot segments": {map[string]any{"url": base + "/a/../b"}, "url must not have . or .. as a path segment"},
		"user":         {map[string]any{"url": "http://u@h/"}, "url must not carry a user or a password"},
		"header type":  {map[string]any{"url": base, "headers": map[string]any{"a": 1}}, "headers.a: must be of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, Options{}, row.args)
			assert.Equal(t, tools.Fail(failure.ToolArgsInvalid, row.message), got)
		})
	}
}

func TestProxy(t *testing.T) {
	var asked atomic.Value
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.RequestURI)
		_, _ = io.WriteString(w, "by proxy")
	})
	parsed, err := url.Parse(proxy)
	require.NoError(t, err)
	_, _, body := answerOf(t, run(t, Options{Proxy: parsed}, map[string]any{"url": "http://service.test/x"}))
	assert.Equal(t, "by proxy", body)
	assert.Equal(t, "http://service.test/x", asked.Load())

	// What the environment says (see TestMain) is not the node's configuration.
	// Written as 0.0.0.0 this machine is no exception to the environment's rules.
	direct := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "direct") })
	_, _, body = answerOf(t, run(t, Options{}, map[string]any{"url": strings.Replace(direct, "127.0.0.1", "0.0.0.0", 1)}))
	assert.Equal(t, "direct", body)
}
