package load

import (
	"math"
	"math/bits"
	"time"
)

// Histogram counts durations in log-linear buckets: exact up to 256 µs, then
// within 0.8 % of the value, up to 19 hours. It is for one goroutine; give each
// worker its own and Merge them.
type Histogram struct {
	counts [buckets]uint64
	total  uint64
	sum    time.Duration
	max    time.Duration
}

const (
	half    = 128      // buckets per power of two
	exact   = 2 * half // microseconds that have a bucket each
	maxBits = 36       // of a value in microseconds
	buckets = (maxBits - 6) * half
)

// Record counts one duration.
func (h *Histogram) Record(d time.Duration) { h.RecordN(d, 1) }

// RecordN counts n equal durations, such as those of a batch's commands.
func (h *Histogram) RecordN(d time.Duration, n uint64) {
	d = max(d, 0)
	h.counts[bucket(d)] += n
	h.total += n
	h.sum += d * time.Duration(n)
	h.max = max(h.max, d)
}

// bucket of a duration.
func bucket(d time.Duration) int {
	us := uint64(d / time.Microsecond)
	if us < exact {
		return int(us)
	}
	us = min(us, 1<<maxBits-1)
	shift := bits.Len64(us) - 8 // leaves 128 to 255
	return shift*half + int(us>>shift)
}

// top is the largest duration that falls into a bucket.
func top(i int) time.Duration {
	if i < exact {
		return time.Duration(i) * time.Microsecond
	}
	shift := i/half - 1
	us := uint64(i-shift*half+1)<<shift - 1
	return time.Duration(us) * time.Microsecond
}

// Count is how many durations there are.
func (h *Histogram) Count() uint64 { return h.total }

// Max is the longest one, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean is their average; 0 when there are none.
func (h *Histogram) Mean() time.Duration {
	if h.total == 0 {
		return 0
	}
	return h.sum / time.Duration(h.total)
}

// Quantile is the duration that a share q of them, 0 to 1, does not exceed
// (nearest rank); 0 when there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rank := min(max(uint64(math.Ceil(q*float64(h.total))), 1), h.total)
	var seen uint64
	for i, n := range h.counts {
		if seen += n; seen >= rank {
			return min(top(i), h.max)
		}
	}
	return h.max
}

// Merge adds what another histogram has counted.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
	h.sum += other.sum
	h.max = max(h.max, other.max)
}

// Corrected undoes coordinated omission of a closed loop, as HdrHistogram's
// correction does: a client that waited d for one answer did not ask in the
// meantime, so beside d the answers that it would have waited for, had it asked
// once per interval, are counted too: d-interval, d-2·interval … down to the
// interval. An interval of 0 corrects nothing.
func (h *Histogram) Corrected(interval time.Duration) *Histogram {
	out := *h
	if interval <= 0 {
		return &out
	}
	for i, n := range h.counts {
		if n == 0 {
			continue
		}
		d := min(top(i), h.max)
		// A stall of hours at an interval of microseconds must not take hours
		// to correct: the step grows, the counts with it.
		step, weight := interval, n
		if missing := uint64(d / interval); missing > maxFilled {
			factor := (missing + maxFilled - 1) / maxFilled
			step, weight = interval*time.Duration(factor), n*factor
		}
		for d -= step; d >= interval; d -= step {
			out.RecordN(d, weight)
		}
	}
	return &out
}

// maxFilled bounds the values that one bucket's correction adds.
const maxFilled = 100_000
