package tell

import (
	"fmt"
	"time"
)

// Progress is one line on stderr that tells how far long work has come. On a
// terminal it is written again and again; otherwise, and with -o json, nothing is
// written at all. It is for one goroutine.
type Progress struct {
	teller *Teller
	last   time.Time
	shown  bool
}

// progressEvery is how often the line changes.
const progressEvery = 100 * time.Millisecond

// Progress begins. Done ends it.
func (t *Teller) Progress() *Progress { return &Progress{teller: t} }

// Show says how far it is, unless it has just done so.
func (p *Progress) Show(format string, args ...any) {
	if p.teller.IsJSON() || !isDevice(p.teller.err) || time.Since(p.last) < progressEvery {
		return
	}
	p.last, p.shown = time.Now(), true
	p.write("\r" + eraseLine + oneLine(fmt.Sprintf(format, args...), false))
}

// Done takes the line away.
func (p *Progress) Done() {
	if p.shown {
		p.shown = false
		p.write("\r" + eraseLine)
	}
}

// eraseLine clears the line to its end (ECMA-48 EL), on every terminal there is.
const eraseLine = "\x1b[K"

func (p *Progress) write(text string) {
	// Nothing can be said about a stderr that cannot be written to.
	_, _ = p.teller.err.Write([]byte(text))
}
