//go:build !planted_fresh

package cluster

import "time"

// currentLag bounds how old this node's state may be: the time since the newest
// moment of which it is known that everything acknowledged before is in it.
func (n *Node) currentLag() time.Duration { return n.lag.age() }
