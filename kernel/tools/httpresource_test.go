package tools

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func httpArgs(t require.TestingT, method, url any) value.Raw {
	args, problem := value.FromGo(map[string]any{"method": method, "url": url})
	require.Nil(t, problem)
	return args
}

// PE-1: one spelling of a target, one resource.
func TestHTTPResource(t *testing.T) {
	for _, row := range []struct{ method, url, want string }{
		{"GET", "https://api.example.com/v1/items", "http.request/GET/api.example.com/v1/items"},
		{"POST", "http://api.example.com/v1/items", "http.request/POST/api.example.com/v1/items"},
		{"GET", "https://API.Example.COM/v1/Items", "http.request/GET/api.example.com/v1/Items"},
		{"GET", "https://api.example.com", "http.request/GET/api.example.com"},
		{"GET", "https://api.example.com/", "http.request/GET/api.example.com"},
		{"GET", "https://api.example.com?x=1", "http.request/GET/api.example.com"},
		{"GET", "https://api.example.com/v1/items/", "http.request/GET/api.example.com/v1/items"},
		{"GET", "https://api.example.com/v1?x=/../y&z=%2f", "http.request/GET/api.example.com/v1"},
		{"GET", "https://api.example.com:8443/v1", "http.request/GET/api.example.com:8443/v1"},
		{"GET", "https://api.example.com:443/v1", "http.request/GET/api.example.com/v1"},
		{"GET", "http://api.example.com:80/v1", "http.request/GET/api.example.com/v1"},
		{"GET", "http://api.example.com:443/v1", "http.request/GET/api.example.com:443/v1"},
		{"GET", "http://127.0.0.1:7700/a", "http.request/GET/127.0.0.1:7700/a"},
		{"GET", "http://1node/a", "http.request/GET/1node/a"},
		{"GET", "http://h/%41%7a", "http.request/GET/h/Az"},
		{"GET", "http://h/%c3%A9/x", "http.request/GET/h/é/x"},
		{"GET", "http://h/a%20b", "http.request/GET/h/a b"},
		{"GET", "http://h/%2A", "http.request/GET/h/*"},
		{"GET", "http://h/%3Fq%23", "http.request/GET/h/?q#"},
		{"GET", "http://h/a.b/..c/d..", "http.request/GET/h/a.b/..c/d.."},
		{"GET", "http://h/x@y:z", "http.request/GET/h/x@y:z"},
		{"OPTIONS", "http://_svc.h/x", "http.request/OPTIONS/_svc.h/x"},
	} {
		got, refused := HTTPResource(httpArgs(t, row.method, row.url))
		assert.Nil(t, refused, row.url)
		assert.Equal(t, row.want, got, row.url)
	}
}

