// Package lab is a cluster of real `omni server` processes on one machine, each on
// a host of its own as far as the network goes.
//
// # Who calls it, in which order
//
// Open makes the network: a namespace for each node, joined by a switch in this
// program (package wire), with this program as one more host, ClientHost. Then who
// wants other disks than directories mounts them at the nodes' Data, and hands what
// unmounts them to Defer. Start starts all nodes; from then on each Node is
// started, stopped, killed, paused and resumed, its stderr is blocked, and Wire's
// links get rules, by anybody at any time. Close ends all of it.
//
// What happens to a node's process is told to Plan.Life as it happens; that it ended
// by itself is among it, with its last words. What it writes to stdout and stderr is
// appended to its log file, with a line where each start begins and ends.
//
// # When the program is killed
//
// Processes die with the program, and so do network cards. Namespaces, mounts and
// loop devices stay. So every lab is claimed in a file below /run, which is locked
// while its program lives: Sweep removes what belongs to claims that nobody holds,
// and Open begins with that. Disks must be below Plan.Dir for it.
//
// # What it never does
//
// It never decides what is a fault, restarts nothing by itself, and removes no data.
package lab
