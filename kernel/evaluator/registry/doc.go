// Package registry finds the evaluators that this module offers, by name: std/1 of
// package evaluator, and script/1 of package script. It is what a kernel is handed
// unless its user brings a Lookup of his own (EX-9), which falls back to this one
// for the names that it does not know.
//
// # Who calls it
//
// cmd/omni hands Lookup to the kernel and to the door; tests do the same.
//
// # What it never does
//
// It holds nothing, and the answer for a name never changes: programs of agents
// are pinned to it.
package registry
