// Package history reads what omni replay and omni run replay replay, whatever it comes
// in: an agent's export, a run's ledger, a log's export, or a backup, told apart by
// how they begin.
//
// OfAgent feeds a replay.Taker the blocks of one agent, OfRun those of one run, Whole
// feeds every block of a log; Ledger reads a ledger without replaying it. Each reads a stream from front to back, once, checks it as its
// format says, and keeps next to nothing of it.
//
// It never asks a cluster: the live log comes as an export too.
package history
