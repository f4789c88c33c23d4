package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// callCounts are of the tool calls that this node made, or lent to workers.
type callCounts struct {
	total *prometheus.CounterVec
	took  *prometheus.HistogramVec
}

func (c *callCounts) init() {
	c.total = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "omni_tools_calls_total", Help: "Tool calls that this node made or lent, and that ended here, by kind of adapter and by what they came to: OK or a code.",
	}, []string{"kind", "outcome"})
	c.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "omni_tools_call_seconds", Help: "Time that a call took, from its beginning here to its end, by kind of adapter.", Buckets: slow,
	}, []string{"kind"})
}

// Describe implements prometheus.Collector.
func (c *callCounts) Describe(to chan<- *prometheus.Desc) {
	c.total.Describe(to)
	c.took.Describe(to)
}

// Collect implements prometheus.Collector.
func (c *callCounts) Collect(to chan<- prometheus.Metric) {
	c.total.Collect(to)
	c.took.Collect(to)
}

// Call counts a call that ended. The kind is one that this node has; the code is empty
// for a call that came to a result.
func (m *Metrics) Call(kind string, code failure.Code, took time.Duration) {
	if m == nil {
		return
	}
	outcome := "OK"
	switch {
	case code.OfCall():
		outcome = string(code)
	case code != "":
		outcome = "OTHER"
	}
	m.calls.total.WithLabelValues(kind, outcome).Inc()
	m.calls.took.WithLabelValues(kind).Observe(took.Seconds())
}
