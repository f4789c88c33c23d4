// Package kerneltest drives real kernels in tests, without Raft: a
// single-threaded simulation of several replicas over one log, commands and
// results at hand, and a generator of random histories.
//
// It is imported by tests only. Nothing here replaces a part of the kernel:
// what runs is the kernel, and what is compared are its bytes.
package kerneltest
