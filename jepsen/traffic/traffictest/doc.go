// Package traffictest is a cluster of real processes on the loopback interface, for
// the tests of workloads and checkers: it needs no privileges, and knows no fault
// but SIGKILL and SIGSTOP, and answers that are lost. Fault tests themselves use
// package lab.
//
// Start builds omni and starts the nodes; Run does the traffic and gives the
// evidence to be judged.
package traffictest
