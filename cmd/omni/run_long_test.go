//go:build long

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// runDeaths is at how many events of the run, spread over it, the leader is killed.
const runDeaths = 7

// The run of cluster/run_test.go, carried out by real processes: three tasks and a
// budget, whose warning pauses it once, survive the leader's process being killed at
// one of its events. Tasks run once, and the account is exact (RU-1, RU-5, TO-4).
func TestRunWithProcesses(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		shop := newRunShop(t)
		nodes := startCluster(t, store)
		quiet := buyWith(t, nodes, shop, "quiet", 0)
		require.Zero(t, quiet.unknown)
		t.Logf("%d events", quiet.events)
		for n := range uint64(runDeaths) {
			at := 1 + n*(quiet.events-1)/(runDeaths-1)
			t.Run(fmt.Sprint(at), func(t *testing.T) {
				began := time.Now()
				told := buyWith(t, nodes, shop, fmt.Sprintf("death-%d-%d", n, at), at)
				t.Logf("%d events in %.1f s, %d orders are unknown", told.events, time.Since(began).Seconds(), told.unknown)
			})
		}
		out, err := exec.CommandContext(t.Context(), "omni", "--data-dir", nodes.Dir(), "log", "audit").CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
}

// runTold is one run on a cluster.
type runTold struct {
	client  *client.Client
	shop    *runShop
	name    string // part of the shop's URLs
	id      string
	events  uint64
	unknown int // orders of which nobody knows what became
}

// buyWith carries the run out; at other than 0 the leader's process is killed when
// it has published so many of its events.
func buyWith(t *testing.T, nodes *dev.Cluster, shop *runShop, name string, at uint64) *runTold {
	c, err := client.New(nodes.File().APIs(), client.Options{Timeout: time.Minute})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	r := &runTold{client: c, shop: shop, name: name}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	status, _, err := drill.AwaitAlike(ctx, c, time.Minute)
	require.NoError(t, err)
	killed := make(chan error, 1)
	if at > 0 {
		go func() { killed <- killAt(ctx, nodes, status, at) }()
	}
	r.events = r.operate(ctx, t) - leaderOf(status).AppliedIndex
	if at > 0 {
		require.NoError(t, <-killed)
	}
	_, alike, err := drill.AwaitAlike(ctx, c, time.Minute)
	require.NoError(t, err)
	require.True(t, alike, "the digests differ")
	r.judge(ctx, t)
	return r
}

// operate is what the operator does. It returns the index at which the run was over.
func (r *runTold) operate(ctx context.Context, t *testing.T) uint64 {
	t.Helper()
	program, err := os.ReadFile("../../cluster/testdata/purchase.json")
	require.NoError(t, err)
	raw, problem := value.FromJSON(program, 1<<16)
	require.Nil(t, problem)
	config, problem := value.FromGo(map[string]any{"service": r.shop.URL + "/" + r.name})
	require.Nil(t, problem)
	plan := event.PlanRun{
		Name: r.name, Start: true, Config: config,
		Agent: event.Define{
			Program: raw, Budget: &event.Budget{Tokens: 80, WarnPercent: 70},
			Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}},
		},
	}
	for i, name := range []string{"a", "b", "c"} {
		plan.Tasks = append(plan.Tasks, event.RunTask{Name: name, Input: value.AppendString(nil, name)})
		for _, before := range plan.Tasks[:i] {
			plan.Tasks[i].Uses = append(plan.Tasks[i].Uses, before.Name)
		}
	}
	done, err := r.client.PlanRun(ctx, plan)
	require.NoError(t, err)
	r.id = done.AgentID
	r.await(ctx, t, "PAUSED")
	more := uint64(200)
	_, err = r.client.SetBudget(ctx, event.SetBudget{Agent: r.id, Tokens: &more, Reason: "go on"})
	require.NoError(t, err)
	_, err = r.client.ResumeRun(ctx, event.ResumeRun{Run: r.id})
	require.NoError(t, err)
	return r.await(ctx, t, "COMPLETED").Index
}

