package load

import "time"

// Summary is a histogram in milliseconds.
type Summary struct {
	P50Millis  float64 `json:"p50_ms"`
	P99Millis  float64 `json:"p99_ms"`
	P999Millis float64 `json:"p999_ms"`
	MaxMillis  float64 `json:"max_ms"`
}

// Summary of what was counted.
func (h *Histogram) Summary() Summary {
	return Summary{
		P50Millis:  Millis(h.Quantile(0.50)),
		P99Millis:  Millis(h.Quantile(0.99)),
		P999Millis: Millis(h.Quantile(0.999)),
		MaxMillis:  Millis(h.Max()),
	}
}

// Millis is a duration in milliseconds, to the microsecond.
func Millis(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
