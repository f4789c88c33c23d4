//go:build !planted_earlyack

package cluster

import "context"

// commit proposes an encoded event and waits for what it comes to.
func (n *Node) commit(ctx context.Context, data []byte) Answer {
	return n.answer(n.group.Propose(ctx, data))
}
