package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// fragile is std/1 under another name, with one difference: whoever runs a tick
// of it is dead, as by a fault of the runtime that nothing recovers from.
type fragile struct{ evaluator.Evaluator }

type fragileProgram struct{ evaluator.Program }

const fragileName = "fragile/1"

func fragileLookup(name string) (evaluator.Evaluator, bool) {
	switch name {
	case fragileName:
	case shakyName:
		return shakyLookup()
	default:
		return registry.Lookup(name)
	}
	std, ok := registry.Lookup("std/1")
	return fragile{std}, ok
}

func (fragile) Name() string { return fragileName }

func (f fragile) Compile(program value.Raw) (evaluator.Program, *failure.Refusal) {
	compiled, refusal := f.Evaluator.Compile(program)
	return fragileProgram{compiled}, refusal
}

func (fragileProgram) Start(evaluator.Context) evaluator.Tick {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until it comes
}

// crashLoop is a cluster, the files of its nodes, and what they say.
type crashLoop struct {
	t       *testing.T
	omni    string
	cluster *dev.Cluster
	client  *client.Client
}

// An event that ends every process that applies it: three ends, and a node
// holds itself, up and talking, with all else refused. Quarantined on all
// nodes, the event is a recorded refusal and they go on alike (EV-14).
func TestSafeMode(t *testing.T) { overStores(t, safeMode) }

func safeMode(t *testing.T, store raftstore.Kind) {
	omni, err := exec.LookPath("omni-fragile")
	require.NoError(t, err)
	s := &crashLoop{t: t, omni: omni}
	s.cluster, err = dev.Start(t.Context(), dev.Options{
		Binary: omni, DataDir: t.TempDir(), RestartDelay: 50 * time.Millisecond, ServerFlags: serverFlagsOf(store),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.cluster.Stop()) })
	s.client, err = client.New(s.cluster.File().APIs(), client.Options{Timeout: 30 * time.Second})
	require.NoError(t, err)
	t.Cleanup(s.client.Close)

	code, _ := s.start("alive", "std/1")
	require.Equal(t, http.StatusCreated, code)
	code, _ = s.start("deadly", fragileName)
	require.Zero(t, code, "nobody survives to answer")

	held := s.awaitHeld()
	pids := s.pids()
	for id, safe := range held {
		assert.Equal(t, "AGENT_START", safe.Kind)
		s.requireRefuses(id, safe)
	}
	for id := range held {
		assert.Equal(t, pids[id], s.pids()[id], "a held node stays up")
	}

	s.quarantine(held)
	_, alike, err := drill.AwaitAlike(t.Context(), s.client, 30*time.Second)
	require.NoError(t, err)
	assert.True(t, alike)
	code, said := s.start("deadly", fragileName) // the same key
	assert.Equal(t, http.StatusConflict, code, said)
	for _, safe := range held {
		assert.Contains(t, said, `"code":"QUARANTINED","definite":true`)
		assert.Contains(t, said, fmt.Sprintf(`"index":%d`, safe.Index))
	}
	s.requireRecorded(held)
	code, said = s.start("well again", "std/1")
	assert.Equal(t, http.StatusCreated, code, said)
}

// start sends one command to the leader, under its name as a key. The code is 0
// when no answer came.
func (s *crashLoop) start(name, evaluatorName string) (code int, said string) {
	status, err := s.client.Status(s.t.Context())
	require.NoError(s.t, err)
	leader, ok := s.cluster.File().Find(status.Leader)
	require.True(s.t, ok, "%+v", status)
	body := fmt.Sprintf(`{"agent":{"name":%q,"evaluator":%q,"program":{"kind":"LITERAL","payload":{"value":1}}}}`, name, evaluatorName)
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, leader.API+"/v1/kernels/default/agents/start", strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", name)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(answer)
}

