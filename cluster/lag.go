//go:build !planted_fresh

package cluster

import "time"

// currentLag is a bound on how far this node is behind the leader: nothing on
// the leader; on a follower that has applied all it knows to be committed, the
// time since it heard from the leader; otherwise the time since that was so.
func (n *Node) currentLag() time.Duration {
	s := n.group.Status()
	now := time.Now()
	n.lag.mu.Lock()
	defer n.lag.mu.Unlock()
	switch {
	case s.State == "Leader" && s.Ready:
		n.lag.since = now
	case s.Applied >= s.CommitIndex && !s.LastContact.IsZero():
		if s.LastContact.After(n.lag.since) {
			n.lag.since = s.LastContact
		}
	case n.lag.since.IsZero():
		n.lag.since = n.started
	}
	return max(0, now.Sub(n.lag.since))
}
