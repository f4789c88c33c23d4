package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service answers with one status and body, and remembers what it was asked last.
type service struct {
	*httptest.Server
	status  int
	headers map[string]string
	body    string

	request *http.Request
	asked   map[string]any
	calls   int
}

func serve(t *testing.T, body string) *service {
	t.Helper()
	s := &service{status: http.StatusOK, body: body, headers: map[string]string{"Content-Type": "application/json"}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls++
		s.request, s.asked = r, nil
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&s.asked))
		for name, text := range s.headers {
			w.Header().Set(name, text)
		}
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.body)
	}))
	t.Cleanup(s.Close)
	return s
}

const plain = `{"id":"x","object":"chat.completion","created":1760000000,"model":"small-2","choices":[{"index":0,"logprobs":null,
	"message":{"role":"assistant","content":"Hello.","reasoning_content":"hm"},"finish_reason":"stop"}],
	"usage":{"prompt_tokens":1200,"completion_tokens":3,"total_tokens":1203,"prompt_tokens_details":{"cached_tokens":0}}}`

func manifest(t *testing.T, config map[string]any) *kerneltools.Manifest {
	t.Helper()
	all := map[string]any{"url": "https://h/v1", "model": "small", "max_tokens": 500, "private": true, "prices": map[string]any{"input": 150_000, "output": 600_000}}
	for name, member := range config {
		if all[name] = member; member == nil {
			delete(all, name)
		}
	}
	raw, problem := value.FromGo(all)
	require.Nil(t, problem)
	return &kerneltools.Manifest{
		Name: "model.chat", Adapter: "llm", Config: raw, Secrets: []string{"KEY"},
		Cost: kerneltools.Cost{Tokens: 5000, USDMicros: 1000}, Retry: kerneltools.Retry{MaxAttempts: 2, BackoffMillis: 1},
	}
}

// run makes one call, by the way that every call takes.
func run(t *testing.T, m *kerneltools.Manifest, args map[string]any) tools.Result {
	t.Helper()
	http := httprequest.NewKind(httprequest.Options{Secrets: func(name, origin string) (string, bool) { return "hush", name == "KEY" }})
	defer http.Close()
	registry, err := tools.New(tools.Options{Kinds: []tools.Kind{NewKind(http)}})
	require.NoError(t, err)
	refused := registry.Check(m)
	require.Nil(t, refused, "%+v", refused)
	raw, problem := value.FromGo(args)
	require.Nil(t, problem)
	return registry.Run(t.Context(), tools.Request{Tool: m.Name, IdempotencyKey: "agent/7/1", Args: raw, Revision: 1, Manifest: m})
}

func hello() map[string]any {
	return map[string]any{"messages": []any{map[string]any{"role": "user", "content": "Hi"}}}
}

// TO-16: a call is one request, with what the manifest says and the call brings; what
// it came to is told at the manifest's prices.
func TestConversation(t *testing.T) {
	s := serve(t, plain)
	result := run(t, manifest(t, map[string]any{"url": s.URL + "/v1/?api-version=3", "headers": map[string]any{"Authorization": "Bearer secret:KEY"}}), hello())
	require.True(t, result.OK, result.Message)
	assert.Equal(t, map[string]any{
		"message":       map[string]any{"role": "assistant", "content": "Hello."},
		"finish_reason": "stop", "model": "small-2",
		"usage": map[string]any{"input_tokens": int64(1200), "output_tokens": int64(3)},
	}, result.Value.ToGo())
	assert.Equal(t, kerneltools.Usage{Metered: true, Tokens: 1203, USDMicros: 182}, result.Usage, "181.8, rounded up")
	assert.Equal(t, "/v1/chat/completions?api-version=3", s.request.RequestURI)
	assert.Equal(t, "Bearer hush", s.request.Header.Get("Authorization"))
	assert.Equal(t, []string{"agent/7/1"}, s.request.Header.Values("Idempotency-Key"))
	assert.Equal(t, map[string]any{
		"model": "small", "max_tokens": 500.0, "messages": []any{map[string]any{"role": "user", "content": "Hi"}},
	}, s.asked)

	args := hello()
	args["max_tokens"], args["temperature"], args["tool_choice"] = 20, 0.5, "look_up"
	args["response_format"] = map[string]any{"type": "json_object"}
	args["tools"] = []any{map[string]any{"name": "look_up", "description": "Looks.", "parameters": map[string]any{"type": "object"}}}
	require.True(t, run(t, manifest(t, map[string]any{"url": s.URL, "max_tokens_as": "max_completion_tokens", "temperature": 1}), args).OK)
	function := map[string]any{"name": "look_up", "description": "Looks.", "parameters": map[string]any{"type": "object"}}
	assert.Equal(t, map[string]any{
		"model": "small", "max_completion_tokens": 20.0, "temperature": 0.5, "messages": []any{map[string]any{"role": "user", "content": "Hi"}},
		"tools":       []any{map[string]any{"type": "function", "function": function}},
		"tool_choice": map[string]any{"type": "function", "function": map[string]any{"name": "look_up"}}, "response_format": map[string]any{"type": "json_object"},
	}, s.asked)
	assert.Equal(t, "/chat/completions", s.request.RequestURI)
}

