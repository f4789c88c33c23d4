// Package nodestate is the lifecycle of a node as one state machine (NO-1):
// which states there are, what may take a node from one to another, under which
// conditions, and what else that changes.
//
// table.go is the machine, as data. A Registry is one node's: every change of
// state goes through its Transition, which looks the row up, asks the row's
// guard, does the row's action and writes an Entry for the journal, or refuses,
// changes nothing and writes that down. What components report (OK, Failed …)
// are the facts that guards look at.
//
// # Who calls it, in which order
//
// cmd/omni makes the Registry with what package nodejournal remembers (New),
// and takes it from Created to Starting and on. Package supervise reports what
// becomes of components, and package cluster asks it for every command whether
// intake is open. Everything may be called from any goroutine.
//
// # What it never does
//
// It starts and stops nothing, waits for nothing, does no I/O and reads no clock
// but the one that it was given. Entries are handed over under its lock, so that
// they come in order: whoever takes them must not block.
package nodestate
