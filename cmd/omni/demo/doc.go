// Package demo does the main job, step by step: a cluster of real processes
// carries an agent through its life while its leader is killed.
//
// Run starts everything itself, on free ports and in a temporary directory, and
// leaves nothing behind. What happens is told while it happens; what must hold
// is checked and stands in the Summary: no acknowledged command lost or
// duplicated, the agent's result as expected, its tool calls as recorded, the
// same history and the same digest on every node.
//
// What it never does: pretend. The node is killed with SIGKILL, the tool is an
// HTTP server that counts its calls, and every figure is read back from the
// nodes.
package demo
