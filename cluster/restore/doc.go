// Package restore makes a cluster from a backup: for each of its nodes, or for one, a
// data directory in which a node starts as if it had been there all along.
//
// The caller gives Run a backup and a Plan: the new cluster's id and members, and
// where the directories shall be. Each gets a Raft snapshot of the state whose
// configuration is the new members, the term, and the execution log in segments of
// the new cluster. While it writes, Run folds the log and compares: the state that
// nodes will start from is the one to which their log leads.
//
// The state itself still names the old cluster. The first leader commits
// ClusterRestored, which says on record what was restored, and only then is the new
// cluster ready (EV-17).
//
// A restore that fails removes what it has written. One that is cut short, by a
// crash or a power cut, leaves directories in which no node starts, and which the
// next restore into them clears (package cluster/datadir).
//
// What it never does: touch a directory that holds anything, start a node, or give a
// cluster the id of the one that was backed up.
package restore
