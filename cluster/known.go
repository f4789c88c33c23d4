package cluster

import (
	"context"
	"slices"

	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/supervise"
)

// ErrRemoved is what ends a node that was removed from its cluster. It stops in order
// and does not start again.
var ErrRemoved = datadir.ErrRemoved

func retire(dir string) error { return datadir.Retire(dir, ErrRemoved) }

// known are the members as far as they can be known without Raft: what the node knew
// last, and otherwise what it was started with.
func (c *Config) known() []Peer {
	kept, err := datadir.ReadMembership(c.DataDir)
	if err != nil || len(kept.Peers) == 0 {
		return c.Peers
	}
	out := make([]Peer, len(kept.Peers))
	for i, p := range kept.Peers {
		out[i] = Peer{ID: p.ID, Raft: p.Raft, API: p.API}
	}
	return out
}

// askAll asks every other node that this one has ever been told of.
func (n *Node) askAll(ctx context.Context, ask func(context.Context, Peer)) {
	all := n.peers()
	for _, p := range slices.Concat(n.config.Peers, n.config.known()) {
		if !slices.ContainsFunc(all, func(have Peer) bool { return have.Raft == p.Raft }) {
			all = append(all, p)
		}
	}
	asked, ctx := supervise.NewGroup(ctx)
	for _, p := range all {
		if p.ID != n.config.NodeID {
			asked.Go(func() { ask(ctx, p) })
		}
	}
	asked.Wait()
}
