package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/metrics"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/identity"
)

// families are a node's metrics, by name.
type families map[string]*dto.MetricFamily

// scrape asks a node as Prometheus does.
func (p *processes) scrape(i int) families {
	p.t.Helper()
	response, err := http.Get(p.url(i) + "/metrics")
	require.NoError(p.t, err)
	defer response.Body.Close()
	require.Equal(p.t, http.StatusOK, response.StatusCode)
	require.Contains(p.t, response.Header.Get("Content-Type"), "text/plain")
	content, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	found, err := parser.TextToMetricFamilies(strings.NewReader(string(content)))
	require.NoError(p.t, err)
	return found
}

// value is that of the one metric of a name with those labels, pairs of a name and a
// value; false when there is none.
func (f families) value(name string, labels ...string) (float64, bool) {
	for _, m := range f[name].GetMetric() {
		if !labelled(m, labels) {
			continue
		}
		switch {
		case m.Gauge != nil:
			return m.GetGauge().GetValue(), true
		case m.Counter != nil:
			return m.GetCounter().GetValue(), true
		case m.Histogram != nil:
			return float64(m.GetHistogram().GetSampleCount()), true
		}
	}
	return 0, false
}

func labelled(m *dto.Metric, pairs []string) bool {
	for i := 0; i+1 < len(pairs); i += 2 {
		if !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == pairs[i] && l.GetValue() == pairs[i+1] }) {
			return false
		}
	}
	return true
}

// ours are the names that are not the Go runtime's.
func (f families) ours() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f)), func(name string) bool { return !strings.HasPrefix(name, "omni_") })
}

// traffic is a little of everything that is counted: an agent with a tool call, a
// command that the kernel refuses.
func (p *processes) traffic() (agent string) {
	p.t.Helper()
	program, problem := value.FromJSON([]byte(`{"kind":"CALL","payload":{"tool":"echo","args":{"text":"seen"}}}`), 1<<10)
	require.Nil(p.t, problem)
	started, err := p.client.Start(p.t.Context(), event.Start{Define: event.Define{
		Name: "seen", Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "echo"}}, Program: program,
	}})
	require.NoError(p.t, err)
	_, err = p.client.Kill(p.t.Context(), event.Kill{Agent: "018f4e5c-0000-7000-8000-000000000001"})
	require.Error(p.t, err)
	return started.AgentID
}

// What operators see of real nodes: metrics as they are documented, alerts and a
// dashboard that name nothing else, and values that are the cluster's.
func TestSeeing(t *testing.T) {
	backups, collector := t.TempDir(), newCollector(t)
	t.Setenv("OTEL_SERVICE_NAME", "seen-by-a-test")
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, "--timing", "2", "--backup-dir", backups, "--backup-every", "1s", "--log-format", "json", "--otlp-endpoint", collector.URL, "--limit", "max_agents=1000")
	p.startAll()
	agent := p.traffic()
	p.alike()

	all := make(families) // of all nodes
	require.Eventually(t, func() bool {
		leaders := 0.0
		for i := range p.nodes {
			one := p.scrape(i)
			leads, _ := one.value("omni_raft_state", "state", "leader")
			leaders += leads
			maps.Copy(all, one)
		}
		_, backedUp := all.value("omni_backup_age_seconds")
		_, called := all.value("omni_tools_calls_total", "kind", "echo", "outcome", "OK") // by who leads
		return leaders == 1 && backedUp && called
	}, time.Minute, 50*time.Millisecond)

	maps.Copy(all, certificateFamilies(t))

	t.Run("values", func(t *testing.T) { seenValues(t, p) })
	t.Run("documentation", func(t *testing.T) { seenDocumentation(t, all) })
	t.Run("alerts", func(t *testing.T) { seenAlerts(t, all) })
	t.Run("dashboard", func(t *testing.T) { seenDashboard(t, all) })
	t.Run("labels", func(t *testing.T) {
		total := 0
		for _, name := range all.ours() {
			total += len(all[name].GetMetric())
		}
		require.Less(t, total, 400, "series of one node")
	})
	t.Run("log", func(t *testing.T) {
		content, err := os.ReadFile(p.outputOf(0))
		require.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			if strings.HasPrefix(line, "{") {
				require.Contains(t, line, `"@level"`)
				return
			}
		}
		t.Fatal("no line of the log is JSON")
	})
	t.Run("top", func(t *testing.T) { seenTop(t, p) })
	t.Run("traces", func(t *testing.T) { seenTraces(t, p, collector, agent) }) // it stops a node
}

