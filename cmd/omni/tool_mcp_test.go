package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient/mcptest"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// mcpDesks are two real MCP servers: a program that nodes start, and one that is
// there, over HTTP. Each notes its calls in a directory. A third never says a word.
type mcpDesks struct{ file, program, web, mute string }

// newMCPDesks starts the second, and writes the file that says where both are.
func newMCPDesks(t *testing.T, secret string) *mcpDesks {
	d := &mcpDesks{file: filepath.Join(t.TempDir(), "mcp.json"), program: t.TempDir(), web: t.TempDir(), mute: t.TempDir()}
	binary, err := exec.LookPath("omni-mcptest")
	require.NoError(t, err)
	address := freeAddresses(t, 1)[0]
	env := mcptest.Env("stdio", d.program)
	env["DESK_KEY"] = "secret:DESK"
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"desk": map[string]any{"command": binary, "env": env},
		"mute": map[string]any{"command": binary, "env": mcptest.Env("mute", d.mute)},
		"web":  map[string]any{"url": "http://" + address + "/mcp", "headers": map[string]any{"Authorization": "Bearer secret:WEB"}, "private": true},
	}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(d.file, text, 0o600))
	for name, origin := range map[string]string{"DESK": "mcp:desk", "WEB": "http://" + address} {
		t.Setenv("OMNI_SECRET_"+name, secret)
		t.Setenv("OMNI_SECRET_"+name+"_FOR", origin)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "DESK_KEY="+secret)
	for name, text := range mcptest.Env(address, d.web) {
		cmd.Env = append(cmd.Env, name+"="+text)
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: that is what it says
	})
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 30*time.Second, 10*time.Millisecond)
	return d
}

// callAny starts an agent that calls the tool, whatever it is judged as, and does
// nothing else.
func (p *processes) callAny(tool string, id int) (agent string) {
	p.t.Helper()
	program, problem := value.FromGo(map[string]any{"kind": "CALL", "payload": map[string]any{"tool": tool, "args": map[string]any{"id": id}, "handle": true}})
	require.Nil(p.t, problem)
	done, err := p.client.Start(p.t.Context(), event.Start{Define: event.Define{
		Program: program, Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: tool + "/**"}},
	}})
	require.NoError(p.t, err)
	return done.AgentID
}

