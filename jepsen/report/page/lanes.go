package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

const (
	okHeight   = 26
	restHeight = 9
	laneHeight = okHeight + 2*restHeight + 10
)

// operations draws for each workload what succeeded, what failed and what nobody
// knows, below each other, each with a height of its own.
func (c *chart) operations(t *counts, top int) int {
	if len(t.lanes) == 0 {
		return top
	}
	top = c.head("operations", top)
	for _, lane := range t.lanes {
		most := slices.Max(lane.ok)
		c.name(lane.name, top+8)
		c.Gutter = append(c.Gutter, label{X: "142", Y: top + 23, Text: "ok, to " + perSecond(t.rate(most)), Mark: "end soft"})
		c.Shapes = append(c.Shapes, silhouette(lane.ok, top, okHeight, "ok", false))
		c.Lines = append(c.Lines, line{Y: top + okHeight, Mark: "base"})
		y := top + okHeight + 1
		for _, rest := range []struct {
			counts []int
			class  string
			text   string
		}{{lane.fail, "fail", "failed"}, {lane.unknown, "unknown", "unknown"}} {
			c.Gutter = append(c.Gutter, label{X: "142", Y: y + 8, Text: plain.Count(sum(rest.counts)) + " " + rest.text, Mark: "end small " + rest.class})
			if slices.Max(rest.counts) > 0 {
				c.Shapes = append(c.Shapes, silhouette(rest.counts, y, restHeight-1, rest.class, true))
			}
			c.Lines = append(c.Lines, line{Y: y + restHeight - 1, Mark: "base faint"})
			y += restHeight
		}
		top += laneHeight
	}
	return top
}

func perSecond(rate float64) string {
	if rate == 0 {
		return "0"
	}
	if rate >= 100 {
		return plain.Count(int64(math.Round(rate))) + "/s"
	}
	return strconv.FormatFloat(rate, 'g', 2, 64) + "/s"
}

// silhouette is a histogram as one path. Where few must be seen beside many, the
// height grows with the root, and one is a third of it.
func silhouette(counts []int, y, height int, class string, few bool) shape {
	most := float64(max(1, slices.Max(counts)))
	level := func(n int) float64 {
		part := float64(n) / most
		if few && n > 0 {
			part = 1/3. + math.Sqrt(part)*2/3
		}
		return math.Round(10*float64(height)*(1-part)) / 10
	}
	var path strings.Builder
	fmt.Fprintf(&path, "M0 %d", height)
	at := float64(height)
	for i, n := range counts {
		if to := level(n); to != at {
			fmt.Fprintf(&path, "H%dV%s", i, tenths(to))
			at = to
		}
	}
	fmt.Fprintf(&path, "H%dV%dZ", len(counts), height)
	return shape{Y: y, Width: len(counts), Height: height, Curves: []curve{{class, path.String()}}}
}

func tenths(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

const throughputHeight = 80

// throughput draws what all workloads did, in operations a second.
func (c *chart) throughput(t *counts, top int) int {
	if len(t.lanes) == 0 {
		return top
	}
	top = c.head("operations a second", top)
	rates := []struct {
		rates []float64
		class string
	}{{t.rates(t.all.ok), "ok"}, {t.rates(t.all.fail), "fail"}, {t.rates(t.all.unknown), "unknown"}}
	high := 0.0
	for _, of := range rates {
		high = max(high, slices.Max(of.rates))
	}
	high = niceAbove(high)
	s := shape{Y: top, Width: t.buckets, Height: throughputHeight}
	for _, of := range rates {
		var path strings.Builder
		for i, rate := range of.rates {
			y := math.Round(10*throughputHeight*(1-rate/high)) / 10
			if i == 0 {
				fmt.Fprintf(&path, "M0 %s", tenths(y))
			}
			fmt.Fprintf(&path, "L%s %s", tenths(float64(i)+0.5), tenths(y))
		}
		s.Curves = append(s.Curves, curve{"rate " + of.class, path.String()})
	}
	c.Shapes = append(c.Shapes, s)
	for _, part := range []float64{0, 0.5, 1} {
		y := top + int(throughputHeight*(1-part))
		c.Lines = append(c.Lines, line{Y: y, Mark: "grid"})
		c.Gutter = append(c.Gutter, label{X: "142", Y: y + 4, Text: perSecond(high * part), Mark: "end soft"})
	}
	c.legend(top, []legend{{"rate ok", "ok"}, {"rate fail", "failed"}, {"rate unknown", "unknown"}})
	return top + throughputHeight + 8
}

// niceAbove is the next number above of which people would draw an axis.
func niceAbove(n float64) float64 {
	if n <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(n)))
	for _, nice := range []float64{1, 2, 3, 4, 6, 8, 10} {
		if n <= nice*unit {
			return nice * unit
		}
	}
	return 10 * unit
}

type legend struct{ class, text string }

// legend shows what the lines of a plot are, beside it.
func (c *chart) legend(top int, of []legend) {
	for i, l := range of {
		y := top + 8 + 15*i
		c.Gutter = append(c.Gutter, label{X: "26", Y: y + 4, Text: l.text, Mark: "small"})
		c.Keys = append(c.Keys, line{Y: y, Mark: l.class})
	}
}
