// Package summary says on a terminal, or in a file that another program reads, how
// a run or many of them went.
//
// Verdicts prints one run, a line for each checker and its findings below; Table
// prints many runs, a line each, as a soak wants it. Where the output is no
// terminal there are no colours and no signs, only words; Encode writes the same
// as JSON.
//
// What it never does: print what somebody else said without plain's care, since a
// terminal obeys what it is told.
package summary
