package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

const (
	faultHeight = 18
	maxFaultRow = 12
)

// faults draws a bar for each fault, with its name in it or after it, one above
// the other where they overlap.
func (c *chart) faults(h *history.History, t *counts, top int) int {
	if len(h.Faults) == 0 {
		return top
	}
	top = c.head("faults", top)
	order := slices.Clone(h.Faults[:min(len(h.Faults), maxFaults)])
	slices.SortStableFunc(order, func(a, b history.Fault) int { return cmp.Compare(a.From, b.From) })
	var free []float64 // from where on each row is free
	crowded := 0
	for i := range order {
		f := &order[i]
		from, to := t.part(f.From), t.part(ended(f, t))
		text := faultName(f)
		end := max(to, from+0.003+float64(7*len([]rune(text))+6)/wide)
		row := slices.IndexFunc(free, func(at float64) bool { return at <= from })
		switch {
		case row >= 0:
			free[row] = end
		case len(free) < maxFaultRow:
			row, free = len(free), append(free, end)
		default:
			crowded++
			row, text = maxFaultRow-1, ""
		}
		c.fault(f, t, text, top+row*faultHeight)
	}
	if crowded += len(h.Faults) - len(order); crowded > 0 {
		c.Gutter = append(c.Gutter, label{X: "142", Y: top + len(free)*faultHeight + 10, Text: fmt.Sprintf("%d more, see below", crowded), Mark: "end"})
		return top + (len(free)+1)*faultHeight
	}
	return top + len(free)*faultHeight
}

// refused tells whether a fault could not be injected: it was never there.
func refused(f *history.Fault) bool { return f.Error != "" && f.Until == 0 }

// ended is when a fault is drawn to end.
func ended(f *history.Fault, t *counts) int64 {
	switch {
	case refused(f):
		return f.From + max(0, min(f.Took, t.span()))
	case f.Until == 0:
		return t.span()
	}
	return max(f.From, f.Until)
}

func faultName(f *history.Fault) string {
	text := plain.Text(f.Kind, 40)
	if len(f.Nodes) > 0 {
		text += " " + plain.Text(strings.Join(f.Nodes, " "), 40)
	}
	if f.Error != "" {
		text = "! " + text
	}
	return text
}

func (c *chart) fault(f *history.Fault, t *counts, text string, top int) {
	from, to := t.part(f.From), t.part(ended(f, t))
	class := "fault"
	title := fmt.Sprintf("fault %d: %s, from %s ", f.ID, faultName(f), plain.Clock(f.From))
	switch {
	case refused(f):
		title += "could not be injected"
	case f.Until == 0:
		title += "and never healed"
	default:
		title += "to " + plain.Clock(f.Until)
	}
	if len(f.Detail) > 0 {
		if detail, err := json.Marshal(f.Detail); err == nil {
			title += " " + plain.Text(string(detail), 200)
		}
	}
	if f.Error != "" {
		class += " failed"
		title += " — " + plain.Text(f.Error, 200)
	}
	x := percent(from)
	c.Boxes = append(c.Boxes,
		box{X: x, Width: percent(to - from), Y: top + 1, Height: faultHeight - 3, Mark: class, Title: title},
		box{X: x, Width: "3", Y: top + 1, Height: faultHeight - 3, Mark: "begin", Title: title})
	if text != "" {
		c.Labels = append(c.Labels, label{X: x, Y: top + 13, Text: text, Mark: "inside bold"})
	}
}

// shade lets the times with a fault be seen through everything below.
func (c *chart) shade(h *history.History, t *counts, top, bottom int) {
	type stretch struct{ from, to float64 }
	var all []stretch
	for i := range h.Faults {
		if f := &h.Faults[i]; !refused(f) {
			all = append(all, stretch{t.part(f.From), t.part(ended(f, t))})
		}
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	var joined []stretch
	for _, s := range all {
		if last := len(joined) - 1; last >= 0 && s.from <= joined[last].to+0.0005 {
			joined[last].to = max(joined[last].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	for _, s := range joined {
		c.Shades = append(c.Shades, box{X: percent(s.from), Width: percent(s.to - s.from), Y: top, Height: bottom - top, Mark: "shade"})
	}
}
