// Package failure is the kernel's vocabulary of what can go wrong: the table
// of failure codes with their classes (FA-5) and the shape of a refusal.
//
// It is a leaf: every module may name a code, none may invent one elsewhere.
// A Refusal is data. It answers a command that was judged and found wanting,
// and it is never a Go error inside the kernel (LC-2). A Failure ends a tick
// or answers a tool call.
//
// Texts here are ours, never a library's or the Go runtime's: they enter
// records, and records must be the same bytes under every build (EV-13).
package failure
