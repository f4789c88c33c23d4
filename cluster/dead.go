package cluster

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/supervise"
)

// lives are when each member answered last, as the leader has asked them.
type lives struct {
	seen map[string]time.Time
	last time.Time // when it asked last
}

// note takes in what came of a round of questions, and gives who has not answered for as
// long as is allowed. Between two rounds that are far apart this process stood still, or
// its machine did: whoever did not answer then was not asked.
func (l *lives) note(asked time.Time, allowed time.Duration, members []consensus.Member, answering map[string]bool) (dead []consensus.Member) {
	if asked.Sub(l.last) > max(allowed/2, longRound) {
		l.seen = nil
	}
	seen := make(map[string]time.Time, len(members))
	for _, m := range members {
		last, known := l.seen[m.ID]
		if !known || answering[m.ID] {
			last = asked
		}
		if seen[m.ID] = last; asked.Sub(last) >= allowed {
			dead = append(dead, m)
		}
	}
	l.seen, l.last = seen, asked
	return dead
}

// longRound is longer than a round of questions takes on a machine that works.
const longRound = 10 * time.Second

// keepRemoving looks for members that are dead, more often where they go soon.
func (n *Node) keepRemoving(ctx context.Context) {
	var alive lives
	for ctx.Err() == nil {
		n.removeDead(ctx, &alive)
		pause(ctx, min(time.Second, n.config.RemoveDead/4))
	}
}

// removeDead removes whoever has not answered for too long since this node leads:
// one at a time, and nobody who is missed.
func (n *Node) removeDead(ctx context.Context, alive *lives) {
	members := n.group.Members()
	asked := time.Now()
	dead := alive.note(asked, n.config.RemoveDead, members, n.whoAnswers(ctx, members))
	if len(dead) == 0 {
		return
	}
	n.changing.Lock()
	defer n.changing.Unlock()
	floor := cmp.Or(n.config.MinVoters, DefaultMinVoters)
	for _, m := range dead {
		if m.ID == n.config.NodeID || m.Voter && len(n.voters()) <= floor || ctx.Err() != nil || !n.leading() {
			continue
		}
		n.logger.Warn("a member has not answered for too long: it is removed", "node", m.ID, "since", alive.seen[m.ID], "allowed", n.config.RemoveDead)
		if _, err := n.changeMember(ctx, MemberChange{Change: MemberRemove, ID: m.ID}); err != nil {
			n.logger.Warn("a dead member was not removed", "node", m.ID, "error", err)
			alive.seen[m.ID] = asked // and not said again soon
			continue
		}
		return
	}
}

// whoAnswers is which members do. One that takes no part, since it is held in safe mode,
// still says how it is.
func (n *Node) whoAnswers(ctx context.Context, members []consensus.Member) map[string]bool {
	answering := n.group.Answering(ctx, members)
	ctx, cancel := context.WithTimeout(ctx, memberWait)
	defer cancel()
	var mu sync.Mutex // guards answering
	asked, ctx := supervise.NewGroup(ctx)
	for _, m := range members {
		mu.Lock()
		silent := !answering[m.ID]
		mu.Unlock()
		if !silent {
			continue
		}
		asked.Go(func() {
			if status := statusOf(ctx, n.config.Calls, Peer{ID: m.ID, Raft: m.Address}); status.Role == RoleDown || status.ID != m.ID {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answering[m.ID] = true
		})
	}
	asked.Wait()
	return answering
}
