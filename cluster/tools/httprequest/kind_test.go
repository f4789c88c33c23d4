package httprequest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// everyArgument is an input schema that has what the manifests of these tests name.
const everyArgument = `{"type":"object","properties":{"id":{"type":"string"},"n":{"type":"integer"},"q":{"type":"string"},
	"yes":{"type":"boolean"},"all":{"type":"object"}},"required":["id","all"]}`

// manifest is one of kind http with a config, which may reach this machine.
func manifest(t *testing.T, config map[string]any) *kerneltools.Manifest {
	t.Helper()
	if _, given := config["private"]; !given {
		config["private"] = true
	}
	c, problem := value.FromGo(config)
	require.Nil(t, problem)
	input, problem := value.FromJSON([]byte(everyArgument), 1<<12)
	require.Nil(t, problem)
	return &kerneltools.Manifest{Name: "crm.get", Adapter: "http", Config: c, Input: input, Secrets: []string{"KEY"}}
}

// runKind registers a manifest, and makes one call through the registry.
func runKind(t *testing.T, options Options, m *kerneltools.Manifest, args map[string]any) tools.Result {
	t.Helper()
	kind := NewKind(options)
	defer kind.Close()
	registry, err := tools.New(tools.Options{Kinds: []tools.Kind{kind}})
	require.NoError(t, err)
	refused := registry.Check(m)
	require.Nil(t, refused, "%+v", refused)
	if args["id"] == nil {
		args["id"] = "x"
	}
	if args["all"] == nil {
		args["all"] = map[string]any{}
	}
	raw, problem := value.FromGo(args)
	require.Nil(t, problem)
	return registry.Run(t.Context(), tools.Request{Tool: m.Name, IdempotencyKey: "agent/7/1", Args: raw, Revision: 1, Manifest: m})
}

// TO-9: arguments stand in the address as what they are, and as nothing else.
func TestTemplatesAreFilled(t *testing.T) {
	var seen *http.Request
	base := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen = r })
	config := map[string]any{"url": base + "/v1/{id}/of-{n}?lang=en&q={q}&yes={yes}", "headers": map[string]any{"X-Fixed": "1"}}
	input := map[string]any{"type": "object", "required": []any{"id", "n"}, "properties": map[string]any{
		"id": map[string]any{"type": "string"}, "n": map[string]any{"type": "integer"}, "q": map[string]any{"type": "string"}, "yes": map[string]any{"type": "boolean"},
	}}
	m := manifest(t, config)
	m.Input, _ = value.FromGo(input)
	require.True(t, runKind(t, Options{}, m, map[string]any{"id": "a b&c=ä?#", "n": -7, "q": "x&y=1 #/", "yes": true}).OK)
	assert.Equal(t, "/v1/a%20b&c=%C3%A4%3F%23/of--7?lang=en&q=x%26y%3D1+%23%2F&yes=true", seen.RequestURI)
	assert.Equal(t, []string{"agent/7/1"}, seen.Header.Values("Idempotency-Key"))
	assert.Equal(t, "1", seen.Header.Get("X-Fixed"))
	require.True(t, runKind(t, Options{}, m, map[string]any{"n": 0}).OK)
	assert.Equal(t, "/v1/x/of-0?lang=en", seen.RequestURI, "what is not there leaves its member out")
	for _, id := range []string{"..", ".", "a/b", `a\b`, "a%2fb", "a;b", "a\x00b"} {
		seen = nil
		result := runKind(t, Options{}, m, map[string]any{"id": id, "n": 1})
		assert.Equal(t, failure.ToolArgsInvalid, result.Code, "%q", id)
		assert.Nil(t, seen, "%q", id)
	}
}

// TO-9: what is sent is what the manifest says: the arguments that the address does
// not take, or one of them.
func TestBodies(t *testing.T) {
	var body, contentType string
	base := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		all, _ := io.ReadAll(r.Body)
		body, contentType = string(all), r.Header.Get("Content-Type")
	})
	args := func() map[string]any { return map[string]any{"id": "7", "n": 1, "all": map[string]any{"a": 1}} }
	require.True(t, runKind(t, Options{}, manifest(t, map[string]any{"method": "POST", "url": base + "/{id}"}), args()).OK)
	assert.JSONEq(t, `{"n":1,"all":{"a":1}}`, body)
	assert.Equal(t, "application/json", contentType)
	require.True(t, runKind(t, Options{}, manifest(t, map[string]any{"method": "PUT", "url": base, "body": "{all}"}), args()).OK)
	assert.JSONEq(t, `{"a":1}`, body)
	require.True(t, runKind(t, Options{}, manifest(t, map[string]any{"method": "PATCH", "url": base, "body": "{id}"}), args()).OK)
	assert.Equal(t, "7", body)
	require.True(t, runKind(t, Options{}, manifest(t, map[string]any{"method": "POST", "url": base, "body": "none"}), args()).OK)
	assert.Empty(t, body)
}

