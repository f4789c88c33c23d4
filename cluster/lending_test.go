package cluster_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/cluster/tools/worker"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// newLenders is three nodes that lend the calls of some tools.
func newLenders(t *testing.T) *trio {
	c := newTrio(t, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			registry, err := tools.New(tools.Options{Kinds: []tools.Kind{worker.Kind{}}}, echo.Adapter{})
			require.NoError(t, err)
			config.Tools = registry
		}
	})
	c.leader()
	return c
}

func (c *trio) lendTool(name string, change func(*kerneltools.Manifest)) {
	c.t.Helper()
	m := kerneltools.Manifest{Name: name, Adapter: "worker", TimeoutMillis: 600_000, Config: kerneltest.JSON(c.t, `{"lease_ms":600000}`)}
	if change != nil {
		change(&m)
	}
	require.Empty(c.t, c.do(event.ToolRegister, event.RegisterTool{Manifest: m}).Refusal)
}

// calling starts an agent that calls the tool and keeps what it is answered.
func (c *trio) calling(i int, tool, args string) (id string) {
	c.t.Helper()
	id = fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", 1000+i)
	outcome := c.do(event.AgentStart, event.Start{Define: event.Define{
		ID: id, Mode: "task", Program: kerneltest.JSON(c.t, `{"kind":"CALL","payload":{"tool":"`+tool+`","args":`+args+`,"handle":true}}`),
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}},
	}})
	require.Empty(c.t, outcome.Refusal)
	return id
}

// cameTo waits for the agent's end, and gives the value or the code that it was answered.
func (c *trio) cameTo(id string) any {
	c.t.Helper()
	uuid, _ := flows.ParseID(id)
	var result map[string]any
	c.await(func(s *state.State) bool {
		_, row := s.Find(uuid)
		if row == nil || row.Lifecycle.State != lifecycle.Terminated {
			return false
		}
		result = row.Execution.Result.Value.ToGo().(map[string]any)
		return true
	})
	if result["ok"] == true {
		return result["value"]
	}
	return result["code"]
}

// poll asks the leader, wherever it is, until there is a call.
func (c *trio) poll(most int, names ...string) (loans []cluster.Loan) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Second)
		defer cancel()
		var refused *cluster.Answer
		loans, refused = c.nodes[c.leader()].Lending().Poll(ctx, cluster.WorkQuery{Tools: names, Worker: "w", Most: most})
		return refused == nil && len(loans) > 0
	}, 60*time.Second, 10*time.Millisecond)
	return loans
}

func (c *trio) complete(lease string, v value.Raw) (*cluster.Ended, *cluster.Answer) {
	return c.nodes[c.leader()].Lending().End(c.t.Context(), lease, tools.Succeed(v))
}

func codeOf(a *cluster.Answer) string {
	if a == nil {
		return ""
	}
	return a.Code
}

