// Package kerneltest drives real kernels in tests, without Raft: a
// single-threaded simulation of several replicas over one log (Sim), commands
// and results at hand, the properties that every log must have (Sim.Check), and
// random histories (History), whose choices a property draws or a seed fixes.
//
// A test makes a Sim with New, commits events with its methods, looks at rows
// and records, and ends with Check. Show writes a record for a transcript.
//
// It is imported by tests only. Nothing here replaces a part of the kernel:
// what runs is the kernel, and what is compared are its bytes.
package kerneltest
