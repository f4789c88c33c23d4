package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/omnikernel/omnikernel/cluster/capacity"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/traces"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// looking reads at a scrape what the node, its API and its log output know anyway.
type looking Metrics

// Describe implements prometheus.Collector: what there is depends on the node.
func (*looking) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (l *looking) Collect(ch chan<- prometheus.Metric) {
	to := told(ch)
	if look := l.output.Load(); look != nil {
		o := (*look)()
		to.gauge("omni_log_sink_blocked_seconds", "How long the node's own log output has been waiting for a reader; 0 while it is read.", o.Blocked.Seconds())
		to.counter("omni_log_sink_dropped_total", "Lines of the node's own log that were dropped: nobody read its output.", float64(o.Dropped))
	}
	if look := l.certificates.Load(); look != nil {
		to.certificates((*look)())
	}
	if look := l.server.Load(); look != nil {
		to.server((*look)())
	}
	if look := l.node.Load(); look != nil {
		n := (*look)()
		to.node(&n)
		if n.Raft != nil {
			to.raft(&n)
			to.tools(&n)
		}
		if s := n.Kernel; s != nil && s.Config != nil {
			to.kernel(s, n.Now)
			agents, exceeded := l.counts.of(s)
			to.agents(agents)
			to.budgets(s, exceeded)
		}
	}
}

// told is who is told of a scrape's values.
type told chan<- prometheus.Metric

func (t told) tell(kind prometheus.ValueType, name, help string, v float64, labels ...string) {
	names, values := make([]string, 0, 1), make([]string, 0, 1)
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	t <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, v, values...)
}

func (t told) gauge(name, help string, v float64, labels ...string) {
	t.tell(prometheus.GaugeValue, name, help, v, labels...)
}

func (t told) counter(name, help string, v float64, labels ...string) {
	t.tell(prometheus.CounterValue, name, help, v, labels...)
}

func (t told) certificates(c Certificates) {
	for _, role := range slices.Sorted(maps.Keys(c.Until)) {
		t.gauge("omni_tls_not_after_seconds", "When the certificate in use ends that ends first, in Unix seconds: the node's own, or one of the authorities that it trusts.", float64(c.Until[role].Unix()), "role", role)
	}
	t.gauge("omni_tls_refused", "1 while the certificate files that are there are not in use, because something is wrong with them.", one(c.Refused))
}

func (t told) server(s Server) {
	t.gauge("omni_api_streams", "Watches, exports and other streams that are being served.", float64(s.Streams))
	t.gauge("omni_api_body_bytes", "Bytes of request bodies that are being worked on.", float64(s.BodyBytes))
	t.gauge("omni_api_connections", "Connections to the API.", float64(s.Connections))
	t.counter("omni_api_over_rate_total", "Requests beyond their caller's rate, refused or only counted.", float64(s.OverRate))
	for _, reason := range slices.Sorted(maps.Keys(s.TurnedAway)) {
		t.counter("omni_api_turned_away_total", "What was turned away, by reason: connections, streams and body_bytes are there being as many as the node takes, rate is a caller's.", float64(s.TurnedAway[reason]), "reason", reason)
	}
}

func (t told) node(n *Node) {
	for _, s := range nodestate.States() {
		t.gauge("omni_node_state", "1 for the state of its lifecycle that the node is in, 0 for the others.", one(s == n.State), "state", string(s))
	}
	t.gauge("omni_node_healthy", "1 while the node does its part, as /readyz says.", one(n.Healthy))
	if n.DiskTotal > 0 {
		t.gauge("omni_node_disk_free_bytes", "Bytes that are free where the node keeps everything.", float64(n.DiskFree))
		t.gauge("omni_node_disk_bytes", "Bytes that there are, free or not.", float64(n.DiskTotal))
	}
	if n.Traces != nil {
		t.traces(n.Traces)
	}
	if b := n.Backups; b != nil {
		if b.CurrentMillis > 0 {
			t.gauge("omni_backup_age_seconds", "How long ago the newest backup that the node made by itself was known to hold everything.", max(0, n.Now.Sub(time.UnixMilli(b.CurrentMillis)).Seconds()))
		}
		t.gauge("omni_backup_failures", "Attempts at a backup that failed since the newest one.", float64(b.Failures))
	}
}

func (t told) traces(c *traces.Counts) {
	t.counter("omni_traces_spans_total", "Spans that were sent and taken.", float64(c.Spans))
	t.counter("omni_traces_failures_total", "Attempts to send spans that failed.", float64(c.Failed))
	t.counter("omni_traces_skipped_records_total", "Records that were left out: this node does not have them any more.", float64(c.Skipped))
	t.gauge("omni_traces_behind_records", "Records of the log that spans are still to be made of.", float64(c.Behind))
}

