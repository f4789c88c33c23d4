package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Flawed applies an event as if a flow had decided these records: what a bug in
// one would do.
func Flawed(records ...bus.Record) func(k *Kernel, index, term uint64, e *event.Event) Applied {
	return func(k *Kernel, index, term uint64, e *event.Event) Applied {
		k.begin(index, term, e)
		for _, r := range records {
			k.out.Add(r)
		}
		k.run(0)
		k.drainTicks()
		return k.seal(event.Outcome{Index: index})
	}
}

// WithApplier runs something while a module has a bug: beside what its applier
// does to a kind of record, it also does this to the state.
func WithApplier(kind bus.Kind, also func(*state.State, bus.Record), run func()) {
	before := routes[kind].apply
	defer func() { routes[kind].apply = before }()
	routes[kind].apply = func(s *state.State, at bus.At, r bus.Record) {
		if before != nil {
			before(s, at, r)
		}
		also(s, r)
	}
	run()
}
