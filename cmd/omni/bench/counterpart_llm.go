package bench

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/omnikernel/omnikernel/kernel/tools"
)

const (
	question   = `{"model":"none","messages":[{"role":"user","content":"?"}],"max_tokens":1}`
	completion = `{"object":"chat.completion","model":"none","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"."}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
)

// llmCounterpart is a model that has one answer, and gives it at once.
func llmCounterpart(*Options, string) (*counterpart, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, completion)
	}))
	asking := newAsking()
	return &counterpart{
		config: map[string]any{"url": server.URL + "/v1", "model": "none", "max_tokens": 1, "private": true},
		cost:   tools.Cost{Tokens: 10},
		args: func(int) any {
			return map[string]any{"messages": []any{map[string]any{"role": "user", "content": "?"}}}
		},
		direct: func(ctx context.Context) error { return asking.post(ctx, server.URL+"/v1/chat/completions", question) },
		close: func() {
			asking.CloseIdleConnections()
			server.Close()
		},
	}, nil
}
