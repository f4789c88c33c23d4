package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/cluster/consensus"
)

// promoteAgain is how often the leader looks at learners.
const promoteAgain = time.Second

// promote makes voters of learners that want to be, when they have caught up and
// have all history (LO-2).
func (n *Node) promote(ctx context.Context) {
	for ctx.Err() == nil {
		for _, m := range n.group.Members() {
			if !m.Voter {
				n.promoteLearner(ctx, m)
			}
		}
		pause(ctx, promoteAgain)
	}
}

func (n *Node) promoteLearner(ctx context.Context, m consensus.Member) {
	asking, cancel := context.WithTimeout(ctx, memberWait)
	told, err := n.askMember(asking, m.Address)
	cancel()
	if err != nil || told.ID != m.ID {
		return // it is down, or has not been asked yet
	}
	told.Raft = m.Address
	n.note(told)
	if told.Learner {
		return
	}
	n.changing.Lock()
	defer n.changing.Unlock()
	before, _ := n.refused.Load(m.ID)
	err = n.group.Promote(ctx, m.ID)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		n.refused.Delete(m.ID)
		n.logger.Info("a learner has caught up, and votes from now on", "node", m.ID, "voters", len(n.voters()))
	case before != err.Error():
		n.refused.Store(m.ID, err.Error())
		n.logger.Info("a learner does not vote yet", "node", m.ID, "reason", err)
	}
}

// mayBeRemoved tells whether the node has a reason to ask if it is a member still:
// its configuration does not name it, or no leader has been heard of for a while. One
// that never was a member waits to be one.
func (n *Node) mayBeRemoved() bool {
	if !n.wasMember() || n.leading() {
		return false
	}
	if !isMember(n.group.Members(), n.config.NodeID) {
		return true
	}
	contact := n.group.Status().LastContact
	if contact.Before(n.started) {
		contact = n.started
	}
	return time.Since(contact) > unheardOf
}

// unheardOf is how long a member hears of no leader before it asks whether it is one.
const unheardOf = 5 * time.Second

// isRemoved asks everybody the node knows of. Only who leads, and has just seen that
// from a majority, can say that it is no member, by a configuration that is committed.
func (n *Node) isRemoved(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, memberWait)
	defer cancel()
	var removed atomic.Bool
	n.askAll(ctx, func(ctx context.Context, p Peer) {
		answer, err := n.config.Calls.Call(ctx, p.Raft, peerBelongs, []byte(n.config.NodeID))
		if err == nil && len(answer) == 1 && answer[0] == belongsNot {
			removed.Store(true)
		}
	})
	return removed.Load()
}

// belongs answers whether a node is a member.
func (n *Node) belongs(ctx context.Context, id string) byte {
	term := n.group.Status().Term
	if !n.leading() {
		return belongsUnknown
	}
	roster := n.group.Roster()
	if isMember(roster.Members, id) {
		return belongsMember
	}
	for !n.group.Committed(roster.UpTo) {
		if ctx.Err() != nil {
			return belongsUnknown
		}
		pause(ctx, 10*time.Millisecond)
	}
	if _, err := n.group.ReadIndex(ctx); err != nil { // it leads still
		return belongsUnknown
	}
	if n.group.Status().Term != term || isMember(n.group.Members(), id) {
		return belongsUnknown // it led anew meanwhile: what it had read may be no part of the log
	}
	return belongsNot
}

// leave ends a node that was removed: it must not come back, and must not disturb the
// others meanwhile.
func (n *Node) leave() {
	n.fatal.Do(func() {
		err := errors.Join(ErrRemoved, retire(n.config.DataDir))
		n.failure.Store(&err)
		n.logger.Error("this node was removed from its cluster: it stops", "error", err)
		n.config.Fatal(err)
	})
}