// TO-16: what a model asks for comes parsed, and is handed back as it came.
func TestToolCallsGoThereAndBack(t *testing.T) {
	s := serve(t, `{"model":"m","choices":[{"message":{"role":"assistant","content":null,"tool_calls":[
		{"id":"c1","type":"function","function":{"name":"look_up","arguments":"{\"order\":17,\"deep\":{\"a\":[1.5,null]}}"}},
		{"id":"c2","type":"function","function":{"name":"look_up","arguments":"{\"order\":"}},
		{"id":"c3","type":"function","function":{"name":"now","arguments":""}}]},"finish_reason":"tool_calls"}]}`)
	m := manifest(t, map[string]any{"url": s.URL})
	result := run(t, m, hello())
	require.True(t, result.OK, result.Message)
	message := result.Value.ToGo().(map[string]any)["message"].(map[string]any)
	assert.Equal(t, []any{
		map[string]any{"id": "c1", "name": "look_up", "arguments": map[string]any{"order": int64(17), "deep": map[string]any{"a": []any{1.5, nil}}}},
		map[string]any{"id": "c2", "name": "look_up", "arguments": nil, "raw": `{"order":`},
		map[string]any{"id": "c3", "name": "now", "arguments": map[string]any{}},
	}, message["tool_calls"])
	assert.False(t, result.Usage.Metered, "it says nothing of what it came to")

	args := hello()
	args["messages"] = append(args["messages"].([]any), message,
		map[string]any{"role": "tool", "tool_call_id": "c1", "content": map[string]any{"price": 3}},
		map[string]any{"role": "tool", "tool_call_id": "c2", "content": "no JSON"})
	require.True(t, run(t, m, args).OK)
	sent := s.asked["messages"].([]any)
	require.Len(t, sent, 4)
	var arguments []any
	for _, call := range sent[1].(map[string]any)["tool_calls"].([]any) {
		arguments = append(arguments, call.(map[string]any)["function"].(map[string]any)["arguments"])
	}
	assert.Equal(t, []any{`{"deep":{"a":[1.5,null]},"order":17}`, `{"order":`, `{}`}, arguments)
	assert.Equal(t, map[string]any{"role": "tool", "tool_call_id": "c1", "content": `{"price":3}`}, sent[2])
	assert.Equal(t, map[string]any{"role": "tool", "tool_call_id": "c2", "content": "no JSON"}, sent[3])
}

// TO-7: a key that a service says comes back as its name, also where a model wrote it
// into arguments, escaped once more.
func TestKeysThatComeBack(t *testing.T) {
	s := serve(t, `{"model":"hush","choices":[{"message":{"role":"assistant","content":"it is hush","tool_calls":[
		{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":[\"\\u0068ush\",\"hush\"]}"}}]}}]}`)
	result := run(t, manifest(t, map[string]any{"url": s.URL, "headers": map[string]any{"Authorization": "Bearer secret:KEY"}}), hello())
	require.True(t, result.OK, result.Message)
	assert.Equal(t, map[string]any{
		"model": "secret:KEY", "finish_reason": "", "message": map[string]any{
			"role": "assistant", "content": "it is secret:KEY", "tool_calls": []any{
				map[string]any{"id": "c1", "name": "f", "arguments": map[string]any{"a": []any{"secret:KEY", "secret:KEY"}}},
			},
		},
	}, result.Value.ToGo())
}

