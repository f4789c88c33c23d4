package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Inject publishes records with no reaction between or after them: the only
// way to stop an agent in a state that is passed through within one event.
func Inject(records ...bus.Record) func(k *Kernel, index, term uint64, e *event.Event) Applied {
	return func(k *Kernel, index, term uint64, e *event.Event) Applied {
		k.begin(index, term, e)
		for _, r := range records {
			k.publish(r, 0)
		}
		return k.seal(event.Outcome{Index: index})
	}
}

// TriggerAs applies an AgentTrigger event as if somebody else than a client
// had caused it, within an ordinary Apply.
func TriggerAs(caller lifecycle.Caller) func(k *Kernel, index, term uint64, e *event.Event) Applied {
	return func(k *Kernel, index, term uint64, e *event.Event) Applied {
		k.begin(index, term, e)
		k.fireTimers()
		target, refusal := flows.Trigger(k.view(), decoded[event.Trigger](k, e), caller, &k.out)
		var outcome event.Outcome
		if refusal != nil {
			outcome = k.refused(flows.Done{Target: target}, refusal)
		} else {
			k.run(0)
			outcome = k.answer(flows.Done{Target: target}, failure.Refusal{})
		}
		k.drainTicks()
		return k.seal(outcome)
	}
}

// Judge publishes records as Inject does, of which the last is the exit of a
// tick with requests, and lets the gate react to it, whatever the agent's state.
func Judge(records ...bus.Record) func(k *Kernel, index, term uint64, e *event.Event) Applied {
	return func(k *Kernel, index, term uint64, e *event.Event) Applied {
		k.begin(index, term, e)
		for _, r := range records {
			k.publish(r, 0)
		}
		flows.Gate(k.view(), records[len(records)-1], &k.out)
		k.run(0)
		return k.seal(event.Outcome{Index: index})
	}
}

// RunTick runs the tick of one agent, whatever its state and the queue say.
func RunTick(agent uint32) func(k *Kernel, index, term uint64, e *event.Event) Applied {
	return func(k *Kernel, index, term uint64, e *event.Event) Applied {
		k.begin(index, term, e)
		flows.Tick(k.view(), agent, &k.out)
		k.run(0)
		return k.seal(event.Outcome{Index: index})
	}
}

// Kinds lists the record kinds that the routing table knows, in order.
func Kinds() []bus.Kind {
	var kinds []bus.Kind
	for k := range routes {
		if routes[k].name != "" {
			kinds = append(kinds, bus.Kind(k))
		}
	}
	return kinds
}

// HasApplier tells whether some module keeps a kind of record.
func HasApplier(k bus.Kind) bool { return routes[k].apply != nil }

// Reactions is the number of flows that react to a kind of record.
func Reactions(k bus.Kind) int { return len(routes[k].react) }

// RootOf is a snapshot's root section in some format.
func RootOf(format uint32, s *state.State) []byte {
	return event.Encode(root{Format: format, Config: s.Config, Clock: s.Clock, Index: s.Index, Term: s.Term})
}

// BootedBody is the body of a KernelBooted record.
func BootedBody(c *config.Config) bus.Body { return &booted{*c} }

// RowBytes is an agent's section as a snapshot writes it.
func RowBytes(r *state.Row) []byte { return appendRow(nil, r) }

// SliceOf tells what the routing table says of slices: whether it says anything
// for the kind, and whether it has a part of its applier for them.
func SliceOf(k bus.Kind) (told, hasPart, wantsPart bool) {
	r := &routes[k]
	return r.slice != 0, r.part != nil, r.slice == partly || r.slice == everyones
}
