package mcptool

import (
	"context"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient/mcptest"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

const secret = "a-secret-that-nobody-else-says"

// desk is a server, over one way or the other, and a node's registry with its tools.
type desk struct {
	t        *testing.T
	dir      string
	kind     *Kind
	registry *tools.Registry
	log      *log
	config   map[string]any // of manifests
	revision uint64
}

// log is what the node says.
type log struct{ lines chan string }

func (l *log) Write(p []byte) (int, error) {
	select {
	case l.lines <- string(p):
	default:
	}
	return len(p), nil
}

func newDesk(t *testing.T, servers map[string]mcpclient.Server, config map[string]any) *desk {
	d := &desk{t: t, config: config, log: &log{make(chan string, 1000)}}
	d.kind = NewKind(Options{Servers: servers, Client: mcpclient.Options{
		Version: "test", Logger: hclog.New(&hclog.LoggerOptions{Output: d.log}),
		Secrets: func(name, origin string) (string, bool) {
			return secret, name == "KEY" && (origin == "mcp:desk" || strings.HasPrefix(origin, "http://127.0.0.1:"))
		},
	}})
	var err error
	d.registry, err = tools.New(tools.Options{Kinds: []tools.Kind{d.kind}})
	require.NoError(t, err)
	t.Cleanup(d.rest)
	return d
}

// rest lets go of every tool, and waits until no connection is left.
func (d *desk) rest() {
	d.kind.mu.Lock()
	links := slices.Collect(maps.Values(d.kind.links))
	d.kind.mu.Unlock()
	d.registry.Keep(func(uint64) bool { return false })
	for _, link := range links {
		<-link.client.Done()
	}
}

// program is a server of stdin and stdout.
func program(t *testing.T, mode, dir string) mcpclient.Server {
	self, err := os.Executable()
	require.NoError(t, err)
	env := map[string]string{"DESK_KEY": "secret:KEY"}
	maps.Copy(env, mcptest.Env(mode, dir))
	return mcpclient.Server{Command: self, Env: env}
}

func stdio(t *testing.T, mode string) *desk {
	dir := t.TempDir()
	d := newDesk(t, map[string]mcpclient.Server{"desk": program(t, mode, dir)}, map[string]any{"server": "desk"})
	d.dir = dir
	return d
}

// web is a server of HTTP, at a path.
func web(t *testing.T, path string) *desk {
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	d := newDesk(t, nil, map[string]any{
		"url": "http://" + address + path, "private": true, "headers": map[string]any{"Authorization": "Bearer secret:KEY"},
	})
	d.dir = dir
	d.serve(address)
	return d
}

// serve starts a server of HTTP as a process, until the test ends.
func (d *desk) serve(address string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(d.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "DESK_KEY="+secret)
	for name, text := range mcptest.Env(address, d.dir) {
		cmd.Env = append(cmd.Env, name+"="+text)
	}
	cmd.Stderr = os.Stderr
	require.NoError(d.t, cmd.Start())
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(d.t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 30*time.Second, 5*time.Millisecond)
	return cmd
}

func (d *desk) manifest(tool string) *kerneltools.Manifest {
	config := map[string]any{"tool": tool}
	maps.Copy(config, d.config)
	c, problem := value.FromGo(config)
	require.Nil(d.t, problem)
	return &kerneltools.Manifest{Name: "desk.tool", Adapter: "mcp", Config: c, Secrets: []string{"KEY"}}
}

// call calls one of the server's tools, each time as a tool of its own revision.
func (d *desk) call(tool string, id int, change func(*kerneltools.Manifest)) tools.Result {
	d.t.Helper()
	return d.callIn(d.t.Context(), tool, id, 5*time.Minute, change)
}

func (d *desk) callIn(ctx context.Context, tool string, id int, within time.Duration, change func(*kerneltools.Manifest)) tools.Result {
	m := d.manifest(tool)
	if change != nil {
		change(m)
	}
	refused := d.registry.Check(m)
	require.Nil(d.t, refused, "%+v", refused)
	d.revision++
	args, problem := value.FromGo(map[string]any{"id": id})
	require.Nil(d.t, problem)
	return d.registry.Run(ctx, tools.Request{Tool: m.Name, Args: args, IdempotencyKey: "agent-1-2", Timeout: within, Revision: d.revision, Manifest: m})
}

func (d *desk) calls(line string) int { return mcptest.Calls(d.t, d.dir, line) }

// TO-14: what a server answers becomes a value, over either way; secrets that it says
// are taken out of it.
func TestAnswersBecomeValues(t *testing.T) {
	for way, d := range map[string]*desk{"stdio": stdio(t, "stdio"), "http": web(t, "/mcp")} {
		t.Run(way, func(t *testing.T) {
			d.t = t
			for tool, want := range map[string]string{
				"getTicket": `{"id":4,"status":"open, secret:KEY"}`,
				"desk/pay":  `"paid agent-1-2"`,
				"several":   `[{"text":"one","type":"text"},{"data":"AQI=","mimeType":"image/png","type":"image"}]`,
			} {
				got := d.call(tool, 4, nil)
				require.True(t, got.OK, "%s: %+v", tool, got)
				assert.JSONEq(t, want, string(got.Value.AppendJSON(nil)), tool)
			}
			assert.Equal(t, kerneltools.Usage{Metered: true, Tokens: 7, USDMicros: 70}, d.call("desk/pay", 5, nil).Usage)
			assert.Equal(t, 1, d.calls("getTicket/4"))
			assert.Equal(t, 1, d.calls("started"), "the tools of a server share a connection")
		})
	}
}

// TO-6, TO-14: each way to fail has its own code.
func TestFailuresOfServers(t *testing.T) {
	for way, d := range map[string]*desk{"stdio": stdio(t, "stdio"), "http": web(t, "/mcp")} {
		t.Run(way, func(t *testing.T) {
			d.t = t
			for tool, row := range map[string]struct {
				id   int
				code failure.Code
				says string
			}{
				"fail":         {1, failure.ToolFailed, "says that it failed"},
				"refuse":       {1, failure.ToolFailed, "error of the protocol"},
				"no_such_tool": {1, failure.ToolFailed, "error of the protocol: -32602"},
				"large":        {1_000_000, failure.ToolResultTooLarge, "larger than 65536 bytes"},
				"number":       {1, failure.ToolResultInvalid, "too large to be told exactly"},
			} {
				got := d.call(tool, row.id, nil)
				assert.Equal(t, row.code, got.Code, "%s: %+v", tool, got)
				assert.Contains(t, got.Message, row.says, tool)
			}
			assert.Equal(t, failure.ToolResultInvalid, d.call("desk/pay", 1, func(m *kerneltools.Manifest) {
				m.Output, _ = value.FromJSON([]byte(`{"type":"object"}`), 100)
			}).Code, "a schema wants structured content")
			got := d.call("large", 5_000_000, nil)
			assert.Equal(t, failure.ToolResultTooLarge, got.Code, "%+v", got)
			assert.Contains(t, got.Message, "sent more than it may")
			assert.True(t, d.call("desk/pay", 2, nil).OK, "the server is there for others")
			got = d.callIn(t.Context(), "hang", 1, 3*time.Second, nil)
			assert.Equal(t, failure.ToolTimeout, got.Code, "%+v", got)
		})
	}
}

// A program that dies in mid-call leaves a call whose end nobody knows; it is started
// again, and the call is not made again by itself.
func TestServerDiesInMidCall(t *testing.T) {
	d := stdio(t, "stdio")
	for id, row := range []struct {
		tool string
		code failure.Code
	}{
		{"die", failure.OutcomeUnknown},
		{"nonsense", failure.ToolResultInvalid},
		{"chatter", failure.ToolResultTooLarge},
	} {
		got := d.call(row.tool, id, nil)
		assert.Equal(t, row.code, got.Code, "%s: %+v", row.tool, got)
		assert.Contains(t, got.Message, "may or may not have happened")
		got = d.call("desk/pay", id, nil)
		assert.True(t, got.OK, "it is there again: %+v", got)
	}
	assert.Equal(t, 1, d.calls("die/0"))
	assert.Equal(t, 4, d.calls("started"))
	got := d.call("die", 9, func(m *kerneltools.Manifest) {
		m.Idempotent, m.Retry = true, kerneltools.Retry{MaxAttempts: 2, BackoffMillis: 1}
	})
	assert.Equal(t, failure.OutcomeUnknown, got.Code)
	assert.Equal(t, 2, d.calls("die/9"), "only a manifest says that it may be called again")
}

// An address that is not there again after the server was killed in mid-call.
func TestWebServerDiesInMidCall(t *testing.T) {
	d := web(t, "/mcp")
	got := d.call("die", 1, nil)
	assert.Equal(t, failure.OutcomeUnknown, got.Code, "%+v", got)
	assert.Equal(t, 1, d.calls("die/1"))
	got = d.call("desk/pay", 1, nil)
	assert.Equal(t, failure.ToolUnreachable, got.Code, "%+v", got)
	assert.Equal(t, "the connection was refused", got.Message)
	assert.Zero(t, d.calls("desk.pay/1"))
	d.serve(strings.TrimSuffix(strings.TrimPrefix(d.config["url"].(string), "http://"), "/mcp"))
	got = d.call("desk/pay", 2, nil)
	assert.True(t, got.OK, "%+v", got)
}

// What never becomes a connection certainly made no call.
func TestServersThatAreNone(t *testing.T) {
	for mode, row := range map[string]struct {
		within time.Duration
		says   string
	}{
		"crash":  {2 * time.Minute, "ended, or closed its stdout, before it answered for the first time"},
		"babble": {30 * time.Second, "is no answer of the protocol"},
		"mute":   {4 * time.Second, "could not be connected to in time"},
	} {
		got := stdio(t, mode).callIn(t.Context(), "desk/pay", 1, row.within, nil)
		assert.Equal(t, failure.ToolUnreachable, got.Code, "%s: %+v", mode, got)
		assert.Contains(t, got.Message, row.says, mode)
	}
	d := newDesk(t, map[string]mcpclient.Server{"desk": {Command: "/no/such/program"}}, map[string]any{"server": "desk"})
	got := d.call("x", 1, nil)
	assert.Equal(t, failure.ToolUnreachable, got.Code)
	assert.Equal(t, "the server could not be started: there is no such program or directory", got.Message)
	for path, row := range map[string]struct {
		code failure.Code
		says string
	}{
		"/elsewhere": {failure.ToolFailed, "redirects, which is not followed"},
		"/busy":      {failure.ToolUnreachable, "status 503"},
		"/nonsense":  {failure.ToolUnreachable, "no answer of the protocol"},
	} {
		got := web(t, path).call("desk/pay", 1, nil)
		assert.Equal(t, row.code, got.Code, "%s: %+v", path, got)
		assert.Contains(t, got.Message, row.says, path)
	}
}

// TO-7, TO-11: a secret goes to whom it is for, and an address that is not public only
// is one where the manifest says so.
func TestSecretsAndAddresses(t *testing.T) {
	d := web(t, "/mcp")
	d.config["private"] = false
	got := d.call("desk/pay", 1, nil)
	assert.Equal(t, failure.ToolFailed, got.Code)
	assert.Contains(t, got.Message, "address of the server is private")
	d.config["private"], d.config["headers"] = true, map[string]any{}
	got = d.call("desk/pay", 1, nil)
	assert.Equal(t, failure.ToolFailed, got.Code)
	assert.Contains(t, got.Message, "status 401")
	d.config["headers"] = map[string]any{"Authorization": "Bearer secret:OTHER"}
	got = d.call("desk/pay", 1, func(m *kerneltools.Manifest) { m.Secrets = []string{"OTHER"} })
	assert.Equal(t, failure.ToolUnreachable, got.Code)
	assert.Contains(t, got.Message, "does not have the secret OTHER")
	assert.Zero(t, d.calls("desk.pay/1"))

	p := stdio(t, "stdio")
	require.True(t, p.call("desk/pay", 1, nil).OK)
	require.Eventually(t, func() bool {
		line := <-p.log.lines
		assert.NotContains(t, line, secret)
		return strings.Contains(line, "serving with secret:KEY")
	}, 30*time.Second, time.Millisecond)
}

// A program is there while one of its tools is, and takes what it started along.
func TestProgramsEndWithTheirTools(t *testing.T) {
	d := stdio(t, "stdio")
	got := d.call("fork", 1, nil)
	require.True(t, got.OK, "%+v", got)
	raw, _ := got.Value.Get("pid")
	child, _ := raw.Int()
	require.NoError(t, syscall.Kill(int(child), 0))
	d.rest()
	require.Eventually(t, func() bool { return mcptest.Ended(int(child)) }, 30*time.Second, 5*time.Millisecond)
}

func TestConfigsOfMCPThatAreRefused(t *testing.T) {
	d := newDesk(t, map[string]mcpclient.Server{"desk": {Command: "x"}}, nil)
	for name, row := range map[string]struct {
		config map[string]any
		field  string
		rule   string
	}{
		"no tool":        {map[string]any{"server": "desk"}, "config.tool", "what the server calls the tool"},
		"nothing":        {map[string]any{"tool": "x"}, "config.server", "must be the name of a server"},
		"both":           {map[string]any{"tool": "x", "server": "desk", "url": "http://a"}, "config.server", "url, headers and private must not"},
		"unknown":        {map[string]any{"tool": "x", "server": "other"}, "config.server", "is no server that this node has"},
		"command":        {map[string]any{"tool": "x", "command": "rm"}, "config.command", "is nothing that kind mcp knows"},
		"no URL":         {map[string]any{"tool": "x", "url": "file:///etc/passwd"}, "config.url", "must begin with http"},
		"user":           {map[string]any{"tool": "x", "url": "http://a:b@c"}, "config.url", "without user"},
		"header":         {map[string]any{"tool": "x", "url": "http://a", "headers": map[string]any{"Host": "b"}}, "config.headers.Host", "is not the manifest's to set"},
		"secret":         {map[string]any{"tool": "x", "url": "http://a", "headers": map[string]any{"A": "secret:X"}}, "config.headers.A", "which secrets must list"},
		"type":           {map[string]any{"tool": 7}, "config.tool", "is of the wrong type"},
		"type of server": {map[string]any{"tool": "x", "server": []any{}}, "config.server", "is of the wrong type"},
	} {
		t.Run(name, func(t *testing.T) {
			c, problem := value.FromGo(row.config)
			require.Nil(t, problem)
			refused := d.registry.Check(&kerneltools.Manifest{Name: "a.b", Adapter: "mcp", Config: c})
			require.NotNil(t, refused)
			assert.Equal(t, row.field, refused.Field)
			assert.Contains(t, refused.Rule, row.rule)
		})
	}
	_, err := d.kind.Make(&kerneltools.Manifest{Name: "a.b", Adapter: "mcp"})
	assert.ErrorIs(t, err, errConfig)
}
