package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recordedModel is a service that speaks the protocol of chat completions from
// recorded replies: what it says depends on what it sees last. Every answer comes to
// the same.
type recordedModel struct {
	*httptest.Server
	t       *testing.T
	key     string
	replies []struct {
		Sees string          `json:"sees"`
		Says json.RawMessage `json:"says"`
	}

	mu    sync.Mutex // guards what follows
	asked []question
	holds string        // the first reply to what is seen so is held back …
	held  chan struct{} // … and this is closed when it is
}

// question is one request, as it came.
type question struct {
	key, system, last string
	messages          int
}

// What an answer comes to: 300 tokens at 15 cents and 20 at 60, for a million.
const (
	modelTokens    = 320
	modelUSDMicros = 57
)

func newRecordedModel(t *testing.T, file, key, holds string) *recordedModel {
	t.Helper()
	m := &recordedModel{t: t, key: key, holds: holds, held: make(chan struct{})}
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &m.replies))
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *recordedModel) serve(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		Messages  []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+m.key ||
		err != nil || asked.Model == "" || asked.MaxTokens == 0 || len(asked.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	last := asked.Messages[len(asked.Messages)-1].Content
	m.mu.Lock()
	m.asked = append(m.asked, question{r.Header.Get("Idempotency-Key"), asked.Messages[0].Content, last, len(asked.Messages)})
	hold := m.holds != "" && strings.Contains(last, m.holds)
	if hold {
		m.holds = ""
		close(m.held)
	}
	m.mu.Unlock()
	if hold {
		<-r.Context().Done() // who asked is gone
		return
	}
	for _, reply := range m.replies {
		if strings.Contains(last, reply.Sees) {
			w.Header().Set("Content-Type", "application/json")
			assert.NoError(m.t, json.NewEncoder(w).Encode(map[string]any{
				"id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000, "model": asked.Model,
				"choices": []any{map[string]any{"index": 0, "message": reply.Says, "finish_reason": "stop"}},
				"usage":   map[string]any{"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": modelTokens},
			}))
			return
		}
	}
	assert.Fail(m.t, "there is no reply", last)
	w.WriteHeader(http.StatusBadRequest)
}

func (m *recordedModel) questions() []question {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]question(nil), m.asked...)
}
