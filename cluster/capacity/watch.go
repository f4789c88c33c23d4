package capacity

import (
	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/kernel/state"
)

// again is the share of a limit, in percent, below which what was said of it may be said
// once more: a figure that goes up and down about a bound fills no log.
const again = 70

// What was said of a limit.
type said int

const (
	nothing said = iota
	near
	reached
)

// Watch says in a node's log that limits come near. One goroutine at a time uses it.
type Watch struct {
	log  hclog.Logger
	said map[string]said
}

// NewWatch makes one that has said nothing.
func NewWatch(log hclog.Logger) *Watch { return &Watch{log: log, said: make(map[string]said)} }

// See looks at a state: a warning when a limit comes near, an error when it is reached,
// each once.
func (w *Watch) See(s *state.State) {
	for _, u := range Of(s) {
		before := w.said[u.Limit]
		switch {
		case u.Reached() && before < reached:
			w.said[u.Limit] = reached
			w.log.Error("the cluster holds as much as one of its limits allows: more is refused", "limit", u.Limit, "used", u.Used, "most", u.Most)
		case u.Near() && before < near:
			w.said[u.Limit] = near
			w.log.Warn("the cluster comes near one of its limits", "limit", u.Limit, "used", u.Used, "most", u.Most)
		case u.percent() < again && before != nothing:
			w.said[u.Limit] = nothing
			w.log.Info("the cluster is no longer near one of its limits", "limit", u.Limit, "used", u.Used, "most", u.Most)
		}
	}
}
