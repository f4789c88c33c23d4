//go:build planted_fresh

package cluster

import "time"

// currentLag is wrong on purpose: every node says that it is up to date. The
// fault tests must notice (jepsen/README.md).
func (n *Node) currentLag() time.Duration { return 0 }
