package consensus

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"
)

// Crash-fast failover. A follower watches the leader's process. When it is
// known to be gone (not slow, not unreachable: gone), waiting for the heartbeat
// timeout tells nothing new, and the follower stands for election at once.
//
// It may: election safety does not depend on when an election starts. A wrong
// guess costs an election, never an entry. The followers take turns by rank, so
// that they do not split the vote.

// watchLeader keeps an eye on whoever leads.
func (g *Group) watchLeader() {
	// One place in the channel is enough: what is dropped while it is taken
	// would only say "look again" once more.
	changes := make(chan raft.Observation, 1)
	observer := raft.NewObserver(changes, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	g.raft.RegisterObserver(observer)
	defer g.raft.DeregisterObserver(observer)
	for g.ctx.Err() == nil {
		ctx, cancel := context.WithCancel(g.ctx)
		if leader, known := g.Leader(); known && leader.ID != g.config.NodeID {
			g.crew.start(func() { g.watchProcess(ctx, leader) })
		}
		select {
		case <-changes:
		case <-g.ctx.Done():
		}
		cancel()
	}
}

// watchProcess waits for the leader's process to end, for as long as it leads.
func (g *Group) watchProcess(ctx context.Context, leader Member) {
	for {
		err := g.config.Crash.AwaitCrash(ctx, leader.Address)
		if err == nil {
			g.succeed(leader)
			return
		}
		// Nothing is known. If it is gone all the same, the heartbeat timeout
		// finds out.
		if !pause(ctx, g.config.Timing.Heartbeat) {
			return
		}
	}
}

// succeed stands for election after those with a better rank had their turn.
func (g *Group) succeed(gone Member) {
	heirs := slices.DeleteFunc(g.voters(), func(m Member) bool { return m.ID == gone.ID })
	slices.SortFunc(heirs, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	rank := slices.IndexFunc(heirs, func(m Member) bool { return m.ID == g.config.NodeID })
	if rank < 0 {
		return // no vote, no candidacy
	}
	// A quarter of the heartbeat is several times what an election takes.
	if rank > 0 && !pause(g.ctx, time.Duration(rank)*g.config.Timing.Heartbeat/4) {
		return
	}
	leader, known := g.Leader()
	if g.raft.State() != raft.Follower || (known && leader.ID != gone.ID) {
		return
	}
	g.config.Logger.Warn("the leader's process is gone, standing for election", "leader", gone.ID, "rank", rank)
	g.transport.timeoutNow(raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax,
		ID:              []byte(g.config.NodeID),
		Addr:            []byte(g.transport.LocalAddr()),
	})
}
