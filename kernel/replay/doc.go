// Package replay holds the kernel to its own log: it runs again what the log
// says was run, with the recorded results, and compares every record (LO-4,
// INV-15, SM-INV-05).
//
// Agent replays one agent, from the blocks that touch it and nothing else. A
// reader makes one with NewAgent, feeds it those blocks, oldest first, until
// Done says that the rest does not matter, and asks for its Stats. At every
// TICK_STARTED the tick is evaluated from the folded state, and the records of
// its run are compared as they come; every transition is looked up in the table
// and held against where the agent is, and where a tick's exit demands one, it
// must be that one.
//
// Log replays a whole log: every event is applied to a fresh kernel, and each
// block compared.
//
// The first record that differs ends a replay, as a *Deviation. What cannot be
// read at all is another error: nothing is known about it.
//
// What it never does: read a file, ask a clock, or call a tool. It cannot: it is
// kernel code, a recorded result is the only answer there is, and what has none
// ends there (INV-18).
package replay
