// Package kernel is a small deterministic operating system for agents: data
// in, records and outcomes out.
//
// # The contract
//
// The caller owns a Kernel and feeds it the committed log, one event at a
// time, on one goroutine:
//
//  1. Call Apply for every event, in index order, and nothing else changes the
//     kernel. Equal events at equal indexes give equal records, equal outcomes
//     and equal state on every machine, 32 bit ones included.
//  2. Append the returned block to the execution log before the next Apply;
//     its bytes are valid until then.
//  3. After a batch of events call Publish, and let readers have the state it
//     returns: it is immutable, and Apply never waits for who holds it.
//  4. Run the calls that Requested lists, if this node leads, and hand every
//     result back in as a ToolResult event. After gaining leadership look at
//     the whole outbox instead.
//  5. When the state's next deadline passes, or it is Behind, and nothing else
//     is committed, propose a Pulse: the kernel has no clock of its own. While it
//     is suspended (State.Estop) deadlines wait, and 4 does too: no call begins.
//  6. Persist Sections of a published state as a snapshot, and start from one
//     with Restore.
//
// A driver is a loop of a few lines:
//
//	k := kernel.New("default", registry.Lookup)
//	for entry := range committed {
//		applied := k.Apply(entry.Index, entry.Term, entry.Event)
//		log.Append(applied.Block)
//		answer(entry, applied.Outcome)
//	}
//	readers.Store(k.Publish())
//
// Apply panics when an invariant is broken that cannot be pinned on an agent,
// and on an event it cannot decode: going on would diverge (EV-2).
//
// # The inside
//
// routes.go is the table of record kinds: which module owns each, and which
// flows react. Flows (kernel/flows) decide; modules apply. Everything an event
// does is in apply.go, top to bottom.
package kernel
