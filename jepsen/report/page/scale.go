package page

import (
	"strconv"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

// maxBuckets bounds how finely the time of a run is divided.
const maxBuckets = 600

// minBucket is the shortest stretch: in a shorter one there is too little for a
// percentile.
const minBucket = int64(100 * time.Millisecond)

// scale divides the time of a run.
type scale struct {
	bucket  int64 // nanoseconds
	buckets int
}

// maxSpan is the longest run that is drawn: longer ones are damage.
const maxSpan = int64(400 * 24 * time.Hour)

// spanOf is when the last thing happened.
func spanOf(h *history.History) int64 {
	var last int64
	see := func(at int64) { last = max(last, min(at, maxSpan)) }
	for i := range h.Ops {
		see(h.Ops[i].Returned)
	}
	for i := range h.Faults {
		see(h.Faults[i].From)
		see(h.Faults[i].Until)
	}
	for i := range h.Sights {
		see(h.Sights[i].At)
	}
	for i := range h.Lives {
		see(h.Lives[i].At)
	}
	for i := range h.Phases {
		see(h.Phases[i].At)
	}
	return last
}

// steps are lengths that people count in, and from the last on its multiples by
// two.
var steps = []time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second,
	30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
}

// stepFor is the shortest step of which at most so many cover the span.
func stepFor(span int64, most int) int64 {
	for _, step := range steps {
		if span <= int64(step)*int64(most) {
			return int64(step)
		}
	}
	step := int64(time.Hour)
	for span > step*int64(most) {
		step *= 2
	}
	return step
}

// finer is the shortest step that is no shorter than the wanted one and falls on
// every moment of the step before.
func finer(before, wanted int64) int64 {
	for _, step := range steps {
		if s := int64(step); s >= wanted && s <= before && before%s == 0 {
			return s
		}
	}
	return before
}

func scaleFor(h *history.History) scale {
	span := max(spanOf(h), int64(time.Second))
	s := scale{bucket: max(minBucket, stepFor(span, maxBuckets))}
	s.buckets = int((span + s.bucket - 1) / s.bucket)
	return s
}

func (s *scale) span() int64 { return s.bucket * int64(s.buckets) }

// of is the bucket in which a moment lies; what is outside of the run is counted
// at its edge.
func (s *scale) of(at int64) int { return int(min(max(at, 0)/s.bucket, int64(s.buckets-1))) }

// part is where a moment lies, of the whole width.
func (s *scale) part(at int64) float64 {
	return float64(min(max(at, 0), s.span())) / float64(s.span())
}

// percent is a part of the width in SVG.
func percent(part float64) string {
	return strconv.FormatFloat(100*part, 'f', 3, 64) + "%"
}

// rate is how many a second a number in a bucket is.
func (s *scale) rate(n int) float64 { return float64(n) * 1e9 / float64(s.bucket) }