func (t told) raft(n *Node) {
	r := n.Raft
	role := "follower"
	switch {
	case n.Leads:
		role = "leader"
	case r.State == "Candidate":
		role = "candidate"
	}
	for _, name := range []string{"leader", "follower", "candidate"} {
		t.gauge("omni_raft_state", "1 for what the node is in its Raft group, 0 for the others.", one(name == role), "state", name)
	}
	t.gauge("omni_raft_term", "Raft's term: it rises with every election.", float64(r.Term))
	t.gauge("omni_raft_leader_known", "1 while the node knows who leads.", one(r.Leader.ID != ""))
	t.gauge("omni_raft_last_index", "Index of the last entry in the node's Raft log.", float64(r.LastIndex))
	t.gauge("omni_raft_commit_index", "Index up to which entries are known to be committed.", float64(r.CommitIndex))
	t.gauge("omni_raft_applied_index", "Index of the last entry that the node has applied.", float64(r.Applied))
	t.gauge("omni_raft_last_contact_seconds", "On a follower: how long ago its leader last spoke; 0 on the leader.", lastContact(n, r))
	t.gauge("omni_raft_lag_seconds", "How far the node's state may be behind the leader's; 0 on the leader.", n.Lag.Seconds())
	t.gauge("omni_raft_proposals", "Proposals that are queued or in flight on this node.", float64(r.Open))
	t.counter("omni_raft_restores_total", "Snapshots that the node restored: the one at its start, and those that the leader sent.", float64(r.Restores))
}

func lastContact(n *Node, r *consensus.Status) float64 {
	if n.Leads || r.LastContact.IsZero() {
		return 0
	}
	return max(0, time.Since(r.LastContact).Seconds())
}

func (t told) tools(n *Node) {
	t.gauge("omni_tools_calls_in_flight", "Calls that this node has begun and not ended.", float64(n.Calls))
	t.gauge("omni_tools_lent", "Calls that workers have from this node.", float64(n.Lent))
	t.gauge("omni_tools_lendable", "Calls that wait for a worker at this node.", float64(n.Lendable))
	t.gauge("omni_tools_polls", "Workers that wait for a call at this node.", float64(n.Polls))
	t.gauge("omni_tools_breakers_open", "Tools of which the circuit breaker is open on this node.", float64(n.Breakers))
}

func (t told) kernel(s *state.State, now time.Time) {
	t.counter("omni_kernel_records_total", "Records of the execution log, by the state: the highest busSeq.", float64(s.Log.NextSeq-1))
	t.counter("omni_kernel_log_bytes_total", "Bytes of the execution log since its beginning, archived ones among them.", float64(s.Log.Position))
	t.gauge("omni_kernel_log_segments", "Sealed segments of the execution log.", float64(len(s.Log.Sealed)))
	t.gauge("omni_kernel_version", "The kernel version by which the cluster's events are decided.", float64(s.Version()))
	t.gauge("omni_kernel_version_supported", "The newest kernel version that this program knows.", kernel.Version)
	t.gauge("omni_kernel_clock_seconds", "The kernel's clock, in Unix seconds, as of the last event.", float64(s.Clock)/1000)
	t.gauge("omni_kernel_clock_behind_seconds", "How far the kernel's clock is behind the node's: no event has come for so long.", max(0, now.Sub(time.UnixMilli(s.Clock)).Seconds()))
	t.gauge("omni_kernel_suspended", "1 while an emergency stop holds the cluster.", one(s.Estop.Suspended()))
	t.gauge("omni_kernel_queue_depth", "Agents in the global queue: a tick of theirs is due.", float64(s.Running.Len()))
	t.gauge("omni_kernel_outbox_depth", "Tool calls that are authorised and not resolved.", float64(s.Tools.Len()))
	t.gauge("omni_kernel_timers", "Timers that are set.", float64(s.Timers.Len()))
	t.gauge("omni_kernel_sessions", "Sessions that are open.", float64(s.Sessions.Len()))
	t.gauge("omni_kernel_escalations_open", "Requests that wait for somebody's decision.", float64(s.Escalations.Len()))
	t.gauge("omni_kernel_runs", "Runs that were defined, ended ones among them.", float64(s.Runs.Len()))
	for _, u := range capacity.Of(s) {
		t.gauge("omni_kernel_limit_used_ratio", "How much is used of what the cluster's configuration bounds as a whole, by the limit's name; at 1 more is refused.", u.Share(), "limit", u.Limit)
	}
}

func (t told) agents(counts [lifecycle.States]int) {
	for i, n := range counts {
		t.gauge("omni_kernel_agents", "Agents, by state of their lifecycle.", float64(n), "state", lifecycle.State(i).String())
	}
}

func (t told) budgets(s *state.State, exceeded int) {
	t.gauge("omni_budget_accounts", "Agents that hold an account.", float64(s.Budgets.Len()))
	t.gauge("omni_budget_reservations", "Calls that something is reserved for.", float64(s.Budgets.Open()))
	t.gauge("omni_budget_waiting", "Calls that wait for room in an account.", float64(s.Budgets.Waiters()))
	t.gauge("omni_budget_exceeded", "Accounts that were found beyond one of their limits.", float64(exceeded))
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
