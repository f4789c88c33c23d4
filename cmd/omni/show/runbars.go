package show

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/omnikernel/omnikernel/transport/api"
)

// gauge is one bar: how much of a whole is used, and how much more is spoken for.
type gauge struct {
	label          string
	used, reserved uint64
	limit          uint64
	warn           uint64 // percent of the limit; 0: there is no such mark
	exceeded       bool
	text           string
}

// bars are those of the plan and of each limit.
func (f *RunFrame) bars(r api.Run) []string {
	var all []gauge
	if r.Total > 0 {
		all = append(all, gauge{label: "tasks", used: uint64(r.Done), limit: uint64(r.Total), text: fmt.Sprintf("%d of %d", r.Done, r.Total)})
	}
	if b := r.Budget; b != nil {
		all = append(all, amounts("tokens", b.Tokens, b.WarnPercent, func(n uint64) string { return fmt.Sprint(n) })...)
		all = append(all, amounts("dollars", b.USDMicros, b.WarnPercent, dollars)...)
		if w := b.Wall; w.Limit > 0 {
			all = append(all, gauge{
				label: "time", used: uint64(max(0, w.Used)), limit: uint64(w.Limit), warn: uint64(b.WarnPercent), exceeded: w.Exceeded,
				text: elapsed(w.Used) + " of " + elapsed(w.Limit),
			})
		}
	}
	labels, texts := 0, 0
	for _, g := range all {
		labels, texts = max(labels, len(g.label)), max(texts, lipgloss.Width(g.text))
	}
	lines := make([]string, 0, len(all))
	for _, g := range all {
		lines = append(lines, f.bar(g, labels, texts))
	}
	return lines
}

// amounts is the gauge of what has a limit.
func amounts(label string, s api.Spent, warn uint32, write func(uint64) string) []gauge {
	if s.Limit == 0 {
		return nil
	}
	text := write(s.Settled)
	if s.Reserved > 0 {
		text += " + " + write(s.Reserved) + " reserved"
	}
	return []gauge{{
		label: label, used: s.Settled, reserved: s.Reserved, limit: s.Limit, warn: uint64(warn), exceeded: s.Exceeded,
		text: text + " of " + write(s.Limit),
	}}
}

// Widths of a bar: narrower than the least it says nothing, and is left out.
const (
	leastBar = 6
	mostBar  = 40
)

// bar is the line of a gauge. The bars of a frame are of one width.
func (f *RunFrame) bar(g gauge, labels, texts int) string {
	cells := min(mostBar, f.Columns-labels-texts-4)
	if cells < leastBar {
		return f.cut(pad(g.label, labels)+"  "+g.text, f.Columns)
	}
	dress := f.Good
	switch {
	case g.exceeded || g.used > g.limit:
		dress = f.Bad
	case g.warn > 0 && percent(g.used, g.limit) >= g.warn:
		dress = f.Warn
	}
	used := cellsOf(g.used, g.limit, cells)
	reserved := max(used, cellsOf(g.used+g.reserved, g.limit, cells))
	full, spoken, free, mark := "█", "▒", "░", "│"
	if f.ASCII {
		full, spoken, free, mark = "#", "+", ".", "|"
	}
	rest := strings.Repeat(free, cells-reserved)
	if at := int(min(g.warn, 99))*cells/100 - reserved; g.warn > 0 && at >= 0 {
		rest = strings.Repeat(free, at) + mark + strings.Repeat(free, cells-reserved-at-1)
	}
	return pad(g.label, labels) + "  " + dress(strings.Repeat(full, used)) + f.Warn(strings.Repeat(spoken, reserved-used)) +
		f.Faint(rest) + "  " + g.text
}

// cellsOf is how many of a bar's cells a part fills: one at least of what is something,
// all of them only of what is the whole.
func cellsOf(part, whole uint64, cells int) int {
	switch {
	case part == 0:
		return 0
	case part >= whole:
		return cells
	}
	return min(cells-1, max(1, int(float64(part)/float64(whole)*float64(cells))))
}
