package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	gometrics "github.com/hashicorp/go-metrics/compat"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// published is a state with so many agents, a third of each of three states.
func published(agents int) *state.State {
	s := state.New("default")
	limits := config.Default()
	s.Config, s.Index = &limits, 7
	for i := range agents {
		_, row := s.Agents.Append()
		row.Lifecycle.State = []lifecycle.State{lifecycle.Active, lifecycle.Waiting, lifecycle.Terminated}[i%3]
	}
	return s.Publish()
}

func scraped(t testing.TB, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler(hclog.NewNullLogger()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.String()
}

// Agents are counted once for a state, and when counting is dear not for every state.
func TestAgentsAreCountedOnce(t *testing.T) {
	var c agentCounts
	s := published(9)
	count := func() int {
		agents, _ := c.of(s)
		return agents[lifecycle.Waiting]
	}
	require.Equal(t, 3, count())
	index := s.Index
	s = published(30)
	require.Equal(t, 3, count(), "it is the same index")
	s.Index, c.took = index+1, time.Hour
	require.Equal(t, 3, count(), "counting took an hour")
	c.took = 0
	require.Equal(t, 10, count())
}

// A node that has nothing but its lifecycle is told of with that.
func TestNodeThatIsHeld(t *testing.T) {
	m := New(Build{Version: "v1", Commit: "abc", Go: "go1"})
	require.NotContains(t, scraped(t, m), "omni_node_state")
	m.WatchNode(func() Node { return Node{State: nodestate.Crashed} })
	text := scraped(t, m)
	require.Contains(t, text, `omni_node_state{state="Crashed"} 1`)
	require.Contains(t, text, `omni_build_info{commit="abc",go="go1",version="v1"} 1`)
	require.NotContains(t, text, "omni_raft_term")
	require.NotContains(t, text, "omni_kernel_agents")
}

// What Raft tells is taken by a list: a name with a peer's id in it makes no series.
func TestRaftIsHeardByAList(t *testing.T) {
	m := New(Build{})
	sink := (*raftSink)(&m.raft)
	before := strings.Count(scraped(t, m), "\n")
	sink.AddSample([]string{"raft", "replication", "heartbeat", "n7"}, 3)
	sink.AddSampleWithLabels([]string{"raft", "replication", "heartbeat"}, 3, []gometrics.Label{{Name: "peer_id", Value: "n7"}})
	sink.IncrCounter([]string{"raft", "replication", "appendEntries", "logs", "n7"}, 1)
	sink.SetGauge([]string{"raft", "peers"}, 3)
	sink.AddSample([]string{"raft", "leader", "dispatchLog"}, 250)
	sink.IncrCounter([]string{"raft", "state", "leader"}, 2)
	text := scraped(t, m)
	require.Equal(t, before, strings.Count(text, "\n"), "lines")
	require.NotContains(t, text, "n7")
	require.Contains(t, text, `omni_raft_store_seconds_sum{role="leader"} 0.25`)
	require.Contains(t, text, `omni_raft_state_changes_total{state="leader"} 2`)
}

// Codes and kinds that the program does not know make no series of their own.
func TestLabelsAreBounded(t *testing.T) {
	m := New(Build{})
	m.Call("http", failure.ToolTimeout, time.Second)
	m.Call("http", "WHATEVER_AN_ADAPTER_SAYS", time.Second)
	m.Call("http", "", time.Second)
	a := m.Applier()
	a.Batch(2)
	a.Applied(event.AgentDefine, &event.Outcome{})
	a.Applied(event.Kind(60_000), &event.Outcome{Refusal: failure.Refusal{Code: failure.NotFound}})
	m.Request("list-agents", false)(http.StatusOK)
	m.Request("watch-log", true)(0)
	text := scraped(t, m)
	for _, want := range []string{
		`omni_tools_calls_total{kind="http",outcome="TOOL_TIMEOUT"} 1`, `omni_tools_calls_total{kind="http",outcome="OTHER"} 1`,
		`omni_tools_calls_total{kind="http",outcome="OK"} 1`, `omni_kernel_events_total{kind="AGENT_DEFINE"} 1`,
		`omni_kernel_refusals_total{code="NOT_FOUND"} 1`, `omni_kernel_apply_seconds_count 2`, `omni_kernel_batch_events_sum 2`,
		`omni_api_requests_total{route="list-agents",status="2xx"} 1`, `omni_api_requests_total{route="watch-log",status="cut"} 1`,
		`omni_api_requests_in_flight 0`,
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "WHATEVER")
	require.NotContains(t, text, `omni_api_request_seconds_count{route="watch-log"}`)
}

// Nobody needs to have metrics.
func TestNoMetrics(t *testing.T) {
	var m *Metrics
	require.Nil(t, m.Applier())
	m.Call("http", "", 0)
	m.Request("x", false)(http.StatusOK)
	m.WatchNode(nil)
	m.WatchServer(nil)
	m.WatchOutput(nil)
}

// What a scrape costs with 100,000 agents, all of which are counted.
func BenchmarkScrape(b *testing.B) {
	s := published(100_000)
	m := New(Build{})
	m.WatchNode(func() Node { return Node{State: nodestate.Running, Kernel: s} })
	for b.Loop() {
		m.counts.known = false
		scraped(b, m)
	}
}

// What counting one event adds to its Apply.
func BenchmarkApplied(b *testing.B) {
	a := New(Build{}).Applier()
	outcome := &event.Outcome{}
	a.Batch(1)
	for b.Loop() {
		a.Applied(event.AgentSubmit, outcome)
	}
}
