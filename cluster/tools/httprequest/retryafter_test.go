package httprequest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// TO-10: what a service that is too busy asks for goes with the result.
func TestRetryAfter(t *testing.T) {
	asks, status := "", http.StatusTooManyRequests
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", asks)
		w.WriteHeader(status)
	})
	kind := NewKind(Options{})
	defer kind.Close()
	adapter, err := kind.Make(manifest(t, map[string]any{"url": base}))
	require.NoError(t, err)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-1": 0, "1.5": 0, "soon": 0, "99999999999": 0, "Mon, 02 Jan 2006 15:04:05 GMT": 0,
	} {
		asks = text
		result := adapter.Call(t.Context(), tools.Request{Args: value.EmptyMap})
		assert.Equal(t, failure.ToolUnreachable, result.Code)
		assert.Equal(t, want, result.After, text)
	}
	asks = time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	result := adapter.Call(t.Context(), tools.Request{Args: value.EmptyMap})
	assert.Greater(t, result.After, 30*time.Minute)
	assert.LessOrEqual(t, result.After, time.Hour)
	asks, status = "3", http.StatusServiceUnavailable
	result = adapter.Call(t.Context(), tools.Request{Args: value.EmptyMap})
	assert.Equal(t, []any{failure.ToolUnreachable, 3 * time.Second}, []any{result.Code, result.After}, "it says when to come again, so it did nothing")
}
