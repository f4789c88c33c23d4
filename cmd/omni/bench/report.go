package bench

import (
	"github.com/omnikernel/omnikernel/cmd/omni/load"
)

// Report is what a benchmark measured.
type Report struct {
	Bench   string  `json:"bench"`
	Clients int     `json:"clients"`
	Seconds float64 `json:"seconds"` // that were measured
	Count   uint64  `json:"count"`   // operations that succeeded meanwhile
	Errors  uint64  `json:"errors"`  // … and that did not; in no other figure
	First   string  `json:"first_error,omitempty"`

	PerSecond float64 `json:"per_second"`
	load.Summary
	Correction string `json:"correction"` // how latencies are corrected: see the constants

	Kind        string  `json:"kind,omitempty"`        // commands: define or submit
	ValueBytes  int     `json:"value_bytes,omitempty"` // commands: payload of each
	Batch       int     `json:"batch,omitempty"`       // commands: of one request
	Rate        float64 `json:"rate,omitempty"`        // operations per second that were asked for
	StepsEach   int     `json:"steps_per_instruction,omitempty"`
	Consistency string  `json:"consistency,omitempty"` // reads
}

// How latencies are corrected for coordinated omission.
const (
	OpenLoop         = "open loop: latency counts from when the operation was due"
	ExpectedInterval = "closed loop, corrected with the median as expected interval"
)

// result makes a report of what workers measured.
func (o *Options) result(name string, workers []*worker) Report {
	report := Report{Bench: name, Clients: o.Clients, Seconds: o.Duration.Seconds(), Rate: o.Rate, Correction: OpenLoop}
	var all load.Histogram
	for _, w := range workers {
		all.Merge(&w.latency)
		report.Count += w.count
		report.Errors += w.errors
		if report.First == "" && w.first != nil {
			report.First = w.first.Error()
		}
	}
	report.PerSecond = float64(report.Count) / report.Seconds
	if o.Rate == 0 {
		report.Correction = ExpectedInterval
		all = *all.Corrected(all.Quantile(0.5))
	}
	report.Summary = all.Summary()
	return report
}
