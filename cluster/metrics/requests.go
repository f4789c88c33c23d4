package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// apiCounts are of requests to this node's API.
type apiCounts struct {
	total *prometheus.CounterVec
	took  *prometheus.HistogramVec
	open  prometheus.Gauge
}

func (a *apiCounts) init() {
	a.total = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "omni_api_requests_total", Help: "Requests that were answered, by route and by class of status; cut is one that ended without an answer.",
	}, []string{"route", "status"})
	a.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "omni_api_request_seconds", Help: "Time to answer, by route; not of streams.", Buckets: slow,
	}, []string{"route"})
	a.open = prometheus.NewGauge(prometheus.GaugeOpts{Name: "omni_api_requests_in_flight", Help: "Requests that are being answered, streams among them."})
}

// Describe implements prometheus.Collector.
func (a *apiCounts) Describe(to chan<- *prometheus.Desc) {
	a.total.Describe(to)
	a.took.Describe(to)
	a.open.Describe(to)
}

// Collect implements prometheus.Collector.
func (a *apiCounts) Collect(to chan<- prometheus.Metric) {
	a.total.Collect(to)
	a.took.Collect(to)
	a.open.Collect(to)
}

// Request counts one that begins. What it returns is called once at its end, with the
// status, 0 for none. The route is an id of the API's table.
func (m *Metrics) Request(route string, stream bool) (end func(status int)) {
	if m == nil {
		return func(int) {}
	}
	m.api.open.Inc()
	began := time.Now()
	return func(status int) {
		m.api.open.Dec()
		class := "cut"
		if status != 0 {
			class = strconv.Itoa(status/100) + "xx"
		}
		m.api.total.WithLabelValues(route, class).Inc()
		if !stream {
			m.api.took.WithLabelValues(route).Observe(time.Since(began).Seconds())
		}
	}
}
