package nemesis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

// targets chooses the nodes of a fault: what the scenario calls them, without
// those of which another fault has claimed the same.
func (n *Nemesis) targets(f *scenarios.Fault, k kind) ([]*Node, error) {
	free := slices.DeleteFunc(slices.Clone(n.Nodes), func(node *Node) bool { return n.claimed(node, k.claim) })
	n.dice.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
	total := len(n.Nodes)
	switch f.Nodes {
	case "all", "":
		if len(free) < total {
			return nil, ErrNoTarget
		}
		slices.SortFunc(free, func(a, b *Node) int { return strings.Compare(a.ID, b.ID) })
		return free, nil
	case "leader", "follower":
		leader := n.Leader()
		free = slices.DeleteFunc(free, func(node *Node) bool { return (node.ID == leader) != (f.Nodes == "leader") })
		return n.first(free, 1, leader != "")
	case "one":
		return n.first(free, 1, true)
	case "minority":
		return n.first(free, 1+n.dice.IntN((total-1)/2), true)
	case "majority":
		return n.first(free, total/2+1+n.dice.IntN(total-total/2-1), true)
	}
	var named []*Node
	for id := range strings.SplitSeq(f.Nodes, ",") {
		at := slices.IndexFunc(n.Nodes, func(node *Node) bool { return node.ID == id })
		if at < 0 {
			return nil, fmt.Errorf("nodes: there is no %q; say leader, follower, one, minority, majority, all, or ids with commas", id)
		}
		if n.claimed(n.Nodes[at], k.claim) {
			return nil, fmt.Errorf("%s: another fault has its %s", id, k.claim)
		}
		named = append(named, n.Nodes[at])
	}
	return named, nil
}

func (n *Nemesis) first(free []*Node, count int, known bool) ([]*Node, error) {
	if !known || len(free) < count {
		return nil, ErrNoTarget
	}
	return free[:count], nil
}

func (n *Nemesis) claimed(node *Node, claim string) bool {
	if claim == network {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.active, func(in *Injected) bool {
		return in.kind.claim == claim && slices.Contains(in.Nodes, node)
	})
}
