// Package nodes simulates whole clusters in one process: real nodes (package
// cluster, hashicorp/raft under them) in virtual time, with a network and disks
// that fail.
//
// Run is called inside a testing/synctest bubble. It starts a cluster, lets
// clients write, read, compare and set, and let agents call a tool that must not
// be called twice, while faults come by a schedule: partitions of every shape,
// loss, delay, crashes that lose what was not fsynced, restarts, snapshots that
// make others need one, transfers of leadership, clocks that are wrong. Then the
// faults end, and within 30 virtual seconds everyone must have everything. The
// Outcome holds what clients were told, what the world saw, and what the nodes
// hold in the end; Check judges it, outside of the bubble.
//
// The seed decides the schedule of faults and what clients do. It does not decide
// how goroutines interleave, nor the timeouts that the library draws: the same
// seed is a similar run, not the same.
//
// What it never does: run processes, or use a real network or real time.
package nodes