// TO-6: the result is the body of an answer that is one; what the status says of any
// other is what the call came to.
func TestStatuses(t *testing.T) {
	status := 0
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if status != http.StatusNoContent {
			_, _ = io.WriteString(w, `{"a":[1]}`)
		}
	})
	for _, row := range []struct {
		status     int
		method     string
		idempotent bool
		code       failure.Code
		passing    bool
	}{
		{200, "GET", false, "", false},
		{201, "POST", false, "", false},
		{204, "DELETE", false, "", false},
		{404, "GET", false, failure.ToolFailed, false},
		{429, "POST", false, failure.ToolUnreachable, false},
		{500, "POST", false, failure.ToolFailed, true},
		{502, "POST", false, failure.OutcomeUnknown, false},
		{502, "POST", true, failure.ToolFailed, true},
		{503, "POST", false, failure.OutcomeUnknown, false},
		{503, "POST", true, failure.ToolFailed, true},
		{504, "GET", false, failure.ToolFailed, true},
	} {
		status = row.status
		m := manifest(t, map[string]any{"url": base, "method": row.method})
		m.Idempotent = row.idempotent
		kind := NewKind(Options{})
		adapter, err := kind.Make(m)
		require.NoError(t, err)
		result := adapter.Call(t.Context(), tools.Request{Args: value.EmptyMap})
		kind.Close()
		assert.Equal(t, row.code, result.Code, "%d", row.status)
		assert.Equal(t, row.passing, result.Passing, "%d", row.status)
		if row.status == 200 {
			assert.Equal(t, map[string]any{"a": []any{int64(1)}}, result.Value.ToGo())
		}
		if row.status == 204 {
			assert.Nil(t, result.Value.ToGo())
		}
	}
}

// TO-11: an address that is not public is not dialled, unless the manifest says so,
// whatever led there.
func TestPrivateAddresses(t *testing.T) {
	var calls atomic.Int32
	inside := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	host := strings.TrimPrefix(inside, "http://")
	for _, to := range []string{inside, "http://localhost:" + host[strings.LastIndex(host, ":")+1:], "http://[::1]:80", "http://169.254.169.254", "http://10.0.0.1:81"} {
		result := runKind(t, Options{}, manifest(t, map[string]any{"url": to, "private": false}), map[string]any{})
		assert.Equal(t, failure.ToolFailed, result.Code, to)
		assert.Equal(t, "the address of the host is private, which the manifest does not allow", result.Message, to)
	}
	assert.Zero(t, calls.Load())
	for address, public := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "127.0.0.1": false, "0.0.0.0": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "::": false, "::1": false, "fe80::1": false,
		"fc00::1": false, "::ffff:127.0.0.1": false, "::ffff:100.64.0.1": false, "::ffff:8.8.8.8": true, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "198.18.0.1": false,
	} {
		assert.Equal(t, public, isPublic(netip.MustParseAddr(address)), address)
	}
}

