package metrics

import (
	"strings"

	gometrics "github.com/hashicorp/go-metrics/compat"
	"github.com/prometheus/client_golang/prometheus"
)

// raftCounts are what the Raft library measures of itself, as far as it is listed here.
// Whatever else it tells is dropped: some of its names have a peer's id in them.
type raftCounts struct {
	samples  map[string]prometheus.Observer // of milliseconds
	counters map[string]prometheus.Counter
	all      []prometheus.Collector
}

func (r *raftCounts) init() {
	r.samples, r.counters = make(map[string]prometheus.Observer), make(map[string]prometheus.Counter)
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
		r.all = append(r.all, h)
		return h
	}
	r.samples["raft.commitTime"] = histogram("omni_raft_commit_seconds", "On the leader: from an entry's beginning to its commit by a majority.", disk)
	r.samples["raft.leader.lastContact"] = histogram("omni_raft_leader_last_contact_seconds", "On the leader: how long ago a majority last answered, at each look.", disk)
	r.samples["raft.snapshot.persist"] = histogram("omni_raft_snapshot_seconds", "Time to write a snapshot.", long)
	r.samples["raft.fsm.restore"] = histogram("omni_raft_restore_seconds", "Time to restore a snapshot: at a start, or from the leader.", long)
	r.samples["raft.rpc.installSnapshot"] = histogram("omni_raft_install_seconds", "Time to take in a snapshot that the leader sent, this node having been too far behind.", long)
	store := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "omni_raft_store_seconds", Help: "Time to write entries to the Raft log and fsync it, as leader or as follower.", Buckets: disk,
	}, []string{"role"})
	r.samples["raft.leader.dispatchLog"] = store.WithLabelValues("leader")
	r.samples["raft.rpc.appendEntries.storeLogs"] = store.WithLabelValues("follower")
	states := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "omni_raft_state_changes_total", Help: "Times that this node became leader, follower or candidate.",
	}, []string{"state"})
	for _, state := range []string{"leader", "follower", "candidate"} {
		r.counters["raft.state."+state] = states.WithLabelValues(state)
	}
	lost := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "omni_raft_timeouts_total", Help: "heartbeat: a follower heard nothing of its leader; lease: a leader heard nothing of a majority.",
	}, []string{"kind"})
	r.counters["raft.transition.heartbeat_timeout"] = lost.WithLabelValues("heartbeat")
	r.counters["raft.transition.leader_lease_timeout"] = lost.WithLabelValues("lease")
	r.all = append(r.all, store, states, lost)
}

// Describe implements prometheus.Collector.
func (r *raftCounts) Describe(to chan<- *prometheus.Desc) {
	for _, c := range r.all {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (r *raftCounts) Collect(to chan<- prometheus.Metric) {
	for _, c := range r.all {
		c.Collect(to)
	}
}

// HearRaft takes over what the Raft library tells, for the whole process: its metrics
// are global.
func (m *Metrics) HearRaft() error {
	c := gometrics.DefaultConfig("")
	c.EnableHostname, c.EnableHostnameLabel, c.EnableServiceLabel, c.EnableTypePrefix, c.EnableRuntimeMetrics = false, false, false, false, false
	_, err := gometrics.NewGlobal(c, (*raftSink)(&m.raft))
	return err
}

// raftSink is the library's way in.
type raftSink raftCounts

var _ gometrics.MetricSink = (*raftSink)(nil)

// SetGauge drops it: what the library has as gauges is read where it is.
func (*raftSink) SetGauge([]string, float32) {}

// SetGaugeWithLabels drops it.
func (*raftSink) SetGaugeWithLabels([]string, float32, []gometrics.Label) {}

// EmitKey drops it.
func (*raftSink) EmitKey([]string, float32) {}

// IncrCounter adds to a counter that is listed.
func (r *raftSink) IncrCounter(key []string, n float32) {
	if c, ok := r.counters[strings.Join(key, ".")]; ok && n >= 0 {
		c.Add(float64(n))
	}
}

// IncrCounterWithLabels adds to a counter that is listed, without the labels.
func (r *raftSink) IncrCounterWithLabels(key []string, n float32, _ []gometrics.Label) {
	r.IncrCounter(key, n)
}

// AddSample takes a duration that is listed.
func (r *raftSink) AddSample(key []string, millis float32) {
	if h, ok := r.samples[strings.Join(key, ".")]; ok {
		h.Observe(float64(millis) / 1000)
	}
}

// AddSampleWithLabels takes a duration that is listed, without the labels.
func (r *raftSink) AddSampleWithLabels(key []string, millis float32, _ []gometrics.Label) {
	r.AddSample(key, millis)
}
