package tell

import (
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
)

// meterEvery is how often a meter is written anew.
const meterEvery = 200 * time.Millisecond

// Meter shows how far long work is: one line on stderr, written over and over,
// when that is a terminal. Elsewhere, and with -o json, it shows nothing.
type Meter struct {
	to    io.Writer // nil: nobody looks
	next  time.Time
	width int // of what stands there
}

// Meter starts one. The work calls Show as often as it likes, and Done.
func (t *Teller) Meter() *Meter {
	if t.IsJSON() || !isDevice(t.err) {
		return &Meter{}
	}
	return &Meter{to: t.err, next: time.Now().Add(meterEvery)}
}

// Show says how far the work is, if it is time to.
func (m *Meter) Show(format string, args ...any) {
	if m.to == nil || time.Now().Before(m.next) {
		return
	}
	m.next = time.Now().Add(meterEvery)
	m.write(oneLine(fmt.Sprintf(format, args...), false))
}

// Done takes the line away.
func (m *Meter) Done() {
	if m.to != nil && m.width > 0 {
		m.write("")
		m.write("")
	}
	m.to = nil
}

func (m *Meter) write(text string) {
	width := lipgloss.Width(text)
	_, _ = fmt.Fprintf(m.to, "\r%s%s", text, strings.Repeat(" ", max(0, m.width-width)))
	m.width = width
}