// TO-6: what the gate cannot judge for certain it does not let through.
func TestHTTPResourceRefuses(t *testing.T) {
	for _, row := range []struct{ url, rule string }{
		{"", "must begin with http:// or https://"},
		{"ftp://h/x", "must begin with http:// or https://"},
		{"HTTPS://h/x", "must begin with http:// or https://"},
		{"//h/x", "must begin with http:// or https://"},
		{"http:/h/x", "must begin with http:// or https://"},
		{"http:///x", "must have a host"},
		{"http://?x", "must have a host"},
		{"http://:80/x", "must have a host"},
		{"http://user@h/x", "must not carry a user or a password"},
		{"http://a.com@evil.org/", "must not carry a user or a password"},
		{"http://u:p@h/x", "must not carry a user or a password"},
		{"http://[::1]/x", "must name its host by a name or an IPv4 address"},
		{"http://h./x", "must have a host of letters, digits and - between dots"},
		{"http://a..b/x", "must have a host of letters, digits and - between dots"},
		{"http://-a/x", "must have a host of letters, digits and - between dots"},
		{"http://a-/x", "must have a host of letters, digits and - between dots"},
		{"http://a%2eb/x", "must have a host of letters, digits and - between dots"},
		{"http://a*b/x", "must have a host of letters, digits and - between dots"},
		{"http://" + strings.Repeat("a", 64) + "/x", "must have a host of letters, digits and - between dots"},
		{"http://" + strings.Repeat("a.", 127) + "/x", "must have a host of at most 253 bytes"},
		{"http://127.1/x", "must write an IPv4 address as four decimal numbers"},
		{"http://2130706433/x", "must write an IPv4 address as four decimal numbers"},
		{"http://0x7f000001/x", "must write an IPv4 address as four decimal numbers"},
		{"http://0177.0.0.1/x", "must write an IPv4 address as four decimal numbers"},
		{"http://127.0.0.0x1/x", "must write an IPv4 address as four decimal numbers"},
		{"http://127.0.0.256/x", "must write an IPv4 address as four decimal numbers"},
		{"http://1.2.3.4.5/x", "must write an IPv4 address as four decimal numbers"},
		{"http://h:/x", "must have a port from 1 to 65535, without leading zeros"},
		{"http://h:0/x", "must have a port from 1 to 65535, without leading zeros"},
		{"http://h:080/x", "must have a port from 1 to 65535, without leading zeros"},
		{"http://h:65536/x", "must have a port from 1 to 65535, without leading zeros"},
		{"http://h:+80/x", "must have a port from 1 to 65535, without leading zeros"},
		{"http://h:80:80/x", "must have a port from 1 to 65535, without leading zeros"},
		{"http://h/a//b", "must not have an empty path segment"},
		{"http://h//", "must not have an empty path segment"},
		{"http://h//evil.org/", "must not have an empty path segment"},
		{"http://h/a/../b", "must not have . or .. as a path segment"},
		{"http://h/.", "must not have . or .. as a path segment"},
		{"http://h/../", "must not have . or .. as a path segment"},
		{"http://h/%2e%2E/b", encodedStructure},
		{"http://h/a%2fb", encodedStructure},
		{"http://h/a%2Fb", encodedStructure},
		{"http://h/a%5cb", encodedStructure},
		{"http://h/%252e", encodedStructure},
		{"http://h/%00", encodedStructure},
		{"http://h/%0d%0aX:y", encodedStructure},
		{"http://h/%7f", encodedStructure},
		{"http://h/%", "must have two hexadecimal digits after each %"},
		{"http://h/%4", "must have two hexadecimal digits after each %"},
		{"http://h/%4g", "must have two hexadecimal digits after each %"},
		{"http://h/%ff", "must encode valid UTF-8 in its path"},
		{"http://h/..;/admin", unencoded},
		{"http://h/a\"b", unencoded},
		{"http://h/%41<", unencoded},
		{"http://h/a\\b", "must not contain a backslash"},
		{"http://h\\@evil.org/", "must not contain a backslash"},
		{"http://h/a?b\\c", "must not contain a backslash"},
		{"http://h/a#b", "must not have a fragment"},
		{"http://h#@evil.org/", "must not have a fragment"},
		{"http://h/a?b#c", "must not have a fragment"},
		{"http://h/a b", "must be visible ASCII; encode anything else with %"},
		{" http://h/", "must be visible ASCII; encode anything else with %"},
		{"http://h/\r\n", "must be visible ASCII; encode anything else with %"},
		{"http://h/\t", "must be visible ASCII; encode anything else with %"},
		{"http://h/é", "must be visible ASCII; encode anything else with %"},
		{"http://ｅvil.org/", "must be visible ASCII; encode anything else with %"},
		{"http://h/" + strings.Repeat("a", 1100), "must give a resource of at most 1024 bytes"},
		{"http://h" + strings.Repeat("/a", 62), "must give a resource of at most 64 segments"},
		{"http://h/?" + strings.Repeat("a", 8200), "must be at most 8192 bytes long"},
	} {
		got, refused := HTTPResource(httpArgs(t, "GET", row.url))
		assert.Empty(t, got, row.url)
		assert.Equal(t, &failure.Failure{Code: failure.ToolArgsInvalid, Message: "url " + row.rule}, refused, row.url)
	}
	_, refused := HTTPResource(httpArgs(t, "GET", "http://h"+strings.Repeat("/a", 61)))
	assert.Nil(t, refused)
}

const encodedStructure = "must not encode a slash, a backslash, a dot, a percent sign or a control character in its path"

func TestHTTPResourceMethodDefault(t *testing.T) {
	args, problem := value.FromGo(map[string]any{"url": "http://h/x"})
	require.Nil(t, problem)
	got, refused := HTTPResource(args)
	assert.Nil(t, refused)
	assert.Equal(t, "http.request/GET/h/x", got)
}

func TestHTTPResourceRefusesShapes(t *testing.T) {
	for _, row := range []struct {
		args    any
		message string
	}{
		{map[string]any{"url": "http://h/", "method": nil}, "method must be a string"},
		{map[string]any{"url": "http://h/", "method": "get"}, methodRule},
		{map[string]any{"url": "http://h/", "method": "CONNECT"}, methodRule},
		{map[string]any{"url": "http://h/", "method": "TRACE"}, methodRule},
		{map[string]any{"url": "http://h/", "method": "GET/x"}, methodRule},
		{map[string]any{"url": "http://h/", "method": ""}, methodRule},
		{map[string]any{"method": "GET"}, "url is missing"},
		{map[string]any{"method": "GET", "url": []any{"http://h/"}}, "url must be a string"},
		{[]any{"GET", "http://h/"}, "url is missing"},
		{"http://h/", "url is missing"},
		{nil, "url is missing"},
	} {
		args, problem := value.FromGo(row.args)
		require.Nil(t, problem)
		_, refused := HTTPResource(args)
		assert.Equal(t, &failure.Failure{Code: failure.ToolArgsInvalid, Message: row.message}, refused, row.args)
	}
}

