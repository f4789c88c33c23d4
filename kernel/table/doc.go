// Package table holds the copy-on-write containers that kernel state lives in.
//
// A writer mutates in place; Publish gives readers an immutable copy in
// constant time. What the writer touches after that is copied once, page by
// page, so a snapshot is a pointer and no reader ever makes Apply wait
// (architecture.md, "kernel/", rule 2). Vector is for what is numbered densely,
// as agents are, Sorted for what is ordered by a key. What was not touched between
// two publications costs the second one nothing.
//
// Nothing here locks: one goroutine writes, and a published copy is never
// written again.
package table
