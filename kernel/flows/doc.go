// Package flows holds the kernel's decisions, one story per file: what a
// command, a timer, a result or a reaction leads to when it takes several
// modules (mechanics: "Decide, then apply").
//
// A flow is a pure function of a View and a cause. It gives a refusal, or adds
// records to the batch, never both, and every check stands before the first
// record. It changes nothing: the kernel publishes the records one by one, and
// the module that owns each applies it. What a flow's records lead to is
// decided by reactions, flows too, which the routing table names; a reaction
// trusts the state it finds, not the record that woke it.
//
// The commands: define.go (define and start), trigger.go, kill.go, submit.go.
// The runner's events, dispatches and results: result.go. Time: timer.go. The
// tick: tick.go. The reactions: gate.go and kerneltools.go for a tool call,
// reactions.go for everything else.
package flows
