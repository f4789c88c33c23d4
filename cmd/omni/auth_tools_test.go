package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// Where callers are judged, what looks at a whole cluster takes a token as every command
// does, a dev cluster's from its directory, and says what to do without one.
func TestToolsUnderAuthorization(t *testing.T) {
	node := solo.New(t, 1, solo.Setup{}).Serve(t, httpapi.Options{})[0]
	t.Setenv(tokenVariable, "")
	dir := t.TempDir()
	file := filepath.Join(dir, dev.TokenFileName)
	content, err := json.Marshal(dev.File{ClusterID: "solo-cluster", KernelID: "default", Nodes: []dev.Node{{ID: "n1", API: node}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, dev.FileName), content, 0o600))
	_, stderr, exit := omni(t, "auth", "bootstrap", "--data-dir", dir, "--out", file)
	require.Equal(t, api.ExitDone, exit, stderr)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	for _, args := range [][]string{{"agent", "list"}, {"top", "--once", "--every", "200ms"}, {"debug", "bundle", t.TempDir()}, {"cluster", "status"}} {
		_, stderr, exit := omni(t, append(args, "--data-dir", dir)...)
		require.Equal(t, api.ExitDone, exit, "%v: %s", args, stderr)
		_, stderr, exit = omni(t, append(args, "--server", node)...)
		require.Equal(t, api.ExitRefused, exit, "%v", args)
		require.Contains(t, stderr, "UNAUTHENTICATED")
		require.Contains(t, stderr, "OMNI_TOKEN", "%v: what to do", args)
		_, stderr, exit = omni(t, append(args, "--server", node, "--token-file", file)...)
		require.Equal(t, api.ExitDone, exit, "%v: %s", args, stderr)
	}

	list := func(more ...string) (told string, failed bool) {
		program, err := exec.LookPath("omni")
		require.NoError(t, err)
		client := connectMCP(t, &mcp.CommandTransport{Command: exec.CommandContext(t.Context(), program, append([]string{"mcp", "--server", node}, more...)...)})
		got, err := client.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "agent_list", Arguments: map[string]any{}})
		require.NoError(t, err)
		return got.Content[0].(*mcp.TextContent).Text, got.IsError
	}
	told, failed := list()
	require.True(t, failed, told)
	require.Contains(t, told, "OMNI_TOKEN")
	told, failed = list("--token-file", file)
	require.False(t, failed, told)
}
