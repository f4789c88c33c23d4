// Package load puts a cluster under load and keeps the books about it.
//
// Two loops make the load. Open sends at a fixed pace, whatever becomes of it,
// and counts a latency from when its operation was due. Closed sends as fast as
// answers come, which finds the most that a system does; Histogram.Corrected
// then adds what the loop omitted while it waited. Either way a stall shows in
// the percentiles instead of hiding behind the few operations that met it.
//
// Writes is a load of commands that can be told apart for ever. Its Ledger
// holds what the client was told about each, and Audit compares that with what
// the cluster holds afterwards: lost, duplicated, in doubt.
//
// The commands demo, drill and bench use it, through transport/client only.
// What it never does: hold a failure of the cluster's to be its own, or count
// as done what nobody acknowledged.
package load
