// Package fsm is the thin adapter between hashicorp/raft and the kernel: it
// decodes committed entries, applies them, keeps the execution log, publishes
// the state for readers, and writes and restores snapshots.
//
// # Who calls it, in which order
//
// The node opens one FSM per kernel and hands it to Raft, which calls
// ApplyBatch, Snapshot and Restore on one goroutine. On a start Raft restores
// the newest snapshot, if there is one, and then gives every later committed
// entry again; the FSM opens the execution log with the first of these calls.
//
// State may be read from any goroutine, at any time: it is an immutable copy
// that ApplyBatch swaps in once per batch, after the log that led to it can be
// read. No reader ever makes ApplyBatch wait.
//
// # What it never does
//
// It decides nothing: whatever an entry means is the kernel's business. It
// skips nothing: an entry that cannot be decoded or applied ends the node,
// since going on would diverge (EV-2). It never fsyncs in ApplyBatch.
package fsm