// TO-4, TO-7, TO-14: tools of MCP servers, over both ways, on three nodes. The leader is
// killed while calls run: what may be made twice is made again, what may not is made
// once, and its end is unknown. So it is when a server dies itself. The log is in order,
// the secret is nowhere, and no program is left behind.
func TestMCPToolsSurviveTheirLeader(t *testing.T) {
	const secret = "a-secret-that-nobody-else-says"
	d := newMCPDesks(t, secret)
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, append(smallFlags(testStore()), "--mcp-servers", d.file)...)
	p.startAll()
	p.alike()
	p.importDesks(d)

	for way, dir := range map[string]string{"desk": d.program, "web": d.web} {
		got := p.answerOf(p.callAny(way+".get_ticket", 1))
		assert.Equal(t, map[string]any{"id": int64(1), "status": "open, secret:" + strings.ToUpper(way)}, got["value"], "%v", got)
		got = p.answerOf(p.callAny(way+".desk.pay", 1))
		assert.Equal(t, true, got["ok"], "%v", got)
		assert.Equal(t, 1, mcptest.Calls(t, dir, "desk.pay/1"))
	}
	gets, pays, release := make(map[string]string), make(map[string]string), make(map[string]func())
	for way, dir := range map[string]string{"desk": d.program, "web": d.web} {
		held := []func(){mcptest.Hold(t, dir, "getTicket-3"), mcptest.Hold(t, dir, "pay-4")}
		release[way] = func() { held[0](); held[1]() }
		gets[way], pays[way] = p.callAny(way+".get_ticket", 3), p.callAny(way+".desk.pay", 4)
		require.Eventually(t, func() bool {
			return mcptest.Calls(t, dir, "getTicket/3") == 1 && mcptest.Calls(t, dir, "desk.pay/4") == 1
		}, 30*time.Second, 10*time.Millisecond, way)
	}
	p.callAny("mute.say", 1)
	require.Eventually(t, func() bool { return len(mcptest.Running(t, d.mute)) == 1 }, 30*time.Second, 10*time.Millisecond)
	killed := p.leader()
	p.kill(killed)
	require.Eventually(t, func() bool { return len(mcptest.Running(t, d.mute)) == 0 }, 30*time.Second, 10*time.Millisecond, "it ends with the node, however that ends")
	for way, dir := range map[string]string{"desk": d.program, "web": d.web} {
		require.Eventually(t, func() bool { return mcptest.Calls(t, dir, "getTicket/3") == 2 }, 60*time.Second, 10*time.Millisecond, "the new leader makes it again")
		assert.Equal(t, "OUTCOME_UNKNOWN", p.answerOf(pays[way])["code"])
		release[way]()
		got := p.answerOf(gets[way])
		assert.Equal(t, true, got["ok"], "%v", got)
		assert.Equal(t, 1, mcptest.Calls(t, dir, "desk.pay/4"), "dispatched once, made once")
	}

	assert.Equal(t, "OUTCOME_UNKNOWN", p.answerOf(p.callAny("desk.die", 5))["code"])
	got := p.answerOf(p.callAny("desk.desk.pay", 6))
	assert.Equal(t, true, got["ok"], "the program is started again: %v", got)
	p.start(killed)
	p.alike()
	dispatched := 0
	for record, err := range p.client.Records(t.Context(), api.LogQuery{}) {
		require.NoError(t, err)
		if record.Kind == "CALL_DISPATCHED" {
			dispatched++
		}
	}
	made := mcptest.Calls(t, d.program, "desk.pay/") + mcptest.Calls(t, d.program, "die/") + mcptest.Calls(t, d.web, "desk.pay/")
	assert.Equal(t, 6, made)
	assert.LessOrEqual(t, made, dispatched, "no call without its dispatch")
	p.stopAll()
	require.Eventually(t, func() bool { return len(mcptest.Running(t, d.program)) == 0 }, 30*time.Second, 50*time.Millisecond, "programs end with their nodes")
	for _, dir := range p.dirs {
		p.hidden(dir, secret)
	}
	p.hidden(p.output, secret)
}

// importDesks registers the tools as people do: by the command alone, and by files that
// they read and register.
func (p *processes) importDesks(d *mcpDesks) {
	p.t.Helper()
	assert.Contains(p.t, p.run("tool", "import", "desk", "--mcp-servers", d.file, "--only", "getTicket"), "name: desk.get_ticket\nversion: 1.2.3\ndescription: Gets a ticket.\nadapter: mcp\nconfig:\n")
	p.run("tool", "import", "desk", "--mcp-servers", d.file, "--only", "getTicket", "--idempotent", "getTicket", "--timeout-ms", "60000", "--register")
	p.run("tool", "import", "desk", "--mcp-servers", d.file, "--only", "desk/pay", "--only", "die", "--timeout-ms", "6000", "--register")
	dir := filepath.Join(p.t.TempDir(), "tools")
	p.run("tool", "import", "web", "--mcp-servers", d.file, "--only", "getTicket", "--idempotent", "getTicket", "--timeout-ms", "60000", "--dir", dir)
	p.run("tool", "import", "web", "--mcp-servers", d.file, "--only", "desk/pay", "--timeout-ms", "6000", "--dir", dir)
	for _, name := range []string{"web.get_ticket", "web.desk.pay"} {
		p.run("tool", "register", "-f", filepath.Join(dir, name+".yaml"))
	}
	mute := filepath.Join(dir, "mute.yaml")
	require.NoError(p.t, os.WriteFile(mute, []byte("{name: mute.say, adapter: mcp, config: {server: mute, tool: say}}"), 0o600))
	p.run("tool", "register", "-f", mute)
	var page api.ToolPage
	require.NoError(p.t, json.Unmarshal([]byte(p.run("tool", "list", "-o", "json")), &page))
	var idempotent []string
	for _, tool := range page.Tools {
		if tool.Idempotent {
			idempotent = append(idempotent, tool.Name)
		}
	}
	assert.Equal(p.t, []string{"desk.get_ticket", "web.get_ticket"}, idempotent, "what the person says counts, and no hint of a server")
}
