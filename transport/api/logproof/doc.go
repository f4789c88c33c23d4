// Package logproof is a proof that one record is in the execution log: small,
// and checkable without a cluster (LO-7).
//
// A node makes it: the block that holds the record, the way from that block's
// digest up to the root of the Merkle tree over all blocks, and the block that
// has this root on record, whose chain value is the log's own at its index.
// Whoever holds the proof calls Check. What is left to trust is one chain value
// of 32 bytes: the one that the cluster's nodes compare at every Checkpoint, or
// one that was written down somewhere else.
//
// It never asks anybody anything.
package logproof
