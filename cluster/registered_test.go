package cluster_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// withHTTP gives every node the kind http beside the echo tool.
func withHTTP(t *testing.T) func(*trio) {
	return func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			kind := httprequest.NewKind(httprequest.Options{})
			t.Cleanup(kind.Close)
			registry, err := tools.New(tools.Options{Kinds: []tools.Kind{kind}}, echo.Adapter{})
			require.NoError(t, err)
			config.Tools = registry
		}
	}
}

func (c *trio) callTool(i int, tool string) {
	c.t.Helper()
	outcome := c.do(event.AgentStart, event.Start{Define: event.Define{
		ID: fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", 100+i), Mode: "task",
		Program: kerneltest.JSON(c.t, `{"kind":"CALL","payload":{"tool":"`+tool+`","args":{"n":`+fmt.Sprint(i)+`}}}`),
		Grants:  []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}},
	}})
	require.Empty(c.t, outcome.Refusal)
}

// TO-10: a tool whose service hangs has no more calls under way than its manifest
// allows, and keeps neither the calls of others waiting nor its own for ever: they go
// one after the other when it answers again.
func TestOneToolDoesNotKeepOthersWaiting(t *testing.T) {
	hold := make(chan struct{})
	var open, most, served atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := open.Add(1)
		defer open.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		select {
		case <-hold:
		case <-r.Context().Done():
		}
		served.Add(1)
	}))
	defer service.Close()
	c := newTrio(t, withHTTP(t))
	c.leader()
	config := kerneltest.Value(t, map[string]any{"url": service.URL + "/slow", "private": true})
	outcome := c.do(event.ToolRegister, event.RegisterTool{Manifest: kerneltools.Manifest{
		Name: "slow", Adapter: "http", Config: config, Idempotent: true, Concurrency: 2, TimeoutMillis: 60_000,
	}})
	require.Empty(t, outcome.Refusal)
	const calls = 8
	for i := range calls {
		c.callTool(i, "slow")
	}
	require.Eventually(t, func() bool { return open.Load() == 2 }, 20*time.Second, 5*time.Millisecond)
	for i := range 4 {
		c.callTool(calls+i, "echo")
	}
	c.await(func(s *state.State) bool { return s.Tools.Len() == calls })
	require.EqualValues(t, 2, open.Load())
	close(hold)
	c.await(func(s *state.State) bool { return s.Tools.Len() == 0 })
	require.EqualValues(t, calls, served.Load())
	require.EqualValues(t, 2, most.Load())
	c.sameDigests()
}

// TO-12: what a person answers no node claims: ten thousand questions cost the leader
// no goroutine and no place of its runner.
func TestNobodyClaimsWhatAPersonAnswers(t *testing.T) {
	c := newTrio(t, withHTTP(t))
	c.leader()
	require.Empty(t, c.do(event.ToolRegister, event.RegisterTool{Manifest: kerneltools.Manifest{Name: "ask", Adapter: "human"}}).Refusal)
	before := runtime.NumGoroutine()
	program := kerneltest.JSON(t, `{"kind":"PARALLEL","payload":{"calls":[`+strings.Repeat(`{"tool":"ask"},`, 63)+`{"tool":"ask"}]}}`)
	for range 157 {
		require.Empty(t, c.do(event.AgentStart, event.Start{Define: event.Define{
			Program: program, Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}},
		}}).Refusal)
	}
	c.callTool(1, "echo") // goes past them
	last := c.await(func(s *state.State) bool {
		return s.Tools.Len() == 157*64 && s.Agents.Len() == 158 && s.Agents.Get(158).Execution.Result != nil
	})
	require.Less(t, runtime.NumGoroutine()-before, 1000)
	require.Less(t, last.Index, uint64(1000), "nobody proposes to dispatch them")
}