// certificateFamilies are what a node with TLS exports beside the rest, of what its store
// of certificates says; these nodes have none.
func certificateFamilies(t *testing.T) families {
	soon := time.Now().Add(time.Hour).Truncate(time.Second)
	m := metrics.New(metrics.Build{})
	m.WatchCertificates(func() metrics.Certificates {
		return certificatesOf(identity.State{Certificates: []identity.Expiry{
			{Role: "node", NotAfter: soon.Add(time.Hour)}, {Role: "authority", NotAfter: soon.Add(time.Hour)}, {Role: "authority", NotAfter: soon},
		}})
	})
	gathered, err := m.Registry().Gather()
	require.NoError(t, err)
	found := make(families)
	for _, f := range gathered {
		if strings.HasPrefix(f.GetName(), "omni_tls_") {
			found[f.GetName()] = f
		}
	}
	until, _ := found.value("omni_tls_not_after_seconds", "role", "authority")
	require.InDelta(t, float64(soon.Unix()), until, 0)
	return found
}

func seenValues(t *testing.T, p *processes) {
	for i := range p.nodes {
		f := p.scrape(i)
		for _, want := range []struct {
			least  float64
			name   string
			labels []string
		}{
			{1, "omni_kernel_events_total", []string{"kind", "AGENT_START"}},
			{1, "omni_kernel_refusals_total", []string{"code", "NOT_FOUND"}},
			{1, "omni_kernel_agents", nil},
			{3, "omni_kernel_apply_seconds", nil},
			{2, "omni_raft_term", nil},
			{1, "omni_raft_leader_known", nil},
			{1, "omni_node_state", []string{"state", "Running"}},
			{1 << 20, "omni_node_disk_free_bytes", nil},
			{1, "omni_kernel_version", nil},
			{1, "omni_raft_state_changes_total", []string{"state", "follower"}},
		} {
			if want.name == "omni_kernel_agents" {
				sum := 0.0
				for _, m := range f[want.name].GetMetric() {
					sum += m.GetGauge().GetValue()
				}
				require.Equal(t, 1.0, sum, "one agent, in one state")
				continue
			}
			got, found := f.value(want.name, want.labels...)
			require.True(t, found, "%s%v of %s", want.name, want.labels, p.id(i))
			require.GreaterOrEqual(t, got, want.least, "%s%v of %s", want.name, want.labels, p.id(i))
		}
		used, _ := f.value("omni_kernel_limit_used_ratio", "limit", "max_agents")
		require.InDelta(t, 0.001, used, 0, "one of 1000")
		leader, _ := f.value("omni_raft_store_seconds", "role", "leader")
		follower, _ := f.value("omni_raft_store_seconds", "role", "follower")
		require.Positive(t, leader+follower, "writes of %s", p.id(i))
	}
}

const metricsDoc = "../../docs/metrics.md"

// docs/metrics.md has a table of what nodes export: no name less, none more.
func seenDocumentation(t *testing.T, all families) {
	var table strings.Builder
	table.WriteString("| name | kind | labels | what |\n|---|---|---|---|\n")
	for _, name := range all.ours() {
		f := all[name]
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), strings.Join(labelsOf(f), ", "), f.GetHelp())
	}
	content, err := os.ReadFile(metricsDoc)
	require.NoError(t, err)
	const begin, end = "<!-- metrics: written by UPDATE_METRICS=1 go test ./cmd/omni -run TestSeeing -->\n", "<!-- /metrics -->"
	before, rest, ok := strings.Cut(string(content), begin)
	require.True(t, ok)
	written, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if os.Getenv("UPDATE_METRICS") != "" {
		require.NoError(t, os.WriteFile(metricsDoc, []byte(before+begin+table.String()+end+after), 0o600))
		return
	}
	require.Equal(t, table.String(), written, "run it with UPDATE_METRICS=1")
}

// labelsOf are the names of a family's labels.
func labelsOf(f *dto.MetricFamily) (names []string) {
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			if !slices.Contains(names, l.GetName()) {
				names = append(names, l.GetName())
			}
		}
	}
	slices.Sort(names)
	return names
}