// TO-11: redirects are followed as often, and to the hosts, that the manifest says;
// secrets do not go along to another.
func TestRedirects(t *testing.T) {
	var secret, plain string
	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		secret, plain = r.Header.Get("X-Key"), r.Header.Get("X-Plain")
	})
	hops := 1
	var base string
	base = serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/away":
			http.Redirect(w, r, elsewhere, http.StatusFound)
		case len(r.URL.Path) <= hops:
			http.Redirect(w, r, base+r.URL.Path+"x", http.StatusFound)
		default:
			secret = r.Header.Get("X-Key")
		}
	})
	options := Options{Secrets: func(name, origin string) (string, bool) { return "hush", name == "KEY" && origin == base }}
	config := func(path string, more map[string]any) *kerneltools.Manifest {
		c := map[string]any{"url": base + path, "headers": map[string]any{"X-Key": "secret:KEY", "X-Plain": "1"}}
		for name, v := range more {
			c[name] = v
		}
		return manifest(t, c)
	}
	result := runKind(t, options, config("/", nil), map[string]any{})
	assert.Equal(t, "the service redirects more than 0 times, which the manifest does not allow", result.Message)
	require.True(t, runKind(t, options, config("/", map[string]any{"redirects": 1}), map[string]any{}).OK)
	assert.Equal(t, "hush", secret, "to the same origin")
	hops = 3
	assert.Equal(t, failure.ToolFailed, runKind(t, options, config("/", map[string]any{"redirects": 2}), map[string]any{}).Code)

	result = runKind(t, options, config("/away", map[string]any{"redirects": 5}), map[string]any{})
	assert.Equal(t, "the service redirects to a host that the manifest does not list", result.Message)
	listed := map[string]any{"redirects": 5, "hosts": []any{strings.TrimPrefix(elsewhere, "http://")}}
	require.True(t, runKind(t, options, config("/away", listed), map[string]any{}).OK)
	assert.Equal(t, []string{"", "1"}, []string{secret, plain})
}

// TO-7: a secret that this node has not is a call that was not made; one that it has
// does not come back.
func TestSecretsOfManifests(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"told": r.Header.Get("Authorization")})
	})
	m := manifest(t, map[string]any{"url": base, "headers": map[string]any{"Authorization": "Bearer secret:KEY"}})
	result := runKind(t, Options{}, m, map[string]any{})
	assert.Equal(t, failure.ToolUnreachable, result.Code)
	assert.Equal(t, "this node does not have the secret KEY for "+base, result.Message)
	result = runKind(t, Options{Secrets: func(string, string) (string, bool) { return "hush", true }}, m, map[string]any{})
	assert.Equal(t, map[string]any{"told": "Bearer secret:KEY"}, result.Value.ToGo())
}

// TO-6: an answer that is too large is not read to its end.
func TestLargeAnswers(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := strings.Repeat("x", 1<<16)
		for range 1 << 10 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	result := runKind(t, Options{MaxResultBytes: 1000}, manifest(t, map[string]any{"url": base}), map[string]any{})
	assert.Equal(t, failure.ToolResultTooLarge, result.Code)
}

// TO-9: what is wrong with a config is told by its field.
func TestConfigsThatAreRefused(t *testing.T) {
	kind := NewKind(Options{})
	defer kind.Close()
	for field, rows := range map[string][]map[string]any{
		"config.url": {
			{}, {"url": "ftp://h/"}, {"url": "https://"}, {"url": "https://{id}.example.com/"}, {"url": "https://h/{x}"}, {"url": "https://h/{id"},
			{"url": "https://h/}"}, {"url": "https://u@h/"}, {"url": "https://H/"}, {"url": "https://h/#f"}, {"url": "https://h/{q}"}, {"url": "https://h/{all}"},
			{"url": "https://h/?{q}=1"}, {"url": 7},
		},
		"config.method":       {{"url": "https://h/", "method": "TRACE"}, {"url": "https://h/", "method": "get"}},
		"config.redirects":    {{"url": "https://h/", "redirects": 11}, {"url": "https://h/", "redirects": -1}, {"url": "https://h/", "redirects": "1"}},
		"config.private":      {{"url": "https://h/", "private": "yes"}},
		"config.hosts":        {{"url": "https://h/", "hosts": "h"}},
		"config.hosts[0]":     {{"url": "https://h/", "hosts": []any{"*.h"}}, {"url": "https://h/", "hosts": []any{1}}},
		"config.headers":      {{"url": "https://h/", "headers": []any{}}},
		"config.headers.Host": {{"url": "https://h/", "headers": map[string]any{"Host": "x"}}},
		"config.headers.A":    {{"url": "https://h/", "headers": map[string]any{"A": "x\ny"}}, {"url": "https://h/", "headers": map[string]any{"A": "secret:OTHER"}}},
		"config.body":         {{"url": "https://h/", "method": "POST", "body": "{x}"}, {"url": "https://h/", "body": "rest"}, {"url": "https://h/", "body": "some"}},
		"config.timeout":      {{"url": "https://h/", "timeout": 5}},
	} {
		for _, config := range rows {
			m := manifest(t, config)
			refused := kind.Check(m)
			require.NotNil(t, refused, "%v", config)
			assert.Equal(t, field, refused.Field, "%v: %s", config, refused.Rule)
			_, err := kind.Make(m)
			assert.ErrorIs(t, err, errConfig)
		}
	}
}
