package load

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestEmptyHistogramIsZero(t *testing.T) {
	var h Histogram
	assert.Equal(t, Summary{}, h.Summary())
	assert.Zero(t, h.Mean())
	assert.Zero(t, h.Corrected(time.Millisecond).Count())
}

func TestQuantilesOfKnownValues(t *testing.T) {
	var h Histogram
	for i := 1; i <= 1000; i++ {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	for q, want := range map[float64]time.Duration{
		0: time.Millisecond, 0.5: 500 * time.Millisecond, 0.99: 990 * time.Millisecond, 0.999: 999 * time.Millisecond, 1: time.Second,
	} {
		assert.InEpsilon(t, want, h.Quantile(q), 0.008, q)
	}
	assert.Equal(t, time.Second, h.Max())
	assert.Equal(t, 500500*time.Microsecond, h.Mean())
}

// Every quantile lies between the exact one and 0.8 % above it, however the
// values were spread over workers.
func TestQuantilesAgreeWithSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.SliceOfN(rapid.Int64Range(0, int64(maxDuration/time.Microsecond)), 1, 200).Draw(t, "micros")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		var parts [3]Histogram
		for i, us := range micros {
			parts[i%3].Record(time.Duration(us) * time.Microsecond)
		}
		var h Histogram
		for i := range parts {
			h.Merge(&parts[i])
		}
		slices.Sort(micros)
		rank := max(int(math.Ceil(q*float64(len(micros)))), 1)
		want := time.Duration(micros[rank-1]) * time.Microsecond
		got := h.Quantile(q)
		assert.GreaterOrEqual(t, got, want)
		assert.LessOrEqual(t, float64(got), float64(want)*1.008)
		assert.Equal(t, uint64(len(micros)), h.Count())
		assert.Equal(t, time.Duration(micros[len(micros)-1])*time.Microsecond, h.Max())
	})
}

const maxDuration = 19 * time.Hour

func TestBucketsDoNotOverlap(t *testing.T) {
	for i := range buckets - 1 {
		assert.Equal(t, i, bucket(top(i)), "top of bucket %d", i)
		assert.Equal(t, i+1, bucket(top(i)+time.Microsecond), "above bucket %d", i)
	}
	assert.Equal(t, buckets-1, bucket(math.MaxInt64))
}

// The example of HdrHistogram's documentation: 100 seconds, asked each 10 ms
// with answers of 1 ms, then one stall of 100 s. Half the time was a stall, so
// the median is some of it, though 10,000 of 10,001 answers took 1 ms.
func TestCorrectionCountsWhatAStallHid(t *testing.T) {
	var h Histogram
	h.RecordN(time.Millisecond, 10_000)
	h.Record(100 * time.Second)
	assert.Equal(t, time.Millisecond, h.Quantile(0.5).Round(time.Millisecond))
	assert.Equal(t, time.Millisecond, h.Quantile(0.999).Round(time.Millisecond))

	c := h.Corrected(10 * time.Millisecond)
	assert.InDelta(t, 20_000, c.Count(), 2)
	assert.Equal(t, time.Millisecond, c.Quantile(0.5).Round(time.Millisecond))
	assert.InEpsilon(t, 50*time.Second, c.Quantile(0.75), 0.02)
	assert.InEpsilon(t, 98*time.Second, c.Quantile(0.99), 0.02)
	assert.Equal(t, 100*time.Second, c.Max())
	assert.Equal(t, uint64(10_001), h.Count(), "the original stays what it was")
}

func TestCorrectionOfAnHourAtAMicrosecondEnds(t *testing.T) {
	var h Histogram
	h.Record(time.Hour)
	c := h.Corrected(time.Microsecond)
	assert.InEpsilon(t, uint64(time.Hour/time.Microsecond), c.Count(), 0.001)
	assert.InEpsilon(t, 30*time.Minute, c.Quantile(0.5), 0.01)
}

func TestNegativeIsZero(t *testing.T) {
	var h Histogram
	h.Record(-time.Second)
	assert.Equal(t, uint64(1), h.Count())
	assert.Zero(t, h.Quantile(1))
}

func TestMillisKeepsMicroseconds(t *testing.T) {
	assert.InDelta(t, 1.235, Millis(1234567*time.Nanosecond), 1e-9)
}
