// Package logsize keeps how many bytes of the execution log are one agent's, from
// kernel version 2 on (EV-9), so that no agent alone fills every disk.
//
// The kernel counts as it writes records, and as it folds them. When an agent has come
// to a limit that is said once, by a record; its flows act on the record, not on the
// count.
//
// What it never does: decide what becomes of the agent, or count anything before the
// cluster is at version 2.
package logsize
