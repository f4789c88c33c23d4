// Package cluster is one node: a kernel under Raft, with everything that makes
// it serve. It proposes commands, answers reads at three levels, runs tool
// calls and proposes Pulses and Checkpoints while it leads, fetches from its
// peers what it lacks of the execution log and gives them what they lack, and
// stops itself when its replica is not to be trusted.
//
// # Who calls it, in which order
//
// cmd/omni opens a Node with its Raft transport and its tool adapters (Open),
// hands it to the HTTP API, and stops it (Stop), which gives leadership away
// first. Everything else may be called from any goroutine in between. A node
// that Open refuses because one event ended its process over and over is held in
// safe mode instead (Hold): to the API it looks the same and refuses everything.
// Where a node stands in its lifecycle is in its configuration's Registry (package
// nodestate), which cmd/omni makes before and keeps after; Order changes it in an
// operator's name.
//
// # What it never does
//
// It decides nothing about agents: that is the kernel's. What it does as a
// leader can all be derived again from the state, so a new leader continues
// where the old one stopped: the outbox says which calls are owed, the timers
// say when time must pass. It never answers from a state that it has not
// reached, and never calls an unknown outcome anything else.
package cluster
