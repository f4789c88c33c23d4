// Package check judges a run by what was recorded of it.
//
// A Checker sees the Evidence: the history, and the log as the nodes held it in
// the end. Each gives a Verdict that says what it looked at, in figures, since a
// check that saw nothing has shown nothing. The first of them, Harness, is about
// the test itself: whether there was enough traffic before the first fault,
// whether the faults were really there, whether every operation was settled. What
// it does not vouch for is no evidence.
//
// Checkers know nothing of the kernel: what must hold is written down in package
// model a second time.
//
// What it never does: ask a cluster. A run can be judged again years later.
package check