func (r *runTold) await(ctx context.Context, t *testing.T, state string) (run api.Run) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		run, err = r.client.Run(ctx, r.id)
		return err == nil && run.State == state
	}, time.Minute, 5*time.Millisecond, "the run is not %s", state)
	return run
}

// judge reads the run's records: every task ran once and every call was settled
// once, at what the shop says; the account is the sum.
func (r *runTold) judge(ctx context.Context, t *testing.T) {
	t.Helper()
	var tasks []string
	var spent uint64
	paths := make(map[string]string) // of calls, by their key
	codes := make(map[string]string)
	for record, err := range r.client.Records(ctx, api.LogQuery{Agent: r.id}) {
		require.NoError(t, err)
		var body struct {
			Task, Call uint64
			Tokens     uint64
			How, Code  string
			Args       struct{ URL string }
		}
		require.NoError(t, json.Unmarshal(record.Body, &body))
		key := fmt.Sprint(record.Tick, " ", body.Call)
		switch record.Kind {
		case "RUN_TASK_STARTED", "RUN_TASK_COMPLETED", "RUN_TASK_FAILED":
			tasks = append(tasks, fmt.Sprint(strings.TrimPrefix(record.Kind, "RUN_TASK_"), " ", body.Task))
		case "CALL_REQUESTED":
			require.NotContains(t, paths, key)
			paths[key] = strings.TrimPrefix(body.Args.URL, r.shop.URL+"/"+r.name+"/")
		case "ACTION_EXECUTED", "ACTION_FAILED":
			require.NotContains(t, codes, key)
			codes[key] = body.Code
		case "BUDGET_SETTLED":
			r.settled(t, paths[key], codes[key], body.How, body.Tokens)
			spent += body.Tokens
		}
	}
	require.Equal(t, []string{"STARTED 0", "COMPLETED 0", "STARTED 1", "COMPLETED 1", "STARTED 2", "COMPLETED 2"}, tasks)
	require.Len(t, paths, 6)
	agent, err := r.client.Agent(ctx, r.id)
	require.NoError(t, err)
	require.Equal(t, "TERMINATED", agent.State)
	require.Equal(t, api.Spent{Limit: 200, Settled: spent}, agent.Accounts[0].Tokens)
}

// settled looks at what one call is charged.
func (r *runTold) settled(t *testing.T, what, code, how string, tokens uint64) {
	t.Helper()
	made := r.shop.ordered(r.name + "/" + what)
	switch {
	case code == "":
		require.Equal(t, "reported", how, what)
		require.Equal(t, runPrice[what], tokens, what)
		if strings.HasPrefix(what, "orders/") {
			require.Equal(t, 1, made, what)
		}
	default:
		require.Equal(t, string(failure.OutcomeUnknown), code, what)
		require.LessOrEqual(t, made, 1, what)
		require.Equal(t, "assumed", how, what)
		require.EqualValues(t, 30, tokens, what)
		r.unknown++
	}
}

// runPrice is what each request comes to, in tokens.
var runPrice = map[string]uint64{"orders/a": 20, "orders/b": 27, "orders/c": 23, "items/a": 4, "items/b": 5, "items/c": 6}

// runShop is the world outside of the run.
type runShop struct {
	*httptest.Server

	mu     sync.Mutex // guards orders
	orders map[string]int
}

func newRunShop(t *testing.T) *runShop {
	s := &runShop{orders: make(map[string]int)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP answers GET /RUN/items/NAME and POST /RUN/orders/NAME, and says what
// that cost.
func (s *runShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := strings.TrimPrefix(r.URL.Path, "/")
	time.Sleep(10 * time.Millisecond) // under way, in which a node can die
	if r.Method == http.MethodPost {
		s.mu.Lock()
		s.orders[what]++
		s.mu.Unlock()
	}
	kind, name := path.Base(path.Dir(what)), path.Base(what)
	cost := runPrice[kind+"/"+name]
	w.Header().Set(httprequest.UsageHeader, fmt.Sprintf("tokens=%d, usd-micros=%d", cost, cost*10))
	reply(w, map[string]any{"n": cost})
}

func (s *runShop) ordered(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orders[what]
}
