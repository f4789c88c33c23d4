// Package sessions remembers what clients were answered, so that a command
// sent again has one effect and the same answer, across failover, snapshot and
// restart (CL-3; mechanics: "Sessions").
//
// Any node mints a session id without a log entry: kernel milliseconds and 80
// random bits. The session opens with its first command while those
// milliseconds are young, and is dropped only after a longer idle time, so a
// dropped one can never open again and no command can run twice.
//
// A plain HTTP caller may send an idempotency key instead; its answer is kept
// for a stated window.
package sessions
