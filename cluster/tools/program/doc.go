// Package program makes tools of programs: one process for each call, which reads the
// arguments as JSON from its standard input and writes the result as JSON to its
// standard output (TO-13).
//
// cmd/omni makes one Kind, puts it into the node's registry, calls Open when the
// node's directory is its own, and Close when it stops. Programs lie in one directory
// that the operator names; a manifest names a file in it and no path. How they are
// held is package sandbox's.
//
// Every way to end has a code: TOOL_UNREACHABLE where the program was certainly not
// started, TOOL_FAILED for a status other than 0, TOOL_CRASHED for a signal,
// TOOL_LIMIT_EXCEEDED for the limits of CPU time and files, TOOL_RESULT_TOO_LARGE and
// TOOL_RESULT_INVALID for what it wrote. What it says on its standard error is in no
// result: its end goes to the node's log, at level debug, without the secrets that it
// was given.
package program
