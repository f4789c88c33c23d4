package cluster

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/cluster/consensus"
)

// Snapshot takes one now, as the node does when its log has grown by enough.
func (n *Node) Snapshot(ctx context.Context) error { return n.group.Snapshot(ctx) }

// AddLearner takes a node in that has no vote.
func (n *Node) AddLearner(ctx context.Context, peer Peer) error {
	return n.group.AddLearner(ctx, peer.ID, peer.Raft)
}

// Promote makes a learner a voter.
func (n *Node) Promote(ctx context.Context, id string) error { return n.group.Promote(ctx, id) }

// Kinds of questions that nodes ask each other.
const (
	PeerStatus = peerStatus
	PeerChain  = peerChain
	PeerHandIn = peerHandIn
)

// Failure is what the node stopped for; nil while it goes on.
func (n *Node) Failure() error {
	if failed := n.failure.Load(); failed != nil {
		return *failed
	}
	return n.log.Err()
}

// BehindVersion names the members that keep the cluster from a kernel version.
func (n *Node) BehindVersion(ctx context.Context, version uint32) []string {
	return n.behindVersion(ctx, version)
}

// Lives are when members answered last.
type Lives struct{ lives }

// Round is one in which nobody answers; it gives how many are dead of those.
func (l *Lives) Round(asked time.Time, allowed time.Duration, ids ...string) int {
	var members []consensus.Member
	for _, id := range ids {
		members = append(members, consensus.Member{ID: id})
	}
	return len(l.note(asked, allowed, members, nil))
}
