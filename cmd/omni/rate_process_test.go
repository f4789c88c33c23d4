package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

// LI-1: a real node that enforces rates holds each principal to its own, from whichever
// address and with whichever of its tokens it asks; another one at the same address is
// served, and so is whoever asks how the node is.
func TestRatesOfPrincipals(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir()}, append(serverFlagsOf(testStore()), "--rate-limit", "enforce", "--rate", "0.0001/s", "--burst", "300")...)
	p.unaudited = true // below, by somebody who may
	p.startAll()
	require.Eventually(t, func() bool { return p.up(0) }, time.Minute, 20*time.Millisecond)
	dir := t.TempDir()
	admin := filepath.Join(dir, "admin.token")
	do := func(args ...string) {
		t.Helper()
		stdout, stderr, exit := omni(t, append(args, "--server", p.url(0), "--timeout", "1m")...)
		require.Equal(t, api.ExitDone, exit, "%s: %s%s", args, stdout, stderr)
	}
	secret := func(file string) string {
		t.Helper()
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.TrimSpace(string(raw))
	}
	do("auth", "bootstrap", "--out", admin)
	do("auth", "principal", "create", "ann", "--role", "reader", "--token-file", admin)
	ann := []string{filepath.Join(dir, "ann1.token"), filepath.Join(dir, "ann2.token")}
	for _, file := range ann {
		do("auth", "token", "create", "ann", "--out", file, "--token-file", admin)
	}

	from := map[string]*http.Client{"127.0.0.1": clientAt(t, "127.0.0.1"), "127.0.0.2": clientAt(t, "127.0.0.2")}
	ask := func(address, path, token string) (status int, retryAfter string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url(0)+path, nil)
		require.NoError(t, err)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := from[address].Do(r)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body) // so that the connection is used again
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, response.Header.Get("Retry-After")
	}
	const agents = "/v1/kernels/default/agents?limit=1&consistency=stale"
	served := 0
	for {
		status, after := ask("127.0.0.1", agents, secret(ann[0]))
		if status == http.StatusTooManyRequests {
			seconds, err := strconv.Atoi(after)
			require.NoError(t, err)
			require.Greater(t, seconds, 100)
			break
		}
		require.Equal(t, http.StatusOK, status)
		served++
		require.LessOrEqual(t, served, 300)
	}
	require.Equal(t, 300, served, "a whole burst")
	for address := range from {
		status, _ := ask(address, agents, secret(ann[1]))
		require.Equal(t, http.StatusTooManyRequests, status, "ann with another token from %s", address)
		status, _ = ask(address, agents, secret(admin))
		require.Equal(t, http.StatusOK, status, "somebody else from %s", address)
		status, _ = ask(address, agents, "")
		require.Equal(t, http.StatusUnauthorized, status, "nobody from %s", address)
		status, _ = ask(address, "/healthz", secret(ann[0]))
		require.Equal(t, http.StatusOK, status)
	}
	_, stderr, exit := omni(t, "agent", "list", "--server", p.url(0), "--timeout", "1s", "--token-file", ann[0])
	require.NotEqual(t, api.ExitDone, exit)
	require.Contains(t, stderr, "ann asks for more than its rate")
	do("log", "audit", "--token-file", admin)
}

// clientAt asks from one of the machine's addresses.
func clientAt(t *testing.T, address string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, to)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
