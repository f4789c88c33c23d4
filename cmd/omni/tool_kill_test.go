package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// desk is a real service. It counts the requests for each path, and holds those back
// that it is told to.
type desk struct {
	*httptest.Server
	mu    sync.Mutex // guards seen, held
	seen  map[string]int
	held  map[string]chan struct{}
	wants string // the header that every request must have
}

func newDesk(t *testing.T) *desk {
	d := &desk{seen: make(map[string]int), held: make(map[string]chan struct{})}
	d.Server = httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(func() {
		d.CloseClientConnections()
		d.Close()
	})
	return d
}

func (d *desk) serve(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.seen[r.URL.Path]++
	held := d.held[r.URL.Path]
	d.mu.Unlock()
	if r.Header.Get("Authorization") != d.wants {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"path":%q}`, r.URL.Path)
}

func (d *desk) hold(path string) (release func()) {
	held := make(chan struct{})
	d.mu.Lock()
	d.held[path] = held
	d.mu.Unlock()
	return func() { close(held) }
}

func (d *desk) count(path string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen[path]
}

// write makes a manifest's file.
func (d *desk) write(t *testing.T, name, method, path string, idempotent bool) string {
	file := filepath.Join(t.TempDir(), "tool.yaml")
	timeout := 6000 // a leader's end makes it unknown when its time is over
	if idempotent {
		timeout = 60_000 // an election is within it
	}
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
name: %s
adapter: http
config:
  method: %s
  url: %s%s/{id}
  headers: {Authorization: "Bearer secret:DESK"}
  private: true
secrets: [DESK]
input: {type: object, properties: {id: {type: integer}}, required: [id]}
output: {type: object, required: [path]}
resource: [id]
timeout_ms: %d
idempotent: %t
`, name, method, d.URL, path, timeout, idempotent), 0o600))
	return file
}

// callOf starts an agent that calls the tool and does nothing else.
func (p *processes) callOf(tool string, id int) (agent string) {
	p.t.Helper()
	program, problem := value.FromGo(map[string]any{"kind": "CALL", "payload": map[string]any{"tool": tool, "args": map[string]any{"id": id}, "handle": true}})
	require.Nil(p.t, problem)
	done, err := p.client.Start(p.t.Context(), event.Start{Define: event.Define{
		Program: program, Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: fmt.Sprintf("%s/%d", tool, id)}},
	}})
	require.NoError(p.t, err)
	return done.AgentID
}

func (p *processes) answerOf(agent string) map[string]any {
	p.t.Helper()
	got, err := p.client.Await(p.t.Context(), agent, client.Finished)
	require.NoError(p.t, err)
	require.NotNil(p.t, got.Result, "%+v", got)
	return got.Result.ToGo().(map[string]any)
}

func (p *processes) leader() (i int) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		status, err := p.client.Status(p.t.Context())
		if err != nil {
			return false
		}
		for i = range p.nodes {
			if p.id(i) == status.Leader && p.nodes[i] != nil {
				return true
			}
		}
		return false
	}, 30*time.Second, 20*time.Millisecond)
	return i
}

// TO-4, TO-7, TO-9: a tool is registered on three nodes; the leader is killed while
// calls of it run. What may be made twice is made again, as the revision that it was
// requested with though there is another by then; what may not is made once, and its
// end is unknown. The log is in order, and the secret is nowhere.
func TestRegisteredToolSurvivesItsLeader(t *testing.T) {
	const secret = "a-secret-that-nobody-else-says"
	d := newDesk(t)
	d.wants = "Bearer " + secret
	t.Setenv("OMNI_SECRET_DESK", secret)
	t.Setenv("OMNI_SECRET_DESK_FOR", d.URL)
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.startAll()
	p.alike()
	p.run("tool", "register", "-f", d.write(t, "desk.read", "GET", "/v1", true))
	p.run("tool", "register", "-f", d.write(t, "desk.pay", "POST", "/pay", false))
	assert.Equal(t, "/v1/1", p.answerOf(p.callOf("desk.read", 1))["value"].(map[string]any)["path"])
	assert.JSONEq(t, `{"path":"/pay/2"}`, p.run("tool", "test", "desk.pay", "--args", `{"id":2}`))

	release, free := d.hold("/v1/3"), d.hold("/pay/4")
	reads, pays := p.callOf("desk.read", 3), p.callOf("desk.pay", 4)
	require.Eventually(t, func() bool { return d.count("/v1/3") == 1 && d.count("/pay/4") == 1 }, 20*time.Second, 5*time.Millisecond)
	p.run("tool", "register", "-f", d.write(t, "desk.read", "GET", "/v2", true))
	killed := p.leader()
	p.kill(killed)
	require.Eventually(t, func() bool { return d.count("/v1/3") == 2 }, 30*time.Second, 5*time.Millisecond, "the new leader makes it again")
	assert.Equal(t, "/v2/5", p.answerOf(p.callOf("desk.read", 5))["value"].(map[string]any)["path"], "new calls get the new revision")
	release()
	assert.Equal(t, "/v1/3", p.answerOf(reads)["value"].(map[string]any)["path"])
	assert.Zero(t, d.count("/v2/3"))
	assert.Equal(t, "OUTCOME_UNKNOWN", p.answerOf(pays)["code"])
	free()
	assert.Equal(t, 1, d.count("/pay/4"), "dispatched once, made once")

	p.start(killed)
	p.alike()
	p.run("tool", "deregister", "desk.read")
	assert.Equal(t, "TOOL_UNKNOWN", p.answerOf(p.callOf("desk.read", 6))["code"])
	var dispatched int
	for record, err := range p.client.Records(t.Context(), api.LogQuery{}) {
		require.NoError(t, err)
		if record.Kind == "CALL_DISPATCHED" {
			dispatched++
		}
	}
	assert.Equal(t, 2, dispatched, "one for each payment")
	assert.Contains(t, p.run("log", "audit"), "the log keeps to the rules")
	p.stopAll()
	for i := range p.dirs {
		p.hidden(p.dirs[i], secret)
	}
	p.hidden(p.output, secret)
}

// hidden looks for a secret in every file of a directory.
func (p *processes) hidden(dir, secret string) {
	p.t.Helper()
	require.NoError(p.t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		assert.False(p.t, bytes.Contains(content, []byte(secret)), path)
		return err
	}))
}
