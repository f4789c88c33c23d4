//go:build long

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/worker"
)

// TO-15: 10,000 agents that wait for workers at once cost no node a goroutine each, and the
// leader less than 200 MiB; when workers come, each agent gets its answer.
func TestManyWaitForWorkers(t *testing.T) {
	for _, idempotent := range []bool{false, true} {
		t.Run(fmt.Sprintf("idempotent %t", idempotent), func(t *testing.T) { manyWaitForWorkers(t, idempotent) })
	}
}

func manyWaitForWorkers(t *testing.T, idempotent bool) {
	const agents = 10_000
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, "--timing", "2")
	profiles := freeAddresses(t, 3)
	for i := range p.nodes {
		p.start(i, "--pprof-addr", profiles[i])
	}
	p.alike()
	_, err := p.client.RegisterTool(t.Context(), event.RegisterTool{Manifest: tools.Manifest{
		Name: "job", Adapter: "worker", TimeoutMillis: 600_000, Concurrency: 1000, Idempotent: idempotent,
	}})
	require.NoError(t, err)
	p.callWith("job", nil) // what a first call needs is there
	leader := p.leader()
	require.Eventually(t, func() bool { return p.waitingFor("job") == 1 }, 30*time.Second, 10*time.Millisecond)
	was, memory := make([]int, 3), p.resident(leader)
	for i := range was {
		was[i] = goroutines(t, profiles[i])
	}

	program, problem := value.FromGo(map[string]any{"kind": "CALL", "payload": map[string]any{"tool": "job", "args": nil, "handle": true}})
	require.Nil(t, problem)
	var commands []api.Command
	for range agents - 1 {
		commands = append(commands, api.NewCommand(event.Start{Define: event.Define{
			Program: program, Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "job"}},
		}}))
	}
	for at := 0; at < len(commands); at += 200 {
		results, err := p.client.Batch(t.Context(), commands[at:min(at+200, len(commands))])
		require.NoError(t, err)
		for _, r := range results {
			require.NoError(t, r.Err)
		}
	}
	require.Eventually(t, func() bool { return p.waitingFor("job") == agents }, 2*time.Minute, 50*time.Millisecond)
	require.Equal(t, leader, p.leader(), "the same one, all the time")
	for i := range was {
		is := goroutines(t, profiles[i])
		t.Logf("%s: %d goroutines, then %d", p.id(i), was[i], is)
		assert.Less(t, is, was[i]+200, p.id(i))
	}
	is := p.resident(leader)
	t.Logf("the leader: %d MiB resident, then %d", memory>>20, is>>20)
	assert.Less(t, is-memory, 200<<20)

	began := time.Now()
	w := worker.New(p.client.Fork(), worker.Options{Name: "many", Concurrency: 1000, Wait: time.Second})
	w.Handle("job", func(context.Context, *worker.Call) (any, error) { return true, nil })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	require.Eventually(t, func() bool { return p.waitingFor("job") == 0 }, 5*time.Minute, 50*time.Millisecond)
	t.Logf("%.0f calls a second", agents/time.Since(began).Seconds())
	stop()
	require.NoError(t, <-ended)
	p.alike()
}

// waitingFor is how many calls of a tool there are, lent or not.
func (p *processes) waitingFor(tool string) (calls int) {
	lending, err := p.client.Lending(p.t.Context())
	if err != nil {
		return -1
	}
	for _, of := range lending.Tools {
		if of.Tool == tool {
			calls = of.Waiting + of.Lent
		}
	}
	return calls
}

var profiled = regexp.MustCompile(`goroutine profile: total (\d+)`)

func goroutines(t *testing.T, address string) int {
	t.Helper()
	response, err := http.Get("http://" + address + "/debug/pprof/goroutine?debug=1")
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	found := profiled.FindSubmatch(text)
	require.NotNil(t, found)
	n, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return n
}

var residentSet = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// resident is how many bytes a node's process has in memory.
func (p *processes) resident(i int) int {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.nodes[i].Process.Pid))
	require.NoError(p.t, err)
	found := residentSet.FindSubmatch(text)
	require.NotNil(p.t, found)
	kib, err := strconv.Atoi(string(found[1]))
	require.NoError(p.t, err)
	return kib << 10
}
