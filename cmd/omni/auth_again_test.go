package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// AU-2: a bootstrap whose answer is lost is sent again, by somebody who is nobody by
// then. It was done, and its token is the administrator's: it is not thrown away.
func TestBootstrapOfALostAnswer(t *testing.T) {
	node := solo.New(t, 1, solo.Setup{}).Serve(t, httpapi.Options{})[0]
	var lost atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passed, err := http.NewRequestWithContext(r.Context(), r.Method, node+r.URL.RequestURI(), r.Body)
		if err != nil {
			panic(err)
		}
		passed.Header = r.Header.Clone()
		answer, err := http.DefaultClient.Do(passed)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer answer.Body.Close()
		if strings.HasSuffix(r.URL.Path, "/auth/bootstrap") && lost.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(proxy.Close)
	file := filepath.Join(t.TempDir(), "admin.token")
	_, stderr, exit := omni(t, "auth", "bootstrap", "--out", file, "--server", proxy.URL)
	require.Equal(t, api.ExitDone, exit, stderr)
	require.GreaterOrEqual(t, lost.Load(), int32(2), "it was sent again")
	stdout, stderr, exit := omni(t, "auth", "whoami", "--server", proxy.URL, "--token-file", file)
	require.Equal(t, api.ExitDone, exit, stderr)
	require.Contains(t, stdout, "admin")
	_, _, exit = omni(t, "auth", "bootstrap", "--out", file+"2", "--server", proxy.URL)
	require.Equal(t, api.ExitRefused, exit)
	_, err := os.Stat(file + "2")
	require.ErrorIs(t, err, os.ErrNotExist, "and what nobody knows is no token")
}
