// Package event is what goes into the Raft log: the envelope, the golden list
// of event kinds, and one Go struct per command, which serves the API as JSON
// and the log as canonical CBOR (architecture.md, "kernel/" rule 4).
//
// The door (transport, cluster) builds an Event, stamps it and encodes it;
// kernel.Apply decodes it on every replica. Check methods hold the rules that
// need no state; both the door and Apply call them, so a bad command costs no
// log entry and a forged one changes nothing.
//
// Tags are append-only: a number once given keeps its meaning.
package event
