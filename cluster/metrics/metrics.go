package metrics

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are one process's. A nil *Metrics counts nothing.
type Metrics struct {
	registry *prometheus.Registry

	applied appliedCounts
	calls   callCounts
	api     apiCounts
	raft    raftCounts

	node   atomic.Pointer[func() Node]
	server atomic.Pointer[func() Server]
	output atomic.Pointer[func() Output]
	counts agentCounts

	certificates atomic.Pointer[func() Certificates]
}

// Build is what the program was built from.
type Build struct{ Version, Commit, Go string }

// Output is how the node's own log gets out.
type Output struct {
	Blocked time.Duration // how long the write that goes on has been waiting
	Dropped uint64        // lines, since the process began
}

// Certificates are those that a node with TLS has in use.
type Certificates struct {
	Until   map[string]time.Time // the end of the first that ends, by role: node, authority
	Refused bool                 // newer files are there, and are not in use
}

// Server is how the API stands.
type Server struct {
	Streams     int64
	BodyBytes   int64 // of requests that are being worked on
	Connections int64
	OverRate    uint64            // requests beyond their caller's rate, refused or not
	TurnedAway  map[string]uint64 // by reason
}

// New makes the instruments of a process.
func New(build Build) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.applied.init()
	m.calls.init()
	m.api.init()
	m.raft.init()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "omni_build_info", Help: "1, with what the program was built from.",
		ConstLabels: prometheus.Labels{"version": build.Version, "commit": build.Commit, "go": build.Go},
	})
	info.Set(1)
	m.registry.MustRegister(
		info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&m.applied, &m.calls, &m.api, &m.raft, (*looking)(m),
	)
	return m
}

// WatchNode says where to look for the node; the last one counts.
func (m *Metrics) WatchNode(look func() Node) {
	if m != nil {
		m.node.Store(&look)
	}
}

// WatchServer says where to look for the API; the last one counts.
func (m *Metrics) WatchServer(look func() Server) {
	if m != nil {
		m.server.Store(&look)
	}
}

// WatchOutput says where to look for the log output.
func (m *Metrics) WatchOutput(look func() Output) {
	if m != nil {
		m.output.Store(&look)
	}
}

// WatchCertificates says where to look for the certificates in use.
func (m *Metrics) WatchCertificates(look func() Certificates) {
	if m != nil {
		m.certificates.Store(&look)
	}
}

// scrapesAtOnce bounds how many scrapes are answered at the same time; what is beyond
// gets a 503.
const scrapesAtOnce = 4

// Handler answers scrapes in the text format, or in the OpenMetrics one if asked for.
func (m *Metrics) Handler(logger hclog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: logger.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn}), ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: scrapesAtOnce, EnableOpenMetrics: true, DisableCompression: true,
	})
}

// Registry has everything, for tests and for whoever asks within the process.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Bounds of durations, in seconds: of what takes microseconds, of what a disk does, of
// what goes over a network or asks somebody.
var (
	quick = []float64{.000_005, .000_01, .000_025, .000_05, .000_1, .000_25, .000_5, .001, .0025, .005, .01, .05, .25}
	disk  = []float64{.000_25, .000_5, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
	slow  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	long  = []float64{.01, .05, .1, .5, 1, 5, 15, 60, 300}
)