// TO-15: a call waits for a worker, is judged on its way there and back, and ends with
// what the worker says; who else is asked says who leads.
func TestCallsAreLent(t *testing.T) {
	c := newLenders(t)
	c.lendTool("job", func(m *kerneltools.Manifest) {
		m.Input = kerneltest.JSON(t, `{"type":"object","required":["n"]}`)
		m.Output = kerneltest.JSON(t, `{"type":"integer"}`)
	})
	good, bad, failed, wrong := c.calling(1, "job", `{"n":1}`), c.calling(2, "job", `{"n":2}`), c.calling(3, "job", `{"n":3}`), c.calling(4, "job", `{}`)
	assert.Equal(t, "TOOL_ARGS_INVALID", c.cameTo(wrong))
	loans := make(map[int64]cluster.Loan)
	for len(loans) < 3 {
		for _, l := range c.poll(10, "job", "other") {
			n, _ := l.Args.Get("n")
			number, _ := n.Int()
			loans[number] = l
		}
	}
	assert.Equal(t, good, loans[1].AgentID)
	assert.Equal(t, good+"-1-1", loans[1].IdempotencyKey)
	state := c.await(func(s *state.State) bool { return s.Tools.Len() == 3 })
	state.Tools.All(func(call *kerneltools.Call) bool {
		return assert.NotZero(t, call.Dispatched, "it is on record before a worker has it")
	})
	leading := c.leader()
	for i, n := range c.nodes {
		if i == leading {
			continue
		}
		_, refused := n.Lending().Poll(t.Context(), cluster.WorkQuery{Tools: []string{"job"}, Most: 1})
		require.NotNil(t, refused)
		assert.Equal(t, cluster.CodeNotLeader, refused.Code)
		assert.Equal(t, c.peers[leading].ID, refused.Leader.ID)
	}

	ended, refused := c.complete(loans[1].Lease, kerneltest.Value(t, 7))
	require.Nil(t, refused)
	assert.True(t, ended.Result.OK)
	assert.EqualValues(t, 7, c.cameTo(good))
	_, refused = c.complete(loans[1].Lease, kerneltest.Value(t, 7))
	assert.Equal(t, cluster.CodeStaleResult, codeOf(refused), "once")

	ended, refused = c.complete(loans[2].Lease, kerneltest.Value(t, "seven"))
	require.Nil(t, refused)
	assert.EqualValues(t, "TOOL_RESULT_INVALID", ended.Result.Code)
	assert.Equal(t, "TOOL_RESULT_INVALID", c.cameTo(bad))

	_, refused = c.nodes[leading].Lending().End(t.Context(), loans[3].Lease, tools.Fail("TOOL_FAILED", "no"))
	require.Nil(t, refused)
	assert.Equal(t, "TOOL_FAILED", c.cameTo(failed))
	_, refused = c.complete("1.2.3.4.5", value.Null)
	assert.Equal(t, "INVALID_ARGUMENT", codeOf(refused))
	c.sameDigests()
}

// TO-15, TO-5: what nobody asks for in time certainly did not happen; what was withdrawn
// the worker is told of; and a lease that runs out ends what must not be made twice.
func TestLentCallsEnd(t *testing.T) {
	c := newLenders(t)
	short := func(m *kerneltools.Manifest) {
		m.Config = kerneltest.JSON(t, `{"lease_ms":1000}`)
	}
	c.lendTool("unasked", func(m *kerneltools.Manifest) { m.TimeoutMillis = 2000 })
	c.lendTool("once", short)
	c.lendTool("again", func(m *kerneltools.Manifest) {
		short(m)
		m.Idempotent = true
	})
	c.lendTool("withdrawn", nil)
	assert.Equal(t, "TOOL_UNREACHABLE", c.cameTo(c.calling(1, "unasked", "null")))

	once, again := c.calling(2, "once", "null"), c.calling(3, "again", "null")
	silent, slow := c.poll(1, "once")[0], c.poll(1, "again")[0]
	next := c.poll(1, "again")[0] // when the lease has run out
	assert.Equal(t, slow.AgentID, next.AgentID)
	assert.Equal(t, slow.IdempotencyKey, next.IdempotencyKey)
	assert.Greater(t, next.Fence, slow.Fence)
	_, refused := c.complete(slow.Lease, value.True)
	assert.Equal(t, cluster.CodeLeaseLost, codeOf(refused))
	if _, refused = c.complete(next.Lease, value.True); refused != nil { // a slow machine: it has run out, too
		for codeOf(refused) == cluster.CodeLeaseLost {
			_, refused = c.complete(c.poll(1, "again")[0].Lease, value.True)
		}
	}
	require.Nil(t, refused)
	assert.Equal(t, true, c.cameTo(again))
	assert.Equal(t, "OUTCOME_UNKNOWN", c.cameTo(once))
	_, refused = c.complete(silent.Lease, value.True)
	assert.Equal(t, cluster.CodeStaleResult, codeOf(refused))

	killed := c.calling(4, "withdrawn", "null")
	kept := c.poll(1, "withdrawn")[0]
	_, _, refused = c.nodes[c.leader()].Lending().Extend(kept.Lease)
	require.Nil(t, refused)
	require.Empty(t, c.do(event.AgentKill, event.Kill{Agent: killed}).Refusal)
	_, _, refused = c.nodes[c.leader()].Lending().Extend(kept.Lease)
	assert.Equal(t, cluster.CodeStaleResult, codeOf(refused))
	c.sameDigests()
}

