package nodestate

import (
	"cmp"
	"slices"
	"time"
)

// Snapshot is where a node stands at one moment.
type Snapshot struct {
	Memory
	Attempt    int           // starts that have failed in a row
	RetryIn    time.Duration // until the next one, in Backoff
	Components []Component
	Before     *Memory // what the process before left; nil: there was none
	Unkept     error   // why it is not kept at the moment; nil when it is
}

// Snapshot tells where the node stands.
func (r *Registry) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Snapshot{Memory: r.memory, Attempt: r.attempt, Before: r.options.Before, Components: make([]Component, 0, len(r.components))}
	if r.options.Sink != nil {
		s.Unkept = r.options.Sink.Err()
	}
	if s.State == Backoff {
		s.RetryIn = max(0, r.retryAt.Sub(r.options.Now()))
	}
	for _, c := range r.components {
		s.Components = append(s.Components, c.Component)
	}
	slices.SortFunc(s.Components, func(a, b Component) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// State is the node's.
func (r *Registry) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.memory.State
}
