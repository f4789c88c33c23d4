package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mcpClient is a real client of the protocol.
type mcpClient struct {
	t       *testing.T
	session *mcp.ClientSession
}

func connectMCP(t *testing.T, transport mcp.Transport) *mcpClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() }) // the process may have been told to end
	return &mcpClient{t, session}
}

// call calls a tool that does its work.
func (c *mcpClient) call(name string, arguments any) (result map[string]any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	got, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(c.t, err)
	require.False(c.t, got.IsError, "%s: %v", name, got.StructuredContent)
	require.NoError(c.t, json.Unmarshal([]byte(got.Content[0].(*mcp.TextContent).Text), &result))
	return result
}

// patientMCP waits for elections as long as a busy machine takes for them.
var patientMCP = []string{"--timeout", "80s"}

// documentedMCP is the program of the configuration that docs/mcp.md has.
func documentedMCP(t *testing.T, servers string) *exec.Cmd {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "mcp.md"))
	require.NoError(t, err)
	var found struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	snippet := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(content)
	require.NotNil(t, snippet)
	require.NoError(t, json.Unmarshal(snippet[1], &found))
	server := found.Servers["omni"]
	assert.Equal(t, map[string]string{serverVariable: defaultServer}, server.Env)
	cmd := exec.Command(server.Command, append(server.Args, patientMCP...)...)
	cmd.Env = append(os.Environ(), serverVariable+"="+servers)
	return cmd
}

// startMCPOverHTTP starts omni mcp --http and gives its address.
func startMCPOverHTTP(t *testing.T, servers string) (url string) {
	t.Helper()
	cmd := exec.Command("omni", append([]string{"mcp", "--http", "127.0.0.1:0"}, patientMCP...)...)
	cmd.Env = append(os.Environ(), serverVariable+"="+servers)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		assert.NoError(t, cmd.Wait(), "Ctrl-C is a good end")
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	url = regexp.MustCompile(`http://\S+/mcp`).FindString(line)
	require.NotEmpty(t, url, line)
	return url
}

// TO-17: an MCP client that starts omni mcp as docs/mcp.md says works with a cluster of three
// processes: it starts an agent that asks first, approves, waits for it over the death
// of the leader, and calls a tool. Another one sees the same over HTTP.
func TestMCPClientWorksWithACluster(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.startAll()
	p.alike()
	servers := strings.Join([]string{p.url(0), p.url(1), p.url(2)}, ",")
	local := connectMCP(t, &mcp.CommandTransport{Command: documentedMCP(t, servers)})
	remote := connectMCP(t, &mcp.StreamableClientTransport{Endpoint: startMCPOverHTTP(t, servers)})

	start := map[string]any{
		"script":          "def main(input):\n    paid = must(call('echo', input))\n    return {'paid': paid, 'for': must(receive())}\n",
		"input":           map[string]any{"amount": 900},
		"grants":          []map[string]any{{"effect": "ESCALATE", "action": "tool.call", "resource": "echo"}, {"effect": "ALLOW", "action": "tool.call", "resource": "mailbox.receive"}},
		"wait_ms":         60000,
		"idempotency_key": "payment-17",
	}
	stands := local.call("agent_start", start)
	require.Regexp(t, "^decision", stands["why"], "%v", stands)
	id := stands["agent_id"]
	open := remote.call("escalation_list", map[string]any{"agent": id})["escalations"].([]any)
	require.Len(t, open, 1)
	remote.call("escalation_approve", map[string]any{"escalation": open[0].(map[string]any)["escalation"], "reason": "talked to the customer"})

	p.kill(p.leader())
	local.call("agent_send", map[string]any{"agent": id, "message": "books"})
	for stands = map[string]any{}; stands["settled"] != true; {
		stands = remote.call("agent_wait", map[string]any{"agent": id, "timeout_ms": 60000})
	}
	assert.Equal(t, map[string]any{"paid": map[string]any{"amount": 900.0}, "for": "books"}, stands["agent"].(map[string]any)["result"])

	again := remote.call("agent_start", start)
	assert.Equal(t, id, again["agent_id"], "the same key, over the death of the leader and by another server")
	for _, c := range []*mcpClient{local, remote} {
		assert.Equal(t, []any{id}, ids(c.call("agent_list", nil)))
	}
	assert.Equal(t, "hello", local.call("tool_call", map[string]any{"name": "echo", "args": "hello", "wait_ms": 60000})["answer"].(map[string]any)["value"])
	assert.Contains(t, p.run("log", "audit"), "the log keeps to the rules")
}

func ids(page map[string]any) (ids []any) {
	for _, agent := range page["agents"].([]any) {
		ids = append(ids, agent.(map[string]any)["agent_id"])
	}
	return ids
}
