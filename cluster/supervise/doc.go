// Package supervise keeps a node's components at work (NO-1): what fails or
// panics is reported to the node's lifecycle and started again, after a wait once it
// keeps failing, until its budget is spent.
//
// # Who calls it, in which order
//
// Package cluster and cmd/omni call Run with the components that live together:
// those of a node, those of a term that it leads, its API. Run, or Begin's
// channel, tells when its context has ended and every component with it. A component
// that has goroutines of its own runs them in a Group, so that a panic in one of them
// is its panic; a rule of internal/lint sees to it that a node's code starts none
// otherwise. Whoever answers requests in a component's name recovers from what one of
// them panics with, and tells Caught.
//
// # What it never does
//
// It decides nothing about the node: what failures mean to it is for the guards of
// package nodestate. It does not supervise Raft, whose panic ends the process:
// half a consensus must not go on.
package supervise