// TO-15, TO-4: after a failover a worker hands the result of what was dispatched to the
// new leader; what may be made twice is lent anew, and its first worker is refused.
func TestLeasesOutliveLeaders(t *testing.T) {
	c := newLenders(t)
	c.lendTool("once", nil)
	c.lendTool("again", func(m *kerneltools.Manifest) { m.Idempotent = true })
	once, again := c.calling(1, "once", "null"), c.calling(2, "again", "null")
	kept, slow := c.poll(1, "once")[0], c.poll(1, "again")[0]
	c.lendsNothingWhileStopped(kept)
	led := c.leader()
	require.Eventually(t, func() bool { return c.nodes[led].Transfer(t.Context(), "") == nil }, 30*time.Second, 50*time.Millisecond)
	require.Eventually(t, func() bool { return c.leader() != led }, 30*time.Second, 10*time.Millisecond)

	next := c.poll(1, "again")[0]
	assert.Greater(t, next.Fence, slow.Fence)
	_, refused := c.complete(slow.Lease, value.False)
	assert.Equal(t, cluster.CodeLeaseLost, codeOf(refused))
	_, refused = c.complete(next.Lease, value.True)
	require.Nil(t, refused)
	assert.Equal(t, true, c.cameTo(again))

	standings, refused := c.nodes[c.leader()].Lending().Standings()
	require.Nil(t, refused)
	for _, s := range standings {
		if s.Tool == "once" {
			assert.Equal(t, []string{once}, s.Agents)
		}
	}
	_, _, refused = c.nodes[c.leader()].Lending().Extend(kept.Lease)
	require.Nil(t, refused)
	_, refused = c.complete(kept.Lease, value.True)
	require.Nil(t, refused)
	assert.Equal(t, true, c.cameTo(once))
	c.sameDigests()
}

// lendsNothingWhileStopped stops everything, and lets it go on (NO-2).
func (c *trio) lendsNothingWhileStopped(kept cluster.Loan) {
	c.t.Helper()
	c.lendTool("waits", func(m *kerneltools.Manifest) { m.Idempotent = true })
	c.calling(9, "waits", "null")
	require.Empty(c.t, c.do(event.KernelSuspend, event.SuspendKernel{Reason: "test"}).Refusal)
	ctx, cancel := context.WithTimeout(c.t.Context(), 300*time.Millisecond)
	defer cancel()
	loans, _ := c.nodes[c.leader()].Lending().Poll(ctx, cluster.WorkQuery{Tools: []string{"waits"}, Most: 1})
	assert.Empty(c.t, loans)
	_, _, refused := c.nodes[c.leader()].Lending().Extend(kept.Lease)
	assert.Nil(c.t, refused, "what is lent goes on")
	require.Empty(c.t, c.do(event.KernelResume, event.ResumeKernel{}).Refusal)
	assert.Equal(c.t, "waits", c.poll(1, "waits")[0].Tool)
}

// TO-15: agents that wait for workers cost no node a goroutine each.
func TestWaitingForWorkersCostsNoGoroutines(t *testing.T) {
	const calls = 200
	c := newLenders(t)
	c.lendTool("job", func(m *kerneltools.Manifest) { m.Idempotent = true })
	c.calling(0, "job", "null")
	c.await(func(s *state.State) bool { return s.Tools.Len() == 1 })
	before := runtime.NumGoroutine()
	for i := range calls - 1 {
		c.calling(i+1, "job", "null")
	}
	waiting := func() (waiting int) {
		standings, refused := c.nodes[c.leader()].Lending().Standings()
		if refused == nil && len(standings) == 1 {
			waiting = standings[0].Waiting
		}
		return waiting
	}
	require.Eventually(t, func() bool { return waiting() == calls }, 30*time.Second, 10*time.Millisecond)
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < before+calls/2 }, 30*time.Second, 10*time.Millisecond)
}
