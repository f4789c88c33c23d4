// Command omni is everything that a person or a script does with Omni Kernel:
// it runs a node (server), a cluster on one machine (dev), the main job told
// step by step (demo), and talks to a running cluster (agent, log, cluster,
// drill, bench).
//
// main builds the command tree, one file per subcommand, and maps what a
// command returned to an exit code:
//
//	0  done
//	1  refused: it did not happen
//	2  usage: the call makes no sense, nothing was done
//	3  the outcome is unknown: it may have happened
//	4  nobody could be reached: it did not happen
//
// stdout is data, stderr is talk. All but server use transport/client and see
// nothing of the server's side. docs/cli.md describes every command; a test
// compares it with the tree.
package main
