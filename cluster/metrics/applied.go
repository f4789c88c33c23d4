package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/omnikernel/omnikernel/kernel/event"
)

// lastKind bounds the numbers of event kinds that are counted by name.
const lastKind = 255

// appliedCounts are counted as an event's result leaves the state machine: entries that a
// start applies again are among them.
type appliedCounts struct {
	kinds    [lastKind + 1]prometheus.Counter // nil: no kind of that number
	events   *prometheus.CounterVec
	refusals *prometheus.CounterVec
	took     prometheus.Histogram
	batches  prometheus.Histogram
}

func (a *appliedCounts) init() {
	a.events = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "omni_kernel_events_total", Help: "Events that this process applied, by kind; those that a start applied again are among them.",
	}, []string{"kind"})
	a.refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "omni_kernel_refusals_total", Help: "Events that this process applied and the kernel refused, by code.",
	}, []string{"code"})
	a.took = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "omni_kernel_apply_seconds", Help: "Time to apply one event: decided, recorded, and handed to the execution log.", Buckets: quick,
	})
	a.batches = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "omni_kernel_batch_events", Help: "Entries that consensus handed over together.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256},
	})
	for kind := range event.Kind(lastKind + 1) {
		if kind.Known() {
			a.kinds[kind] = a.events.WithLabelValues(kind.String())
		}
	}
}

// Describe implements prometheus.Collector.
func (a *appliedCounts) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(a, to) }

// Collect implements prometheus.Collector.
func (a *appliedCounts) Collect(to chan<- prometheus.Metric) {
	a.events.Collect(to)
	a.refusals.Collect(to)
	a.took.Collect(to)
	a.batches.Collect(to)
}

// Applier follows one state machine, on its goroutine: it is an fsm.Observer.
type Applier struct {
	counts *appliedCounts
	since  time.Time
}

// Applier follows a state machine; nil when nothing is counted.
func (m *Metrics) Applier() *Applier {
	if m == nil {
		return nil
	}
	return &Applier{counts: &m.applied}
}

// Batch is told that so many entries begin to be applied.
func (a *Applier) Batch(entries int) {
	a.counts.batches.Observe(float64(entries))
	a.since = time.Now()
}

// Applied is told what one event came to, of a batch that began.
func (a *Applier) Applied(kind event.Kind, outcome *event.Outcome) {
	now := time.Now()
	a.counts.took.Observe(now.Sub(a.since).Seconds())
	a.since = now
	if kind <= lastKind && a.counts.kinds[kind] != nil {
		a.counts.kinds[kind].Inc()
	}
	if code := outcome.Refusal.Code; code != "" {
		a.counts.refusals.WithLabelValues(string(code)).Inc()
	}
}
