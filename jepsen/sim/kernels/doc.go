// Package kernels simulates replicas of one kernel over an ordered log: no
// Raft, no network, no goroutine and no clock, so that a seed says everything
// that happens.
//
// Run makes a history from a seed. It commits random events (those of
// kernel/kerneltest.History, and those of a leader's runner, whose results are
// lost, late and repeated), delivers them to the replicas late and in batches
// that are cut anywhere, takes snapshots, crashes replicas between batches and
// inside of them, restarts them from their snapshot and the suffix of the log,
// drops the log's front so that who is far behind needs another's snapshot, and
// lets leaders and their clocks change. Every block that a replica makes must be
// the log's, and every state at one index must have one digest. Then the faults
// end, everyone catches up, all work is drained, and every check of kerneltest
// is made of what came of it.
//
// What happened is a list of Ops with all their data. A Failure holds it, and
// Shrink replays shorter ones: without their tail first, then without what is
// not needed.
//
// What it never does: simulate how entries become committed. That is package
// nodes.
package kernels
