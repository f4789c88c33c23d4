//go:build planted_earlyack

package cluster

import (
	"context"
	"time"
)

// commit is wrong on purpose: what has not been answered soon is said to have
// happened. The simulation must notice (jepsen/README.md).
func (n *Node) commit(ctx context.Context, data []byte) Answer {
	answered := make(chan Answer, 1)
	go func() { answered <- n.answer(n.group.Propose(context.WithoutCancel(ctx), data)) }()
	select {
	case a := <-answered:
		return a
	case <-time.After(50 * time.Millisecond):
		return Answer{Verdict: Applied}
	}
}
