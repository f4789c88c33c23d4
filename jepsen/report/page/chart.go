package page

import "strconv"

// chart is the picture over the time of the run, as a list of what is drawn, from
// the bottom to the top. Places from left to right are parts of the width in
// percent, so that the picture can be made wider without its text; places from the
// top are pixels.
type chart struct {
	Height int
	Gutter []label // beside the picture, to the left
	Keys   []line  // of legends, there too
	Shades []box   // under everything
	Lines  []line
	Boxes  []box
	Shapes []shape
	Labels []label
	Places []place // of the findings, above everything
	Zooms  []int
}

// box is a rectangle. Mark is its class.
type box struct {
	X, Width  string
	Y, Height int
	Mark      string
	Title     string
}

// line goes from edge to edge: across at Y, or down at X.
type line struct {
	X      string // empty: across
	Y, End int
	Mark   string
}

// label is text that begins, has its middle or ends at a place.
type label struct {
	X     string
	Y     int
	Text  string
	Mark  string
	Title string
}

// shape is curves in a box of their own, which is as wide as the picture: there
// one unit is a bucket, and one is a pixel.
type shape struct {
	Y, Width, Height int
	Curves           []curve
}

type curve struct{ Mark, Path string }

// place is where a finding is on the timeline.
type place struct {
	Mark   int
	Number string // Mark, if there is ever room for it
	From   string // the class that shows it when there is
	X      string
	Y      int
	Title  string

	part float64
}

// zooms are the magnifications; wide is the width for which text is laid out
// without any.
var zooms = []int{1, 2, 4, 8, 16, 32}

const wide = 1000

// seenFrom is the class of something that needs so much of the width: it is shown
// from a magnification on. Empty: always; false: never.
func seenFrom(part float64, pixels int) (class string, ever bool) {
	for _, zoom := range zooms {
		if part*wide*float64(zoom) >= float64(pixels) {
			if zoom == 1 {
				return "", true
			}
			return " from" + strconv.Itoa(zoom), true
		}
	}
	return "", false
}

// draw lays the picture out, from the top down.
func draw(p *Page, t *counts) *chart {
	c := &chart{Zooms: zooms}
	top := axisHeight
	if c.places(p, t); len(c.Places) > 0 {
		c.name("findings", placeTop-3)
		top += placeHeight
	}
	top = c.phases(p.History, t, top)
	top = c.faults(p.History, t, top)
	lanesFrom := top
	top = c.nodes(p, t, top)
	top = c.operations(t, top)
	top = c.throughput(t, top)
	top = c.latency(t, top)
	c.shade(p.History, t, lanesFrom, top)
	c.Height = top + axisHeight
	c.axis(t, top)
	return c
}

// head names a group of rows, and says where its first row begins.
func (c *chart) head(text string, top int) int {
	c.Lines = append(c.Lines, line{Y: top + 6, Mark: "rule"})
	c.Gutter = append(c.Gutter, label{X: "0", Y: top + 20, Text: text, Mark: "head"})
	return top + 26
}

// name stands before a row whose middle is at y.
func (c *chart) name(text string, y int) {
	l := label{X: "142", Y: y + 4, Text: short(text, 21), Mark: "end"}
	if l.Text != text {
		l.Title = text
	}
	c.Gutter = append(c.Gutter, l)
}

func short(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
