// Package sim holds the tests of the two simulations: kernels over a simulated
// log, and whole nodes in virtual time. See ../README.md for how to run them and
// how to see a failure again.
package sim
