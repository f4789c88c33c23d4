package consensus

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/raft"
)

// Members of the latest configuration, committed or not.
func (g *Group) Members() []Member {
	return membersOf(g.raft.GetConfiguration().Configuration())
}

func membersOf(c raft.Configuration) []Member {
	out := make([]Member, 0, len(c.Servers))
	for _, s := range c.Servers {
		out = append(out, Member{ID: string(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
	return out
}

// Roster is the latest configuration. It is committed once the group has committed
// everything up to UpTo: the library does not tell the configuration's own index.
type Roster struct {
	Members []Member
	UpTo    uint64
}

// Roster gives it.
func (g *Group) Roster() Roster {
	members := g.Members()
	return Roster{Members: members, UpTo: g.raft.LastIndex()} // in this order
}

// Committed tells whether everything up to an index is known to be.
func (g *Group) Committed(index uint64) bool { return g.raft.CommitIndex() >= index }

func (g *Group) voters() []Member {
	return slices.DeleteFunc(g.Members(), func(m Member) bool { return !m.Voter })
}

func (g *Group) otherVoters() []Member {
	return slices.DeleteFunc(g.voters(), func(m Member) bool { return m.ID == g.config.NodeID })
}

// Leader is whom this node takes for the leader.
func (g *Group) Leader() (Member, bool) {
	address, id := g.raft.LeaderWithID()
	if id == "" {
		return Member{}, false
	}
	return Member{ID: string(id), Address: string(address), Voter: true}, true
}

// AddLearner adds a node that receives the log and has no vote. Only the leader
// can; so for the two below. A nil error means the change is committed; after
// Timeout it may still come.
func (g *Group) AddLearner(ctx context.Context, id, address string) error {
	return g.awaitFuture(ctx, func() raft.Future {
		return g.raft.AddNonvoter(raft.ServerID(id), raft.ServerAddress(address), 0, g.config.Timing.Transport)
	})
}

// Promote makes a learner a voter once its log is nearly as long as ours and
// Config.MayVote has nothing against it; NotCaughtUp before. The library would do
// it at once, and a voter that is far behind holds up every majority it is needed
// for.
func (g *Group) Promote(ctx context.Context, id string) error {
	members := g.Members()
	i := slices.IndexFunc(members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return refusal(NotCaughtUp, "%s is no member of this group", id)
	}
	if members[i].Voter {
		return nil
	}
	last, answered := g.lastIndexes(ctx, members[i:i+1])[id]
	if !answered {
		return refusal(Unreachable, "%s does not answer", id)
	}
	if commit := g.raft.CommitIndex(); last+g.config.Limits.LearnerLag < commit {
		return refusal(NotCaughtUp, "%s has %d of %d entries", id, last, commit)
	}
	if err := g.mayVote(ctx, members[i]); err != nil {
		return err
	}
	return g.awaitFuture(ctx, func() raft.Future {
		return g.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(members[i].Address), 0, g.config.Timing.Transport)
	})
}

func (g *Group) mayVote(ctx context.Context, learner Member) error {
	if g.config.MayVote == nil {
		return nil
	}
	err := g.config.MayVote(ctx, learner)
	var no *Refusal
	if err == nil || errors.As(err, &no) {
		return err
	}
	return refusal(NotCaughtUp, "%s: %v", learner.ID, err)
}

// Demote makes a voter a learner.
func (g *Group) Demote(ctx context.Context, id string) error {
	return g.awaitFuture(ctx, func() raft.Future {
		return g.raft.DemoteVoter(raft.ServerID(id), 0, g.config.Timing.Transport)
	})
}

// Answering is which of some members answer before the context ends, or within the
// time of one request; this node always does.
func (g *Group) Answering(ctx context.Context, members []Member) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, g.config.Timing.Transport)
	defer cancel()
	answers := make(chan string, len(members))
	asked := 0
	for _, m := range members {
		if m.ID == g.config.NodeID {
			asked++
			answers <- m.ID
			continue
		}
		if g.crew.start(func() {
			if _, err := g.askPeer(ctx, m, g.askers.nonce.Add(1)); err != nil {
				m.ID = ""
			}
			answers <- m.ID
		}) {
			asked++
		}
	}
	out := make(map[string]bool, asked)
	for range asked {
		if id := <-answers; id != "" {
			out[id] = true
		}
	}
	return out
}

// Remove takes a node out of the group. Its data must not come back under the
// same id.
func (g *Group) Remove(ctx context.Context, id string) error {
	return g.awaitFuture(ctx, func() raft.Future {
		return g.raft.RemoveServer(raft.ServerID(id), 0, g.config.Timing.Transport)
	})
}
