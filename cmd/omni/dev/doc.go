// Package dev runs a cluster on one machine: real `omni server` processes, real
// disks, one directory.
//
// The commands dev, demo and drill call Start, use the nodes, and call Stop.
// Start prepares the directory, holds its lock, chooses ports, starts one child
// process a node and waits until every node is ready. A child that ends is
// started again after RestartDelay, until Stop. DIR/dev.json says at any time
// who runs where, also to other commands: see ReadFile.
//
// What it never does: touch a process that it did not start, or a directory
// that holds something else.
package dev
