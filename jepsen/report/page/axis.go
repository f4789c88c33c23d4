package page

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

const (
	axisHeight  = 24
	placeTop    = 36 // where the findings are marked
	placeHeight = 20
)

// axis draws the time, above and below, finer the more it is magnified.
func (c *chart) axis(t *counts, bottom int) {
	drawn := make(map[int64]bool)
	step, said := stepFor(t.span(), 10), plain.Clock
	if t.span() >= int64(10*time.Minute) {
		said = plain.Minutes
	}
	for _, zoom := range zooms {
		step = finer(step, stepFor(t.span(), 10*zoom))
		class := ""
		if zoom > 1 {
			class = " from" + strconv.Itoa(zoom)
		}
		for at := int64(0); at <= t.span(); at += step {
			if drawn[at] {
				continue
			}
			drawn[at] = true
			part := t.part(at)
			x := percent(part)
			c.Lines = append(c.Lines, line{X: x, Y: axisHeight - 4, End: bottom, Mark: "tick" + class})
			anchor := "middle"
			switch {
			case at == 0:
				anchor = "start"
			case part > 0.98:
				anchor = "end"
			}
			for _, y := range []int{14, bottom + 16} {
				c.Labels = append(c.Labels, label{X: x, Y: y, Text: said(at), Mark: "time " + anchor + class})
			}
		}
	}
}

// meanings of the phases, for those who ask.
var meanings = map[string]string{
	history.Setup:  "setup: the workloads make what they need",
	history.Calm:   "calm: traffic and no fault",
	history.Faults: "faults: traffic and faults",
	history.Heal:   "heal: no fault any more; every node must come to serve",
	history.Final:  "final: no traffic; what is left is read",
}

// maxPhases bounds the bands.
const maxPhases = 200

// phases draws a band for each part of the run.
func (c *chart) phases(h *history.History, t *counts, top int) int {
	if len(h.Phases) == 0 {
		return top
	}
	const height = 18
	c.name("phase", top+height/2)
	for i, p := range h.Phases[:min(len(h.Phases), maxPhases)] {
		end := t.span()
		if i+1 < len(h.Phases) {
			end = h.Phases[i+1].At
		}
		from, width := t.part(p.At), t.part(end)-t.part(p.At)
		name := plain.Text(p.Name, 60)
		title := meanings[p.Name]
		if title == "" {
			title = name
		}
		class := "phase"
		if i%2 == 1 {
			class = "phase other"
		}
		c.Boxes = append(c.Boxes, box{X: percent(from), Width: percent(max(0, width)), Y: top, Height: height, Mark: class, Title: title + ", from " + plain.Clock(p.At)})
		if need, ever := seenFrom(width, 7*len(name)+8); ever {
			c.Labels = append(c.Labels, label{X: percent(from), Y: top + 13, Text: name, Mark: "inside" + need})
		}
	}
	return top + height + 2
}

// places marks the findings, in the order of time. One that nobody can place is
// only in the list.
func (c *chart) places(p *Page, t *counts) {
	number := 0
	for i := range p.Verdicts {
		for j := range p.Verdicts[i].Findings {
			number++
			f := &p.Verdicts[i].Findings[j]
			at, known := placeOf(p.History, f)
			if !known {
				continue
			}
			c.Places = append(c.Places, place{
				Mark: number, X: percent(t.part(at)), Y: placeTop, part: t.part(at),
				Title: plain.Text(p.Verdicts[i].Checker, 60) + " at " + plain.Clock(at) + ": " + plain.Text(f.Text, 300),
			})
		}
	}
	slices.SortStableFunc(c.Places, func(a, b place) int { return cmp.Compare(a.part, b.part) })
	last := -1.0
	for i := range c.Places {
		here := &c.Places[i]
		need, ever := seenFrom(here.part-last, 14)
		if ever {
			here.Number, here.From, last = strconv.Itoa(here.Mark), need, here.part
		}
	}
}
