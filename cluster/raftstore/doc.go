// Package raftstore keeps one Raft group's log, term and vote on disk.
//
// Who calls it, in which order: the node opens the store (Open takes the
// directory's lock), hands Logs and Stable to the Raft library, asks Bytes to
// decide when a snapshot is due, and closes the store after the group has
// stopped. Two kinds of files are offered behind one behaviour: "bolt", one
// database file, and "wal", append-only segments. One conformance suite runs
// over both.
//
// What the wrapper adds to the libraries underneath:
//
//   - In the database entries lie in chunks, each with a checksum, and each an
//     entry of the library's (chunklog.go, chunk.go, entry.go). All are read when
//     the store is opened: what is damaged or missing is refused.
//   - A vote is one record, written in one transaction (vote.go).
//   - Deleting many entries happens in steps, in an order that leaves no hole
//     after a crash (deletion.go).
//   - A log never has a gap: what is before one is dropped (logs.go).
//   - A write that takes too long ends the process: a leader with a stuck disk
//     would otherwise stay leader for ever, because heartbeats do not touch the
//     disk (watchdog.go).
//   - A store that failed once stays failed. After a failed fsync nobody knows
//     what is on disk, and a later fsync may report success for pages that the
//     operating system has dropped. So the first failure calls Fatal, and
//     nothing is acknowledged after it.
//   - The bytes stored are counted, because the library only knows how to
//     trigger snapshots by the number of entries.
//
// What it never does: repair a damaged file, delete a directory, or switch a
// directory from one kind to the other. A node that lost its store comes back
// under a new id, since it may have voted.
package raftstore
