// Package datadir is the layout of a node's data directory, and whose it is.
//
//	DIR/node.json              the cluster and the node that it belongs to, for ever
//	DIR/DIVERGED               this replica differed from the majority: never used again
//	DIR/REMOVED                the node was removed from its cluster: never used again
//	DIR/OUTLIVED               the cluster was recovered without the node: never used again
//	DIR/members.json           who the members are, as the node knew last, and what it is among them
//	DIR/RECOVERED              the node was made the only member, and the log does not say so yet
//	DIR/RESTORING              a restore is being written here, or was cut short
//	DIR/kernels/ID/raft/       the Raft log, term and vote; snapshots/ beside them
//	DIR/kernels/ID/log/        the execution log
//
// A node calls Claim before anything else is opened. Package cluster/restore calls
// Begin before it writes anything, and End when all of it is there: in between Claim
// refuses the directory, so that a restore that was cut short starts nowhere.
//
// What it never does: look into what the directories hold, or lock them (the Raft
// store does that).
package datadir
