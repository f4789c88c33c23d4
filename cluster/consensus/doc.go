// Package consensus runs one Raft group: the replicated log under a kernel.
//
// # Contract
//
// The owner (the node) has these duties, in this order:
//
//  1. Open the store and the streams, and Start the group with the kernel's
//     state machine. A new cluster gives every node the same Bootstrap list;
//     it is used once and ignored afterwards.
//  2. Pass the peer requests of this package's kinds on: OwnsKind, HandlePeer.
//  3. Lead: when it is called, this node leads the term. Propose a first real
//     event, wait for its outcome, and call SetReady(term). Until then no
//     linearizable read is answered. Return when the context ends.
//  4. Write with Propose. An Outcome says what happened: Applied, Refused (it
//     did not and will not), or Unknown.
//  5. Read: index, err := ReadIndex(ctx); err = WaitApplied(ctx, index); then
//     read the state. It works on every node. A session read waits for the
//     client's index instead; a stale one asks CaughtUp first.
//  6. Stop, which hands leadership over first; then close the store.
//
// # How one command travels
//
//	Propose ─▶ queue ─▶ proposer (one per term led) ─▶ raft.Apply ─▶ log on a majority
//	   ▲                                                                    │
//	   └── outcome ◀── collector ◀── future ◀── ApplyBatch of the state machine
//
// Whoever waits in Propose waits for its outcome, its context, and the group's
// end at once, never for the library's future alone: one that sits in the
// state machine's queue when the library shuts down is never resolved.
//
// # What it does against the library's known hazards
//
//   - Heartbeats take the main loop (steady.go): a heartbeat of a newer term on
//     the fast path lets a deposed leader stamp an entry with a term it never led.
//   - Reads do not use VerifyLeader (quorum.go): it counts answers to requests
//     sent before the read, and answers of servers without a vote.
//   - Snapshots are triggered by bytes (snapshots.go).
//   - A follower that sees the leader's process gone elects at once (crashfast.go).
//
// What it never does: look into what it replicates, start a cluster by itself,
// retry a proposal, or serve a read under a lease.
package consensus
