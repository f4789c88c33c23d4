// Package lineage keeps which recoveries of its cluster a node's data has been through
// (ME-9): one id for each time that a lost majority made one node the only member,
// oldest first. The streams between nodes refuse whoever has another lineage
// (package raftstream), so that a member which was lost, and comes back with what it
// had, disturbs nobody.
//
// Who calls it: the process opens the Line of its data directory before it listens for
// peers; the node says, with Follow, when it is there to judge.
package lineage
