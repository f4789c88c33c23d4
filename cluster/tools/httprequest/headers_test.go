package httprequest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// TO-3: no header makes the server act on anything but what was judged.
func TestHeadersRefused(t *testing.T) {
	base := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("nothing may be sent") })
	for _, row := range []struct {
		headers map[string]any
		message string
	}{
		{map[string]any{"Host": "evil.org"}, "headers.Host is not the program's to set"},
		{map[string]any{"hOST": "evil.org"}, "headers.hOST is not the program's to set"},
		{map[string]any{"idempotency-key": "mine"}, "headers.idempotency-key is not the program's to set"},
		{map[string]any{"Transfer-Encoding": "chunked"}, "headers.Transfer-Encoding is not the program's to set"},
		{map[string]any{"content-length": "0"}, "headers.content-length is not the program's to set"},
		{map[string]any{"X-HTTP-Method-Override": "DELETE"}, "headers.X-HTTP-Method-Override is not the program's to set"},
		{map[string]any{"x-original-url": "/admin"}, "headers.x-original-url is not the program's to set"},
		{map[string]any{"a b": "1"}, `headers["a b"] is not a header name`},
		{map[string]any{"": "1"}, `headers[""] is not a header name`},
		{map[string]any{"a\r\nX": "1"}, `headers["a\r\nX"] is not a header name`},
		{map[string]any{"a": "1\r\nX: 2"}, "headers.a must be visible ASCII and spaces"},
		{map[string]any{"a": "é"}, "headers.a must be visible ASCII and spaces"},
		{map[string]any{"A": "1", "a": "2"}, "headers.a is there twice"},
	} {
		got := run(t, Options{}, map[string]any{"url": base, "headers": row.headers})
		assert.Equal(t, tools.Fail(failure.ToolArgsInvalid, row.message), got)
	}
}

// vault knows one secret for one receiver.
func vault(origin, plain string) func(string, string) (string, bool) {
	return func(name, at string) (string, bool) {
		return plain, name == "TOKEN" && at == origin
	}
}

// TO-7: a secret is put in on the node that sends, for its receiver only, and
// is nowhere in what comes back.
func TestSecrets(t *testing.T) {
	var got http.Header
	const plain = `s3"cr\et`
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		token := r.Header.Get("Authorization")
		w.Header().Set("Location", "/?token="+token)
		if r.URL.Path == "/json" {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"you sent": []any{token, map[string]any{token: 1}}})
			return
		}
		_, _ = io.WriteString(w, "you sent "+token)
	})
	options := Options{Secrets: vault(base, plain)}
	for _, path := range []string{"/json", "/text"} {
		result := run(t, options, map[string]any{"url": base + path, "headers": map[string]any{
			"authorization": "Bearer secret:TOKEN", "x-key": "secret:TOKEN", "x-plain": "secret: TOKEN", "x-no": "notsecret:TOKEN"}})
		_, headers, body := answerOf(t, result)
		assert.Equal(t, "Bearer "+plain, got.Get("Authorization"))
		assert.Equal(t, plain, got.Get("X-Key"))
		assert.Equal(t, "secret: TOKEN", got.Get("X-Plain"))
		assert.Equal(t, "notsecret:TOKEN", got.Get("X-No"))
		assert.Equal(t, "/?token=Bearer secret:TOKEN", headers["location"])
		if path == "/json" {
			want := map[string]any{"you sent": []any{"Bearer secret:TOKEN", map[string]any{"Bearer secret:TOKEN": int64(1)}}}
			assert.Equal(t, want, body)
		} else {
			assert.Equal(t, "you sent Bearer secret:TOKEN", body)
		}
		assert.NotContains(t, string(result.Value), "s3")
	}
}

func TestSecretsThatAreNotGiven(t *testing.T) {
	base := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("nothing may be sent") })
	const unknown = "headers.a names a secret that this node does not have for this host"
	for name, row := range map[string]struct {
		secrets func(string, string) (string, bool)
		value   string
		message string
	}{
		"no vault":       {nil, "secret:TOKEN", unknown},
		"other name":     {vault(base, "x"), "secret:OTHER", unknown},
		"other receiver": {vault("https://api.example.com", "x"), "secret:TOKEN", unknown},
		"no header text": {vault(base, "a\nb"), "secret:TOKEN", "headers.a names a secret that cannot stand in a header"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, Options{Secrets: row.secrets}, map[string]any{"url": base, "headers": map[string]any{"a": row.value}})
			assert.Equal(t, tools.Fail(failure.ToolArgsInvalid, row.message), got)
		})
	}
}

// TO-7: failures hold no secret either.
func TestSecretsAreNotInFailures(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		token := r.Header.Get("A")
		_, _ = io.WriteString(w, `{"`+token+`":1,"`+token+`":2}`)
	})
	got := run(t, Options{Secrets: vault(base, "hunter2")}, map[string]any{"url": base, "headers": map[string]any{"a": "secret:TOKEN"}})
	assert.Equal(t, failure.ToolResultInvalid, got.Code)
	assert.False(t, strings.Contains(got.Message, "hunter2"), got.Message)
	assert.Contains(t, got.Message, "secret:TOKEN")
}