const methodRule = "method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// urlParts makes URLs that lie around the border of what is accepted.
var urlParts = rapid.Custom(func(t *rapid.T) string {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	b := pick("scheme", "http://", "https://", "http://", "HTTP://", "http:/")
	b += pick("user", "", "", "", "", "", "u@")
	b += pick("host", "h", "API.example.com", "127.0.0.1", "127.1", "h.", "1node", "_a.b-c", "[::1]", "0x1", "xn--a")
	b += pick("port", "", "", "", ":80", ":443", ":8080", ":", ":0080")
	for range rapid.IntRange(0, 5).Draw(t, "segments") {
		b += "/"
		for range rapid.IntRange(0, 3).Draw(t, "pieces") {
			b += pick("piece", "a", "B", ".", "..", "%41", "%2e", "%2F", "%c3%a9", "%C3", "%", ";", "@", ":", "*", "%2a", "%20", "%3f", "+", "'", "é", "{", "%00")
		}
	}
	b += pick("slash", "", "", "", "/")
	return b + pick("rest", "", "", "", "?", "?a=/b", "?%2f..", "?a#b", "#", "#x/y", "\\")
})

// What the gate judges is what is called: for every accepted URL Go's own
// parser, and the request that its client would send, name the same host and
// the same path (PE-1, TO-3).
func TestHTTPResourceIsWhatIsCalled(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		if checkCalled(t, urlParts.Draw(t, "url")) {
			accepted++
		}
	})
	assert.Positive(t, accepted, "the generator must reach what is accepted")
}

func FuzzHTTPResourceIsWhatIsCalled(f *testing.F) {
	f.Add("https://api.example.com:443/v1/items?x=1")
	f.Add("http://user@h:80/%2e%2e/..;/a//b#c")
	f.Add("http://127.0.0.1:8080/%c3%a9/%41")
	f.Add("http://0x7f.1\\h/%")
	f.Fuzz(func(t *testing.T, raw string) { checkCalled(t, raw) })
}

// checkCalled reports whether the URL is accepted.
func checkCalled(t require.TestingT, raw string) bool {
	args, problem := value.FromGo(map[string]any{"method": "GET", "url": raw})
	if problem != nil {
		return false
	}
	resource, refused := HTTPResource(args)
	if refused != nil {
		require.Empty(t, resource)
		require.Equal(t, failure.ToolArgsInvalid, refused.Code)
		require.NotEmpty(t, refused.Message)
		return false
	}
	request, err := http.NewRequest(http.MethodGet, raw, nil)
	require.NoError(t, err, raw)
	parsed := request.URL
	require.Nil(t, parsed.User, raw)
	require.Empty(t, parsed.Fragment, raw)
	require.Empty(t, parsed.Opaque, raw)

	host := strings.ToLower(parsed.Hostname())
	if port := parsed.Port(); port != "" && port != map[string]string{"http": "80", "https": "443"}[parsed.Scheme] {
		host += ":" + port
	}
	require.Equal(t, strings.ToLower(request.Host), strings.ToLower(parsed.Host), raw)
	path := strings.TrimSuffix(strings.TrimPrefix(parsed.Path, "/"), "/")
	want := "http.request/GET/" + host
	if path != "" {
		want += "/" + path
	}
	require.Equal(t, want, resource, raw)

	// No resolver may take the host for another address than its text says.
	if address, err := netip.ParseAddr(parsed.Hostname()); err == nil {
		require.Equal(t, address.String(), parsed.Hostname(), raw)
	}
	// What goes over the wire decodes to the same segments, one by one.
	sent, _, _ := strings.Cut(parsed.RequestURI(), "?")
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(sent, "/"), "/"), "/")
	for i, segment := range segments {
		decoded, err := url.PathUnescape(segment)
		require.NoError(t, err, raw)
		require.NotContains(t, []string{".", ".."}, decoded, raw)
		require.NotContains(t, decoded, "/", raw)
		segments[i] = decoded
	}
	require.Equal(t, path, strings.Join(segments, "/"), raw)
	return true
}
