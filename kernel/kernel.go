package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/invariants"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Version is the newest kernel version that this binary knows (EV-9).
const Version = config.Version

// Kernel is the machine: its state, and what it needs while it applies one
// event. It is used by one goroutine; readers use what Publish returned.
type Kernel struct {
	state    *state.State
	compiled *compiled

	block     logging.Builder
	at        bus.At
	work      uint64 // work units spent on the event (EV-12)
	out       bus.Batch
	reactions []pending
	requested []tools.Key
	checks    invariants.Checker
	breaking  bool // a breach is being recorded
	applying  bool
	body      any // of the event's command, when it was read already

	// Bodies of the two records that every event has: nobody keeps them.
	recorded event.Recorded
	outcome  event.Outcome
}

// pending is a published record whose reactions have not been decided yet.
type pending struct {
	record bus.Record
	place  uint32 // its place in the block
}

// New returns the kernel before its first event. lookup finds evaluators
// (EX-9); registry.Lookup offers the ones of this module.
func New(kernelID string, lookup flows.Lookup) *Kernel {
	return fromState(state.New(kernelID), lookup)
}

func fromState(s *state.State, lookup flows.Lookup) *Kernel {
	k := &Kernel{state: s}
	k.compiled = newCompiled(s, lookup)
	k.checks.Grants = k.compiled.Grants
	return k
}

// Applied is what one event came to. Block is valid until the next Apply.
type Applied struct {
	Outcome event.Outcome
	Block   []byte
	Log     *logging.Tables // the log's tables after the event; valid until the next Apply
}

// Publish returns the present state as an immutable copy for readers.
func (k *Kernel) Publish() *state.State { return k.state.Publish() }

// Requested lists the calls that entered the outbox since it was last asked,
// in order.
func (k *Kernel) Requested() []tools.Key {
	keys := k.requested
	k.requested = nil
	return keys
}

// Log returns the log's tables, for reading.
func (k *Kernel) Log() *logging.Tables { return &k.state.Log }
