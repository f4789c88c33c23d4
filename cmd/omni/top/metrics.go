package top

import (
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are one node's, by name. Histograms are there as their sums and counts.
type Metrics map[string][]Value

// Value is one series.
type Value struct {
	Labels map[string]string
	Value  float64
}

// maxBytes bounds what is read of a node's metrics.
const maxBytes = 8 << 20

// Read reads Prometheus' text format.
func Read(from io.Reader) (Metrics, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(from, maxBytes))
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	m := make(Metrics, len(families))
	//lint:ordered a map is made of a map
	for name, f := range families {
		for _, one := range f.GetMetric() {
			m.take(name, one)
		}
	}
	return m, nil
}

func (m Metrics) take(name string, one *dto.Metric) {
	labels := make(map[string]string, len(one.GetLabel()))
	for _, l := range one.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	add := func(name string, v float64) { m[name] = append(m[name], Value{labels, v}) }
	switch {
	case one.Gauge != nil:
		add(name, one.GetGauge().GetValue())
	case one.Counter != nil:
		add(name, one.GetCounter().GetValue())
	case one.Histogram != nil:
		add(name+"_sum", one.GetHistogram().GetSampleSum())
		add(name+"_count", float64(one.GetHistogram().GetSampleCount()))
	}
}

// Sum adds up all series of a name.
func (m Metrics) Sum(name string) (sum float64) {
	for _, v := range m[name] {
		sum += v.Value
	}
	return sum
}

// By adds the series of a name up by the values of a label.
func (m Metrics) By(name, label string) map[string]float64 {
	sums := make(map[string]float64)
	for _, v := range m[name] {
		sums[v.Labels[label]] += v.Value
	}
	return sums
}
