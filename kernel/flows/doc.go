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
// Where to find what:
//
//   - commands: define.go (define and start), trigger.go, kill.go, submit.go,
//     mailbox.go (send), escalate.go (decide), revoke.go, memory.go (shared
//     memory), archive.go
//   - what nodes propose: result.go (dispatches and results), restored.go;
//     time: timer.go
//   - the tick: tick.go, and teardown.go for an agent's last one
//   - requests that leave it: gate.go is the door; authority.go judges,
//     kerneltools.go, memory.go, mailbox.go, childspec.go and delegate.go do what
//     the kernel does itself; settle.go answers, withdraw.go takes back
//   - what follows: reactions.go; fault.go and breach.go when something went
//     wrong, suspend.go, children.go and revoke.go (the cascade) for the tree
package flows
