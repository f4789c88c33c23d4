// Package capacity tells how much of what a cluster may hold is there: agents, sessions,
// idempotency keys and the rest that its configuration bounds for ever (EV-8).
//
// Of reads it from a published state, in no time and at any moment: for metrics, and for
// a cluster's status. A node makes a Watch and shows it the state now and then; the
// node's log then says once that a limit is near, and once that it is reached.
//
// What it never does: refuse anything, or change anything. The kernel refuses, in log
// order.
package capacity
