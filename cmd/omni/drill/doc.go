// Package drill hurts a cluster on purpose and measures how it gets over it.
//
// A drill takes a cluster of this machine, whose processes it may signal, keeps
// an open loop of commands running, and goes round by round: wait until every
// node is well, take the leader away, note when a new one leads and when the
// first command is accepted. At the end it compares what was promised with what
// is there. See Run.
//
//	kill-leader   SIGKILL; whoever keeps the cluster starts the node again
//	pause-leader  SIGSTOP for 1 to 10 heartbeats, then SIGCONT, while readers
//	              check every linearizable answer against acknowledged commands
//	transfer      leadership is handed over in good order
//
// What it never does: count a round as passed on which there was hardly any
// load, or signal a process that is not a node of the cluster it was given.
package drill
