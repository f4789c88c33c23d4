// Package workers keeps the calls that are lent to workers: programs outside of the
// cluster that ask for calls of named tools, make them, and say what came of it
// (TO-15). It is the leader's, and is nobody's record: what is owed is in the outbox.
//
// # Who calls it, in which order
//
// The runner opens the Broker for a term with Open, and gives it every call of such a
// tool: Offer one that nobody has, Hold one that an earlier leader dispatched. A poll
// takes calls with Take, has those dispatched that must not be made twice, and then
// says Lend of what it hands to the worker, or Return of what it does not. A worker
// shows its lease with every sign of life (Extend), and with its result (Close, then
// Drop, or Reopen when the result was not committed). Expire ends leases and calls
// whose time is over, and says which calls need a result. Close of the term ends every
// wait.
//
// # What a lease is
//
// A call is handed out with a fence: the term, and how often the call was handed out
// in it. Fences of one call only grow, and the Broker takes nothing from a lease but
// the newest. After a failover nobody knows who has what: a call that may be made twice
// is offered anew, under a higher fence. One that was dispatched was handed out once, so
// its lease is taken for what it is when it is shown: the mark in the token proves that
// a leader of this cluster made it.
//
// # What it never does
//
// It starts no goroutine, waits for nothing, proposes nothing, and does not look at the
// clock: times are handed in, and are monotonic. A call that waits costs an entry in a
// map, and no more.
package workers
