// Package survivor makes a cluster of one node that is left, after a majority of its
// voters was lost for ever.
//
// The caller stops the node and gives Look its data directory: a Finding, which says
// what the node has, who the members were, and what may be lost. Somebody who has seen
// it confirms it with its Token. Recover then copies the Raft store beside itself, and
// appends a configuration in which the node is the only member. The node starts as it
// always did, elects itself, and goes on with every entry that it has. Its first event
// says on record that this happened (ME-8), and the recovery is part of the directory's
// lineage: who comes back with what was before is refused (ME-9). Others are added then,
// with empty directories. The process calls Settle before each start, for a recovery
// that was cut short.
//
// What it never does: start a node, or decide that the others are lost. If they are
// not, two clusters come of it.
package survivor
