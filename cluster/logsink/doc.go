// Package logsink keeps a node from waiting for whoever reads its log output. A
// pipe whose reader has stopped would stop everything that logs, Raft included.
//
// cmd/omni makes a Sink over stderr, gives it to the logger as its output, asks it
// for the node's health how long a write has been waiting (Blocked), and gives it a
// moment to write what is left when the process ends (Close).
//
// What it never does: wait in Write, grow beyond its bound, or lose lines without
// saying how many.
package logsink
