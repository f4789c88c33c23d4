package traces

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// The position is kept, never goes back, and one that cannot be read is not known.
func TestPosition(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "traces.position")
	open := func() *Exporter {
		x, err := New(Options{File: file, Logger: hclog.NewNullLogger(), State: func() *state.State { return state.New("default") }})
		require.NoError(t, err)
		return x
	}
	x := open()
	require.Zero(t, x.Next())
	x.Learn(7)
	x.Learn(5)
	require.EqualValues(t, 7, x.Next())
	require.EqualValues(t, 7, open().Next())
	require.NoError(t, os.WriteFile(file, []byte("seven\n"), 0o600))
	require.Zero(t, open().Next())
}

// What this node does not have is left out and counted; what is ahead of it is waited
// for; whatever else goes wrong changes nothing.
func TestWhatIsNotHere(t *testing.T) {
	x, err := New(Options{File: filepath.Join(t.TempDir(), "p"), Logger: hclog.NewNullLogger(), State: func() *state.State { return state.New("default") }})
	require.NoError(t, err)
	x.Learn(10)
	more, err := x.skip(10, &segment.HistoryBehindError{FirstSeq: 15})
	require.NoError(t, err)
	require.True(t, more)
	require.EqualValues(t, 15, x.Next())
	require.EqualValues(t, 5, x.Counts().Skipped)
	more, err = x.skip(15, &segment.CompactedError{FirstSeq: 17})
	require.NoError(t, err)
	require.True(t, more)
	more, err = x.skip(17, &segment.AheadError{NextSeq: 12})
	require.NoError(t, err)
	require.False(t, more)
	_, err = x.skip(17, os.ErrInvalid)
	require.ErrorIs(t, err, os.ErrInvalid)
	require.EqualValues(t, 17, x.Next())
}

// A collector that fails is tried again; one that refuses is not.
func TestAnswers(t *testing.T) {
	status := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "secret" {
			status = http.StatusUnauthorized
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	s, err := NewSender(Target{URL: server.URL + "/v1/traces", Timeout: 30 * time.Second, Headers: map[string]string{"Authorization": "secret"}})
	require.NoError(t, err)
	send := func(code int) error {
		status = code
		return s.Send(t.Context(), []*tracepb.Span{{Name: "x"}})
	}
	require.NoError(t, send(http.StatusOK))
	require.NoError(t, send(http.StatusAccepted))
	require.ErrorContains(t, send(http.StatusServiceUnavailable), "503")
	require.ErrorAs(t, send(http.StatusBadRequest), new(*RefusedError))
	server.Close()
	require.Error(t, send(http.StatusOK))
	for _, url := range []string{"127.0.0.1:4318", "ftp://x/", "http://", ":"} {
		_, err := NewSender(Target{URL: url})
		require.Error(t, err, url)
	}
}