// awaitHeld waits until so many nodes are in safe mode that no others can lead:
// then nobody applies the event any more.
func (s *crashLoop) awaitHeld() map[string]*api.SafeMode {
	s.t.Helper()
	held := make(map[string]*api.SafeMode)
	require.Eventually(s.t, func() bool {
		for _, node := range s.cluster.File().Nodes {
			if health, err := s.client.Health(s.t.Context(), client.Node(node.API)); err == nil && health.SafeMode != nil {
				held[node.ID] = health.SafeMode
			}
		}
		return len(held) >= 2
	}, time.Minute, 20*time.Millisecond)
	return held
}

func (s *crashLoop) pids() map[string]int {
	pids := make(map[string]int)
	for _, node := range s.cluster.File().Nodes {
		pids[node.ID] = node.PID
	}
	return pids
}

// requireRefuses asks a held node for everything, as people do.
func (s *crashLoop) requireRefuses(id string, safe *api.SafeMode) {
	node, _ := s.cluster.File().Find(id)
	for _, path := range []string{"/healthz", "/readyz"} {
		response, err := http.Get(node.API + path)
		require.NoError(s.t, err)
		assert.NoError(s.t, response.Body.Close())
		assert.Equal(s.t, http.StatusServiceUnavailable, response.StatusCode)
	}
	call := func(want int, args ...string) (stdout, stderr string) {
		var out, errs bytes.Buffer
		command := exec.CommandContext(s.t.Context(), s.omni, append([]string{"--server", node.API, "--timeout", "1s"}, args...)...)
		command.Stdin = strings.NewReader("name: ghost\n")
		command.Stdout, command.Stderr = &out, &errs
		_ = command.Run() // its exit code tells
		require.Equal(s.t, want, command.ProcessState.ExitCode(), errs.String())
		return out.String(), errs.String()
	}
	sentence := fmt.Sprintf("error: SAFE_MODE: applying the event at index %d (AGENT_START, digest %s) ended this node's process 3 times", safe.Index, safe.Digest)
	for _, args := range [][]string{
		{"agent", "define", "-f", "-"},
		{"agent", "list", "--node", node.API, "--consistency", "stale"},
		{"agent", "list", "--node", node.API},
		{"log", "export", "--node", node.API},
		{"log", "--follow"},
		{"cluster", "transfer"},
	} {
		_, stderr := call(1, args...)
		assert.Contains(s.t, stderr, sentence, args)
	}
	stdout, _ := call(0, "cluster", "status")
	assert.Regexp(s.t, `(?m)^`+id+` +safe_mode .* unhealthy `, stdout)
	assert.Contains(s.t, stdout, id+": SAFE_MODE: applying the event at index ")
	assert.Contains(s.t, stdout, "quarantine.json")
}

// quarantine does what the hint says, on every node.
func (s *crashLoop) quarantine(held map[string]*api.SafeMode) {
	file := func(id string) string {
		return filepath.Join(s.cluster.Dir(), id, "kernels", "default", "quarantine.json")
	}
	var content string // the same on all
	for id, safe := range held {
		content = fmt.Sprintf(`[{"index":%d,"digest":%q}]`, safe.Index, safe.Digest)
		assert.Contains(s.t, safe.Hint, "put "+content+" into "+file(id))
	}
	for _, node := range s.cluster.File().Nodes {
		require.NoError(s.t, os.WriteFile(file(node.ID), []byte(content), 0o600))
	}
	for _, node := range s.cluster.File().Nodes {
		require.NoError(s.t, s.cluster.Signal(node.ID, syscall.SIGTERM))
	}
}

// requireRecorded finds the refusal in the log of every node, and no agent.
func (s *crashLoop) requireRecorded(held map[string]*api.SafeMode) {
	for _, node := range s.cluster.File().Nodes {
		var at []uint64
		for record, err := range s.client.Records(s.t.Context(), api.LogQuery{}, client.Node(node.API)) {
			require.NoError(s.t, err)
			if record.Kind == "QUARANTINED" {
				at = append(at, record.Index)
			}
		}
		for _, safe := range held {
			assert.Equal(s.t, []uint64{safe.Index}, at, node.ID)
		}
		page, err := s.client.Agents(s.t.Context(), api.AgentQuery{}, client.Node(node.API))
		require.NoError(s.t, err)
		assert.Len(s.t, page.Agents, 1, node.ID)
	}
}
