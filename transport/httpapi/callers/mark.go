package callers

import (
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// nearly is the share of a limit, in percent, from which on the node's log
// warns.
const nearly = 80

// markAgain is how long a mark is silent after a line.
const markAgain = time.Minute

// Mark watches a figure come near its limit: a warning from 80 % on, an error
// at the limit, each at most once a minute however often it is seen.
type Mark struct {
	what         string
	most         uint64
	log          hclog.Logger
	warned, full *atomic.Int64 // Unix nanoseconds of the last line
}

// NewMark makes one; what is for the node's log.
func NewMark(what string, most uint64, log hclog.Logger) Mark {
	return Mark{what: what, most: most, log: log, warned: new(atomic.Int64), full: new(atomic.Int64)}
}

// Near tells whether used is near a limit of most, or has reached it.
func Near(used, most uint64) (near, full bool) {
	return most > 0 && used >= most/100*nearly+(most%100*nearly+99)/100, most > 0 && used >= most
}

// See looks at the figure.
func (m *Mark) See(used uint64, now time.Time) {
	near, full := Near(used, m.most)
	switch {
	case full && due(m.full, now):
		m.log.Error("a limit is reached", "limit", m.what, "used", used, "most", m.most)
	case near && !full && due(m.warned, now):
		m.log.Warn("a limit is near", "limit", m.what, "used", used, "most", m.most)
	}
}

// due takes the turn of the next line, if it is time for one.
func due(last *atomic.Int64, now time.Time) bool {
	was := last.Load()
	return (was == 0 || now.UnixNano()-was >= int64(markAgain)) && last.CompareAndSwap(was, now.UnixNano())
}