// TO-16: what a service cannot do ends by what certainly happened, in our own words.
func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		status     int
		idempotent bool
		code       failure.Code
		calls      int
		usage      kerneltools.Usage
		says       string
	}{
		{400, true, failure.ToolFailed, 1, kerneltools.Usage{}, "does not take the request"},
		{401, true, failure.ToolFailed, 1, kerneltools.Usage{Metered: true}, "look at the manifest's secret"},
		{402, true, failure.ToolFailed, 1, kerneltools.Usage{Metered: true}, "wants to be paid"},
		{404, false, failure.ToolFailed, 1, kerneltools.Usage{Metered: true}, "no such model"},
		{413, false, failure.ToolFailed, 1, kerneltools.Usage{Metered: true}, "too large"},
		{429, false, failure.ToolUnreachable, 2, kerneltools.Usage{}, "status 429"},
		{503, false, failure.OutcomeUnknown, 1, kerneltools.Usage{}, "may or may not"},
		{500, false, failure.ToolFailed, 1, kerneltools.Usage{}, "status 500"},
		{502, false, failure.OutcomeUnknown, 1, kerneltools.Usage{}, "may or may not"},
		{504, false, failure.OutcomeUnknown, 1, kerneltools.Usage{}, "may or may not"},
		{504, true, failure.ToolFailed, 2, kerneltools.Usage{}, "status 504"},
	} {
		s := serve(t, `{"error":{"message":"what the service says","code":"x"}}`)
		s.status = row.status
		m := manifest(t, map[string]any{"url": s.URL})
		m.Idempotent = row.idempotent
		result := run(t, m, hello())
		assert.Equal(t, row.code, result.Code, "%d", row.status)
		assert.Equal(t, row.calls, s.calls, "%d", row.status)
		assert.Equal(t, row.usage, result.Usage, "%d", row.status)
		assert.Contains(t, result.Message, row.says)
		assert.NotContains(t, result.Message, "what the service says")
	}
	broken := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer broken.Close()
	assert.Equal(t, failure.OutcomeUnknown, run(t, manifest(t, map[string]any{"url": broken.URL}), hello()).Code)
}

// TO-16: an answer that is none costs what it says all the same.
func TestMalformedAnswers(t *testing.T) {
	for body, usage := range map[string]kerneltools.Usage{
		`{`:              {},
		`[]`:             {},
		`"text"`:         {},
		`{}`:             {},
		`{"choices":[]}`: {},
		`{"choices":[{}],"usage":{"prompt_tokens":10,"completion_tokens":0}}`:                          {Metered: true, Tokens: 10, USDMicros: 2},
		`{"choices":[{"message":"x"}],"usage":{"prompt_tokens":10,"completion_tokens":-1}}`:            {},
		`{"choices":[{"message":{"content":{}}}],"usage":{"prompt_tokens":1.5,"completion_tokens":1}}`: {},
		`{"choices":[{"message":{"content":"","tool_calls":[{"id":"c","function":{"name":"f"}}]}}]}`:   {},
		`{"choices":[{"message":{"content":"","tool_calls":[7]}}]}`:                                    {},
	} {
		s := serve(t, body)
		result := run(t, manifest(t, map[string]any{"url": s.URL}), hello())
		assert.Equal(t, failure.ToolResultInvalid, result.Code, body)
		assert.Equal(t, usage, result.Usage, body)
	}
	s := serve(t, plain)
	s.headers["Content-Type"] = "text/html"
	assert.Equal(t, failure.ToolResultInvalid, run(t, manifest(t, map[string]any{"url": s.URL}), hello()).Code)
	s.headers = map[string]string{"Content-Type": "application/json", httprequest.UsageHeader: "tokens=1, usd-micros=2"}
	assert.Equal(t, kerneltools.Usage{Metered: true, Tokens: 1, USDMicros: 2}, run(t, manifest(t, map[string]any{"url": s.URL}), hello()).Usage)
	big := serve(t, `{"choices":[{"message":{"content":"`+string(make([]byte, 2<<20))+`"}}]}`)
	assert.Equal(t, failure.ToolResultTooLarge, run(t, manifest(t, map[string]any{"url": big.URL}), hello()).Code)
}

