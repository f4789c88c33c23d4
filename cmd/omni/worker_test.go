package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	omniapi "github.com/omnikernel/omnikernel/transport/api"
)

// foreign is a worker in another language, as a process.
type foreign struct {
	name    string
	command []string
}

// foreignWorkers are those of examples/worker: the one in Python, and the one in
// TypeScript with its types taken off. Each is short.
func foreignWorkers(t *testing.T) []foreign {
	t.Helper()
	dir := examplePath(t, "worker")
	for _, name := range []string{"worker.py", "worker.ts"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Less(t, strings.Count(string(content), "\n"), 60, name)
	}
	script := filepath.Join(t.TempDir(), "worker.mjs")
	built := api.Build(api.BuildOptions{EntryPoints: []string{filepath.Join(dir, "worker.ts")}, Outfile: script, Write: true, Format: api.FormatESModule, Target: api.ES2022})
	require.Empty(t, built.Errors)
	return []foreign{{"python", []string{"python3", filepath.Join(dir, "worker.py")}}, {"node", []string{"node", script}}}
}

// begin starts the worker; it is ended with the test.
func (f *foreign) begin(t *testing.T, p *processes, tools ...string) {
	t.Helper()
	output, err := os.Create(filepath.Join(p.output, f.name+".log"))
	require.NoError(t, err)
	cmd := exec.Command(f.command[0], append(f.command[1:], tools...)...)
	var urls []string
	for i := range p.nodes {
		urls = append(urls, p.url(i))
	}
	cmd.Env = append(os.Environ(), serverVariable+"="+strings.Join(urls, ","), "no_proxy=*")
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: that is what it says
		_ = output.Close()
		if content, _ := os.ReadFile(output.Name()); t.Failed() {
			t.Logf("the worker in %s said:\n%s", f.name, content)
		}
	})
}

// lendTool registers a tool of workers.
func (p *processes) lendTool(name string, idempotent bool, leaseMillis int) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "tool.yaml")
	require.NoError(p.t, os.WriteFile(file, fmt.Appendf(nil, `
name: %s
adapter: worker
config: {lease_ms: %d}
output: {type: object, required: [words]}
idempotent: %t
timeout_ms: 300000
`, name, leaseMillis, idempotent), 0o600))
	p.run("tool", "register", "-f", file)
}

// lendAny registers a tool of workers that takes and gives anything.
func (p *processes) lendAny(name string) {
	p.t.Helper()
	_, err := p.client.RegisterTool(p.t.Context(), event.RegisterTool{Manifest: tools.Manifest{Name: name, Adapter: "worker", TimeoutMillis: 300_000}})
	require.NoError(p.t, err)
}

// callWith starts an agent that calls a tool and does nothing else.
func (p *processes) callWith(tool string, args any) (agent string) {
	p.t.Helper()
	program, problem := value.FromGo(map[string]any{"kind": "CALL", "payload": map[string]any{"tool": tool, "args": args, "handle": true}})
	require.Nil(p.t, problem)
	done, err := p.client.Start(p.t.Context(), event.Start{Define: event.Define{
		Program: program, Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: tool}},
	}})
	require.NoError(p.t, err)
	return done.AgentID
}

// callAt starts an agent that has a worker look at an address of the desk.
func (p *processes) callAt(tool string, d *desk, path string) (agent string) {
	p.t.Helper()
	return p.callWith(tool, map[string]any{"url": d.URL + path})
}

// dispatches counts the records that an agent's calls were dispatched by.
func (p *processes) dispatches(agent string) (count int) {
	p.t.Helper()
	for record, err := range p.client.Records(p.t.Context(), omniapi.LogQuery{Agent: agent}) {
		require.NoError(p.t, err)
		if record.Kind == "CALL_DISPATCHED" {
			count++
		}
	}
	return count
}

func counted(n int) map[string]any { return map[string]any{"words": int64(n)} }

// TO-15: workers in Go, in Python and TypeScript with no library of ours, and by hand make
// calls for a cluster of three processes, whose leader is killed while they are at it.
// What must not be made twice was made as often as it is on record as dispatched, and its
// worker hands the result to the new leader.
func TestWorkers(t *testing.T) {
	d := newDesk(t)
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.startAll()
	p.alike()
	p.workersByHand()
	p.goWorkers()
	p.slowWorker()
	both := foreignWorkers(t)
	for _, f := range both {
		p.lendTool("once."+f.name, false, 120_000)
		p.lendTool("again."+f.name, true, 120_000)
		f.begin(t, p, "once."+f.name, "again."+f.name)
	}
	for _, f := range both {
		assert.Equal(t, counted(1), p.answerOf(p.callAt("again."+f.name, d, "/first/"+f.name))["value"])
		once := p.callAt("once."+f.name, d, "/second/"+f.name)
		assert.Equal(t, counted(1), p.answerOf(once)["value"])
		assert.Equal(t, []int{1, 1}, []int{d.count("/second/" + f.name), p.dispatches(once)})
		assert.Equal(t, "TOOL_FAILED", p.answerOf(p.callAt("again."+f.name, &desk{Server: nowhere()}, "/"))["code"])
	}

	var agents []string
	var release []func()
	for _, f := range both {
		path := "/held/" + f.name
		release = append(release, d.hold(path))
		agents = append(agents, p.callAt("once."+f.name, d, path))
		require.Eventually(t, func() bool { return d.count(path) == 1 }, time.Minute, 5*time.Millisecond)
	}
	killed := p.leader()
	p.kill(killed)
	p.leader()
	for i, f := range both {
		release[i]()
		assert.Equal(t, counted(1), p.answerOf(agents[i])["value"], f.name)
		assert.Equal(t, []int{1, 1}, []int{d.count("/held/" + f.name), p.dispatches(agents[i])}, "dispatched once, made once")
		assert.Equal(t, counted(1), p.answerOf(p.callAt("again."+f.name, d, "/after/"+f.name))["value"])
	}
	p.start(killed)
	p.alike()
	assert.Contains(t, p.run("log", "audit"), "the log keeps to the rules")
}

// nowhere is a service that is not there any more.
func nowhere() *httptest.Server {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	return s
}
