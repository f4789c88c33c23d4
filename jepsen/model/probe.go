package model

// Probe is the name of the workload that asks every node, when the faults are over,
// until it serves again. The key is the node.
const Probe = "probe"

// The operations of Probe: what a node must do to be taken for one that serves.
const (
	Serves = "stale"  // it answers a read by itself, having caught up
	Leads  = "linear" // it answers a linearizable read, with the leader's help
)