// TO-16, TO-6: arguments that make no conversation are told by where they are wrong,
// and nobody is asked.
func TestArgumentsThatAreRefused(t *testing.T) {
	s := serve(t, plain)
	with := func(name string, member any) map[string]any {
		args := hello()
		args[name] = member
		return args
	}
	said := func(messages ...any) map[string]any { return map[string]any{"messages": messages} }
	for _, row := range []struct {
		args map[string]any
		says string
	}{
		{map[string]any{}, "messages: must be a list"},
		{said(), "messages: must be a list"},
		{said(7), "messages[0]: role must be"},
		{said(map[string]any{"role": "boss", "content": "x"}), "messages[0]: role must be"},
		{said(map[string]any{"role": "user"}), "messages[0]: content must be"},
		{said(map[string]any{"role": "user", "content": "x", "name": "y"}), "messages[0]: has more than"},
		{said(map[string]any{"role": "tool", "content": "x"}), "messages[0]: must have a tool_call_id"},
		{said(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "c"}}}), "messages[0]: tool_calls must have"},
		{with("tools", []any{map[string]any{"name": "with.dots"}}), "tools[0]: must have a name of"},
		{with("tools", []any{map[string]any{}}), "tools[0]: must have a name"},
		{with("tools", []any{map[string]any{"name": "a", "parameters": "x"}}), "tools[0]:"},
		{with("tool_choice", map[string]any{}), "tool_choice:"},
		{with("max_tokens", 501), "max_tokens: must be from 1 to 500"},
		{with("temperature", 2.5), "temperature:"},
		{with("response_format", "json"), "response_format:"},
		{with("model", "another"), "has more than"},
		{with("n", 3), "has more than"},
	} {
		result := run(t, manifest(t, map[string]any{"url": s.URL}), row.args)
		assert.Equal(t, failure.ToolArgsInvalid, result.Code, row.says)
		assert.Contains(t, result.Message, row.says)
	}
	assert.Zero(t, s.calls)
}

// TO-16: what is wrong with a manifest is told by its field; one that reserves less
// than an answer may come to is refused.
func TestConfigsThatAreRefused(t *testing.T) {
	kind := NewKind(nil)
	for _, row := range []struct {
		field  string
		config map[string]any
	}{
		{"config.url", map[string]any{"url": nil}},
		{"config.url", map[string]any{"url": "h/v1"}},
		{"config.url", map[string]any{"url": "https://h/{x}"}},
		{"config.url", map[string]any{"url": 1}},
		{"config.model", map[string]any{"model": nil}},
		{"config.model", map[string]any{"model": ""}},
		{"config.max_tokens", map[string]any{"max_tokens": nil}},
		{"config.max_tokens", map[string]any{"max_tokens": 0}},
		{"config.max_tokens_as", map[string]any{"max_tokens_as": "n"}},
		{"config.temperature", map[string]any{"temperature": 3}},
		{"config.prices", map[string]any{"prices": 3}},
		{"config.prices.input", map[string]any{"prices": map[string]any{"input": 0.5}}},
		{"config.prices.cached", map[string]any{"prices": map[string]any{"cached": 1}}},
		{"config.stream", map[string]any{"stream": true}},
		{"config.redirects", map[string]any{"redirects": 11}},
		{"config.headers.A", map[string]any{"headers": map[string]any{"A": "secret:OTHER"}}},
		{"cost.tokens", map[string]any{"max_tokens": 5001}},
		{"cost.usd_micros", map[string]any{"prices": map[string]any{"output": 2_000_002}}},
	} {
		m := manifest(t, row.config)
		refused := kind.Check(m)
		require.NotNil(t, refused, "%v", row.config)
		assert.Equal(t, row.field, refused.Field, "%s", refused.Rule)
		_, err := kind.Make(m)
		assert.ErrorIs(t, err, errConfig)
	}
	assert.Nil(t, kind.Check(manifest(t, map[string]any{"prices": map[string]any{"output": 2_000_000}})), "just covered")
}
