package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/dev"
)

// deaf passes everything on to a node, and drops the answers to commands: did
// it, said nothing.
func deaf(t *testing.T, node string) string {
	target, err := url.Parse(node)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || strings.HasSuffix(r.URL.Path, "/sessions") {
			proxy.ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// CL-2: an outcome that nobody told is unknown, not refused: exit code 3. The
// command may have taken effect, and here it has, once, though it was sent
// several times (CL-3).
func TestAnOutcomeThatNobodyToldIsUnknown(t *testing.T) {
	omni, err := exec.LookPath("omni")
	require.NoError(t, err)
	cluster, err := dev.Start(t.Context(), dev.Options{Nodes: 1, Binary: omni, DataDir: t.TempDir(), ServerFlags: serverFlagsOf(testStore())})
	require.NoError(t, err)
	defer func() { require.NoError(t, cluster.Stop()) }()
	node := cluster.File().Nodes[0].API

	for _, format := range []string{"text", "json"} {
		var stdout, stderr bytes.Buffer
		command := exec.CommandContext(t.Context(), omni, "--server", deaf(t, node), "--timeout", "1s", "-o", format,
			"agent", "define", "-f", "-")
		command.Stdin = strings.NewReader("name: ghost\nlabels: {format: " + format + "}\n")
		command.Stdout, command.Stderr = &stdout, &stderr
		err := command.Run()
		var exit *exec.ExitError
		require.True(t, errors.As(err, &exit), "%v", err)
		assert.Equal(t, 3, exit.ExitCode(), stderr.String())
		assert.Empty(t, stdout.String())
		if format == "json" {
			assert.Contains(t, stderr.String(), `"code":"OUTCOME_UNKNOWN","definite":false`)
			assert.Contains(t, stderr.String(), `"exit":3}`)
		} else {
			assert.Contains(t, stderr.String(), "error: OUTCOME_UNKNOWN: define: no answer after ")
			assert.Contains(t, stderr.String(), " note: it may have taken effect, or may yet")
		}
		list, err := exec.CommandContext(t.Context(), omni, "--server", node, "agent", "list", "--label", "format="+format).Output()
		require.NoError(t, err)
		assert.Contains(t, string(list), "1 agents, ", string(list))
	}
}
