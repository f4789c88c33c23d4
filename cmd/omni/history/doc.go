// Package history reads what omni replay replays, whatever it comes in: an
// agent's export, a log's export, or a backup, told apart by how they begin.
//
// OfAgent feeds a replay.Taker the blocks of one agent, Whole feeds every block
// of a log. Either reads a stream from front to back, once, checks it as its
// format says, and keeps next to nothing of it.
//
// It never asks a cluster: the live log comes as an export too.
package history
