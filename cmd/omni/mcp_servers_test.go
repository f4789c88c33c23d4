package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
)

func serversFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestMCPServersAreRead(t *testing.T) {
	none, err := readMCPServers("")
	require.NoError(t, err)
	assert.Empty(t, none)
	servers, err := readMCPServers(serversFile(t, `{"mcpServers": {
		"files": {"type": "stdio", "command": "npx", "args": ["-y", "files"], "env": {"KEY": "secret:FILES"}, "cwd": "/srv"},
		"tickets": {"url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer secret:TICKETS"}}}}`))
	require.NoError(t, err)
	assert.Equal(t, mcpServers{
		"files":   {Name: "files", Command: "npx", Args: []string{"-y", "files"}, Env: map[string]string{"KEY": "secret:FILES"}, Dir: "/srv"},
		"tickets": {Name: "tickets", URL: "https://mcp.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer secret:TICKETS"}},
	}, servers)
	files, tickets := servers["files"], servers["tickets"]
	assert.Equal(t, []string{"mcp:files", "https://mcp.example.com"}, []string{files.Origin(), tickets.Origin()})
}

func TestMCPServersThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": {"a": {}}}`:                                         "mcp.json:1:17: mcpServers.a: must have a command or a url",
		`{"mcpServers": {"a": {"command": "x", "url": "http://b"}}}`:        "mcpServers.a.url: must not be there beside command",
		`{"mcpServers": {"a": {"comand": "x"}}}`:                            `unknown field "comand"`,
		`{"mcpServers": {"a": []}}`:                                         "mcpServers.a: is no server",
		`{"mcpServers": {"a/b": {"command": "x"}}}`:                         "is no name",
		`{"mcpServers": {"a": {"url": "ftp://b"}}}`:                         "mcpServers.a.url: must begin with http",
		`{"mcpServers": {"a": {"url": "http://b", "type": "stdio"}}}`:       "mcpServers.a.type: must be stdio with command",
		`{"mcpServers": {"a": {"url": "http://b", "type": "sse"}}}`:         "given up",
		`{"mcpServers": {"a": {"url": "http://b", "env": {}}}}`:             "are for a command",
		`{"mcpServers": {"a": {"command": "b", "private": true}}}`:          "are for a url",
		`{"mcpServers": {"a": {"url": "http://b", "headers": {"Te": ""}}}}`: "mcpServers.a.headers.Te: is not the manifest's to set",
		`{"mcpServers": {"a": {"command": "b", "env": {"X=Y": ""}}}}`:       "must be names without =",
		`{"mcpServer": {}}`: "mcpServer",
	} {
		_, err := readMCPServers(serversFile(t, text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
	}
	_, err := readMCPServers(filepath.Join(t.TempDir(), "none.json"))
	require.Error(t, err)
}

func TestMCPServersHaveKeysOfTheirOwn(t *testing.T) {
	a, b := mcpclient.Server{Name: "a", Command: "x"}, mcpclient.Server{Name: "b", Command: "x"}
	assert.NotEqual(t, a.Key(), b.Key())
	same := mcpclient.Server{Name: "a", Command: "x"}
	assert.Equal(t, a.Key(), same.Key())
}
