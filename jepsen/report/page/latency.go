package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

const latencyHeight = 170

// latency draws how long what succeeded took, by when it was called, and crosses
// where somebody waited and does not know.
func (c *chart) latency(t *counts, top int) int {
	low, high := extent(t)
	if high == 0 {
		return top
	}
	top = c.head("latency", top)
	decades := math.Log10(high / low)
	y := func(nanos int64) float64 {
		part := math.Log10(max(float64(nanos), low)/low) / decades
		return math.Round(10*latencyHeight*(1-min(1, part))) / 10
	}
	for at := low; at <= high*1.01; at *= 10 {
		line := line{Y: top + int(y(int64(at))), Mark: "grid"}
		c.Lines = append(c.Lines, line)
		c.unit(line.Y+4, decade(at))
	}
	s := shape{Y: top, Width: t.buckets, Height: latencyHeight}
	for _, of := range []struct {
		class string
		value func(quantiles) int64
	}{
		{"p99", func(q quantiles) int64 { return q.p99 }},
		{"p90", func(q quantiles) int64 { return q.p90 }},
		{"p50", func(q quantiles) int64 { return q.p50 }},
	} {
		s.Curves = append(s.Curves, curve{"wait " + of.class, curveOf(t, of.value, y)})
	}
	var worst strings.Builder
	for i, w := range t.waits {
		if w.max > 0 {
			fmt.Fprintf(&worst, "M%s %sh0", tenths(float64(i)+0.5), tenths(y(w.max)))
		}
	}
	s.Curves = append(s.Curves, curve{"wait max", worst.String()})
	c.Shapes = append(c.Shapes, s)
	for i, lost := range t.lost {
		if lost > 0 {
			x := percent((float64(i) + 0.5) / float64(t.buckets))
			c.Labels = append(c.Labels, label{X: x, Y: top + int(y(lost)) + 4, Text: "×", Mark: "lost"})
		}
	}
	c.legend(top, []legend{{"wait max", "max"}, {"wait p99", "p99"}, {"wait p90", "p90"}, {"wait p50", "p50"}, {"lost", "unknown"}})
	return top + latencyHeight + 8
}

// decade is a power of ten in its unit.
func decade(nanos float64) string {
	number, unit, _ := strings.Cut(plain.Span(int64(math.Round(nanos))), " ")
	if whole, _, has := strings.Cut(number, "."); has {
		number = whole
	}
	return number + " " + unit
}

func (c *chart) unit(y int, text string) {
	c.Gutter = append(c.Gutter, label{X: "142", Y: y, Text: text, Mark: "end soft"})
}

// extent is the powers of ten between which all latencies lie; zero when there are
// none.
func extent(t *counts) (low, high float64) {
	for i, w := range t.waits {
		if w.p50 > 0 && (low == 0 || float64(w.p50) < low) {
			low = float64(w.p50)
		}
		high = max(high, float64(w.max), float64(t.lost[i]))
	}
	if high == 0 {
		return 0, 0
	}
	if low == 0 {
		low = high
	}
	low = math.Pow(10, math.Floor(math.Log10(low)))
	high = math.Pow(10, math.Ceil(math.Log10(high)))
	return low, max(high, 10*low)
}

// curveOf is a line through the middles of the buckets, with gaps where nothing
// was called; what stands alone between two gaps is as wide as its bucket.
func curveOf(t *counts, value func(quantiles) int64, y func(int64) float64) string {
	var path strings.Builder
	at := func(i int) int64 {
		if i < 0 || i >= len(t.waits) {
			return 0
		}
		return value(t.waits[i])
	}
	for i := range t.waits {
		nanos := at(i)
		if nanos == 0 {
			continue
		}
		middle := tenths(float64(i) + 0.5)
		switch {
		case at(i-1) > 0:
			fmt.Fprintf(&path, "L%s %s", middle, tenths(y(nanos)))
		case at(i+1) > 0:
			fmt.Fprintf(&path, "M%s %s", middle, tenths(y(nanos)))
		default:
			fmt.Fprintf(&path, "M%d %sh1", i, tenths(y(nanos)))
		}
	}
	return path.String()
}
