// Package model is what must hold, written down a second time.
//
// It has, for each workload, the bodies of its operations as they stand in a
// history, and the rules that they must follow, from the contract in
// docs/semantics.md and not from the code that implements it. Package traffic
// records the bodies, package check puts a history to the rules.
//
// What it never does: ask the kernel what would be right.
package model
