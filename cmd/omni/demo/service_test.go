package demo

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The demo as a whole is a transcript in cmd/omni/testdata/faults. Here is the
// service that counts for it.

func order(t *testing.T, s *service, key, name string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/greetings",
		strings.NewReader(`{"greeting": "hi", "name": "`+name+`"}`))
	require.NoError(t, err)
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

// TO-4: a call that comes again under its key is the same call.
func TestTheServiceCountsByKey(t *testing.T) {
	s, err := startService("nobody")
	require.NoError(t, err)
	defer s.stop()
	for _, key := range []string{"a", "a", "b"} {
		status, body := order(t, s, key, "Ada")
		assert.Equal(t, http.StatusOK, status)
		assert.JSONEq(t, `{"text": "hi, Ada"}`, body)
	}
	status, _ := order(t, s, "", "Ada")
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Equal(t, map[string]toolCall{"a": {"Ada", 2}, "b": {"Ada", 1}}, s.seen())
}

// The held answer comes when it is freed; the same call again does not wait.
func TestTheServiceHoldsOneAnswerBack(t *testing.T) {
	s, err := startService("Grace")
	require.NoError(t, err)
	defer s.stop()
	answered := make(chan int, 1)
	go func() {
		status, _ := order(t, s, "g", "Grace")
		answered <- status
	}()
	<-s.asked
	status, _ := order(t, s, "g", "Grace")
	assert.Equal(t, http.StatusOK, status, "again")
	select {
	case <-answered:
		t.Fatal("the held answer came before it was freed")
	default:
	}
	s.free()
	assert.Equal(t, http.StatusOK, <-answered)
	assert.Equal(t, 2, s.seen()["g"].Deliveries)
}

func TestNamesAreListed(t *testing.T) {
	assert.Equal(t, "Ada, Grace and Barbara", list(people[:]))
	assert.Equal(t, "Ada and Grace", list(people[:2]))
	assert.Equal(t, "Ada", list(people[:1]))
}
