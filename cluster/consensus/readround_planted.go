//go:build planted_staleread

package consensus

// readRound is wrong on purpose: every node takes what it knows to be committed
// for the newest. The simulation must notice (jepsen/README.md).
func (g *Group) readRound() (uint64, *Refusal) { return g.raft.CommitIndex(), nil }
