// Package kerneltest drives real kernels in tests, without Raft: a
// single-threaded simulation of several replicas over one log (Sim), commands
// and results at hand, the properties that every log must have (Sim.Check), and
// random histories (History), whose choices a property draws or a seed fixes.
//
// A test makes a Sim with New, commits events with its methods, looks at rows
// and records, and ends with Check. Show writes a record for a transcript.
//
// Naive is a second model of the whole kernel, as plain as it can be. A history
// made by NewModelled lets it take every event in too, and fails as soon as the
// two do not agree.
//
// It is imported by tests only. Nothing here replaces a part of the kernel:
// what runs is the kernel, and what is compared are its bytes, or what the
// model says of them.
package kerneltest
