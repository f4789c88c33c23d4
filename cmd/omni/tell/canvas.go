package tell

import (
	"fmt"
	"os"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
)

// Canvas is a part of a terminal that is drawn again and again: lines that stay where
// they are, each of them replaced as a whole, so that nothing flickers. It is for one
// goroutine.
type Canvas struct {
	Style
	teller *Teller
	size   func() (width, height int)
	drawn  []int // widths of the lines that stand there
}

// The size of a terminal that does not say it.
const (
	usualWidth  = 80
	usualHeight = 24
)

// Canvas begins one on stdout. ok is false when that is no terminal whose cursor can be
// moved, and with -o json: then tell line by line.
func (t *Teller) Canvas() (c *Canvas, ok bool) {
	f, isFile := t.out.(*os.File)
	if t.IsJSON() || !isFile || !isDevice(f) || os.Getenv("TERM") == "dumb" {
		return nil, false
	}
	return &Canvas{Style: t.outStyle, teller: t, size: func() (int, int) {
		width, height, err := term.GetSize(f.Fd())
		if err != nil || width <= 0 || height <= 0 {
			return usualWidth, usualHeight
		}
		return width, height
	}}, true
}

// Size is how many columns and rows there are to draw in, now: one of each fewer than
// the terminal has, so that no line wraps and nothing scrolls.
func (c *Canvas) Size() (columns, rows int) {
	width, height := c.size()
	return max(1, width-1), max(1, height-1)
}

// Draw replaces what stands there. The lines must fit Size; the error is the writer's.
func (c *Canvas) Draw(lines []string) error {
	var b strings.Builder
	b.WriteString(beginFrame)
	if rows := c.rows(); rows > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA", rows)
	}
	c.drawn = c.drawn[:0]
	for _, line := range lines {
		line = oneLine(line, c.On)
		b.WriteString(line + eraseLine + "\n")
		c.drawn = append(c.drawn, lipgloss.Width(line))
	}
	b.WriteString(eraseBelow + endFrame)
	return c.teller.write(c.teller.out, c.Style, b.String())
}

// rows counts those that the last frame takes. A terminal that was made narrower has
// wrapped its lines.
func (c *Canvas) rows() (rows int) {
	width, _ := c.size()
	for _, drawn := range c.drawn {
		rows += max(1, (drawn+width-1)/width)
	}
	return rows
}

// What terminals do not know they pass over: a frame that is shown at once (DEC mode
// 2026), and clearing to the end of the screen (ECMA-48 ED).
const (
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
	eraseBelow = "\x1b[J"
)

// Unicode reports whether the environment's character set has more than ASCII. One
// that says nothing has.
func Unicode() bool {
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if set := strings.ToLower(os.Getenv(name)); set != "" {
			return strings.Contains(set, "utf-8") || strings.Contains(set, "utf8")
		}
	}
	return true
}
