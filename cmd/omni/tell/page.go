package tell

import (
	"bytes"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// Page collects text.
type Page struct {
	Style
	bytes.Buffer
}

// Line adds one line.
func (p *Page) Line(format string, args ...any) {
	fmt.Fprintf(&p.Buffer, format, args...)
	p.WriteByte('\n')
}

// Fields adds lines of name and value, the values aligned. Pairs whose value is
// empty are left out.
func (p *Page) Fields(pairs ...[2]string) {
	width := 0
	for _, pair := range pairs {
		if pair[1] != "" {
			width = max(width, lipgloss.Width(pair[0]))
		}
	}
	for _, pair := range pairs {
		if pair[1] == "" {
			continue
		}
		// A value of several lines stays in its column.
		value := strings.ReplaceAll(harmless(pair[1], p.On), "\n", "\n"+strings.Repeat(" ", width+2))
		p.Line("%s  %s", p.Faint(pad(pair[0], width)), value)
	}
}

// Table adds rows under their headings, columns aligned, two spaces apart.
func (p *Page) Table(headings []string, rows [][]string) {
	for _, row := range rows {
		for i := range row {
			row[i] = oneLine(row[i], p.On) // a cell is no row of its own
		}
	}
	widths := make([]int, len(headings))
	for i, heading := range headings {
		widths[i] = lipgloss.Width(heading)
		for _, row := range rows {
			widths[i] = max(widths[i], lipgloss.Width(row[i]))
		}
	}
	p.row(headings, widths, p.Bold)
	for _, row := range rows {
		p.row(row, widths, func(text string) string { return text })
	}
}

// row adds one row, without blanks behind its last word.
func (p *Page) row(cells []string, widths []int, dress func(string) string) {
	end := len(cells)
	for end > 0 && cells[end-1] == "" {
		end--
	}
	for i, cell := range cells[:end] {
		if i < end-1 {
			cell = pad(cell, widths[i]) + "  "
		}
		p.WriteString(dress(cell))
	}
	p.WriteByte('\n')
}

// pad fills up to a width in columns, styles not counted.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-lipgloss.Width(text)))
}
